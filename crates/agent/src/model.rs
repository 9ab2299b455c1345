//! Clients of the model APIs: thin ones, over the dialects and the one guarded way out.
//!
//! Read in this order: [`ModelSettings`], `request` (a thread as the body of a request), `answer`
//! (what comes back, streamed or not), `text_calls` (calls in the words of a model), [`ModelFault`],
//! [`ModelClient`].

pub(crate) mod answer;
mod chunk;
mod client;
mod delta_filter;
mod fault;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod hosted;
pub(crate) mod messages;
mod request;
pub(crate) mod room;
mod settings;
mod text_calls;

pub use answer::sampled::SampledTokens;
pub use answer::{ModelAnswer, ModelDelta};
pub use client::ModelClient;
pub use fault::{ModelFault, ModelFaultKind};
pub use request::choice::CallChoice;
pub use request::engine::TokenEngine;
pub use request::{CallerTool, ModelRequest};
pub use room::summary_of;
pub use settings::{ModelApi, ModelSettings, ModelTimeouts};
pub use text_calls::{TextCallFormat, text_call_format};
