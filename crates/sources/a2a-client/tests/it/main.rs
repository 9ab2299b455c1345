//! Remote agents as tools, seen from outside.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it cannot read")]

mod crib;
mod hostile;
mod javascript;
mod lives;
mod other_agent;
mod python;
mod stand_in;
mod tools;
