//! What the testkit itself promises.

#[cfg(feature = "fuzz")]
mod fuzz;
mod hostile;
