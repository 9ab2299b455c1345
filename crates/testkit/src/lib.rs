//! For tests only: tools that do as they are told and remember it, scripted sources, rules by hand.

mod folder;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(feature = "google")]
pub mod google;
pub mod hostile;
mod issuer;
mod ledger;
mod oracle;
mod policy;
mod random;
mod sample;
mod source;
mod suite;

pub use folder::Folder;
pub use issuer::{Issuer, KEYS};
pub use ledger::BrokenLedger;
pub use oracle::{Behaviour, Oracle, open_schema, spec};
pub use policy::ByHand;
pub use random::Random;
pub use sample::{Filling, sample};
pub use source::Scripted;
pub use suite::{Suite, Verdict};
