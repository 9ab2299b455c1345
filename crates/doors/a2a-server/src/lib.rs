//! What a server of the `Agent2Agent` protocol (A2A, 1.0 and 0.3) reads and writes.
//!
//! Read in this order: [`A2aOperation`] (what is asked, of either version, by a path or over
//! JSON-RPC: [`rpc`]), [`A2aFault`] (what is refused), [`ServedEvent`] (what is told) and
//! [`ServedCard`]. The shapes are those of `toolcrib_a2a_client::protocol`.
//!
//! Nothing here knows what stands behind an agent, and nothing here waits: a server reads a request
//! with it, does what is asked, and writes the answer with it.

mod card;
mod event;
mod fault;
#[cfg(any(test, feature = "fuzz"))]
pub mod invariants;
mod operation;
mod params;
pub mod push;
pub mod rpc;
mod verdict;
mod version;

pub use card::{SecurityChoice, ServedCard};
pub use event::ServedEvent;
pub use fault::{A2aFault, A2aFaultKind};
pub use operation::{A2aOperation, OperationKind, SendOptions, TaskQuery};
pub use push::{PushAuthentication, PushConfig};
pub use verdict::verdict;
pub use version::AskedVersion;
