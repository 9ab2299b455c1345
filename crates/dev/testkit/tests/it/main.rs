//! What the testkit itself promises.

#[cfg(feature = "fuzz")]
mod fuzz;
#[cfg(feature = "google")]
mod google;
mod hostile;
