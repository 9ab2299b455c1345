//! The shapes of the `Agent2Agent` protocol, of 1.0 and of 0.3, as values that know no version.
//!
//! What comes is read leniently: both versions at once, under either spelling, and what nobody here
//! knows is passed over or kept as it came. What goes out is written in the form of one version.
//!
//! Source: `specification/a2a.proto` of a2aproject/A2A at v1.0.1, and the specification of 0.3.0.

pub mod canonical;
pub mod card;
pub mod event;
pub(crate) mod json;
pub mod message;
pub mod metadata;
pub mod part;
pub mod signed_card;
pub mod state;
pub mod task;
pub mod wire;
