//! Remote agents as tools, seen from outside.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it cannot read")]

mod crib;
mod hostile;
mod lives;
mod python;
mod stand_in;
mod tools;
