//! What the testkit itself promises.

#[cfg(feature = "acts")]
mod acts;
#[cfg(feature = "fuzz")]
mod fuzz;
#[cfg(feature = "google")]
mod google;
mod hostile;
#[cfg(feature = "intermediary")]
mod intermediary;
