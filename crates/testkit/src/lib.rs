//! For tests only: tools that do as they are told and remember it, scripted sources, rules by hand.

mod conformance;
mod doubles;
mod folder;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(feature = "google")]
pub mod google;
pub mod hostile;
mod issuer;
mod random;
mod sample;

pub use conformance::{Suite, Verdict};
pub use doubles::ledger::BrokenLedger;
pub use doubles::oracle::{Behaviour, Oracle, open_schema, spec};
pub use doubles::policy::ByHand;
pub use doubles::source::Scripted;
pub use folder::Folder;
pub use issuer::{Issuer, KEYS};
pub use random::Random;
pub use sample::{Filling, sample};
