//! For tests only: tools that do as they are told and remember it, scripted sources, rules by hand.

#[cfg(feature = "acts")]
pub mod acts;
mod conformance;
mod doubles;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(feature = "google")]
pub mod google;
pub mod hostile;
#[cfg(feature = "intermediary")]
pub mod intermediary;
mod issuer;
mod model;
mod random;
mod sample;

pub use conformance::{ConformanceSuite, ConformanceVerdict};
pub use doubles::folder::TestFolder;
pub use doubles::ledger::BrokenLedger;
pub use doubles::oracle::{Behaviour, Oracle, open_schema, spec};
pub use doubles::policy::FixedPolicy;
pub use doubles::source::ScriptedSource;
pub use issuer::{KEYS, TestIssuer};
pub use model::{ModelAsked, ScriptedModel, ScriptedTurn};
pub use random::SeededRandom;
pub use sample::{SampleFilling, sample};
