//! Clients of the model APIs: thin ones, over the dialects and the one guarded way out.
//!
//! Read in this order: [`ModelSettings`], `request` (a thread as the body of a request), `answer`
//! (what comes back, streamed or not), [`ModelFault`], [`ModelClient`].

pub(crate) mod answer;
mod chunk;
mod client;
mod fault;
pub(crate) mod messages;
mod request;
mod settings;

pub use answer::{ModelAnswer, ModelDelta};
pub use client::ModelClient;
pub use fault::{ModelFault, ModelFaultKind};
pub use request::{CallerTool, ModelRequest};
pub use settings::{ModelApi, ModelSettings, ModelTimeouts};
