//! For tests only: tools that do as they are told and remember it, scripted sources, rules by hand.

#[cfg(feature = "fuzz")]
pub mod fuzz;
mod ledger;
mod oracle;
mod policy;
mod source;

pub use ledger::BrokenLedger;
pub use oracle::{Behaviour, Oracle, open_schema, spec};
pub use policy::ByHand;
pub use source::Scripted;
