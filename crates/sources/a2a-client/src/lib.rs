//! Remote agents of the `Agent2Agent` protocol (A2A, 1.0 and 0.3) as tools.
//!
//! Read in this order: [`A2aSettings`], [`A2aSource`], then [`protocol`] (the shapes), `card` (where
//! the card is read), `interface` (which of its places is spoken to), `transport` (one request and
//! its answer), `tool` (an agent or a skill as a tool) and `run` (one call, which may be a task of
//! many minutes).
//!
//! A card is a stranger's word: it never chooses where a credential goes, and everything that an
//! agent says is bounded before it is kept.

mod card;
mod conversation;
mod interface;
#[cfg(any(test, feature = "fuzz"))]
pub mod invariants;
pub mod protocol;
mod run;
mod settings;
mod source;
mod tool;
mod transport;

pub use protocol::signed_card::{CardKeys, CardSignature, CardVerifier};
pub use run::notification::{NOTIFIED, notified};
pub use settings::{A2aBounds, A2aCredential, A2aSettings, A2aTools, ConversationScope};
pub use source::{A2aReport, A2aSource};
