//! The wire shapes of the model APIs, both ways.
//!
//! Read in this order: [`Dialect`], [`Rendering`], then one dialect, say [`OpenAiChat`].
//!
//! ```
//! # use std::sync::Arc;
//! # use serde_json::json;
//! # use toolcrib_core::{AllowAll, Caller, Catalog, Effect, Plan, PlanRequest, Toolset, tool};
//! use toolcrib_dialect::{Dialect, OpenAiChat};
//!
//! # #[derive(serde::Deserialize, schemars::JsonSchema)]
//! # struct Add { x: i64, y: i64 }
//! # let add = tool("add", "Adds.", Effect::Read, |a: Add| async move { Ok(a.x + a.y) })?;
//! # let catalog = Arc::new(Catalog::of(Toolset::of([add])?));
//! # let plan = Plan::make(&catalog, &Caller::local(), &AllowAll, PlanRequest::default())?;
//! let openai = OpenAiChat::default();
//! let mut body = json!({ "model": "any", "messages": [] });
//! body.as_object_mut().unwrap().extend(openai.request(&plan));
//!
//! // The model answers.
//! let reply = json!({ "choices": [{ "message": { "role": "assistant", "tool_calls": [
//!     { "id": "1", "type": "function", "function": { "name": "add", "arguments": "{\"x\":1,\"y\":2}" } },
//! ] } }] });
//! let calls = openai.calls(&plan, &reply)?;
//! assert_eq!(calls[0].name, "add");
//! // An executor runs them; `openai.echo(&reply)` and `openai.results(&report)` go back.
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing is lost in silence: what an API cannot be told stands in [`Rendering::losses`] and, in
//! words, in a description; a tool that it cannot be shown stands in [`Rendering::refused`].
//! Any JSON may come as a schema or as a reply. Depth, size and work are bounded.

mod anthropic;
mod dialect;
mod draft;
mod gemini;
mod hosted;
mod names;
mod openai_chat;
mod openai_responses;
mod rendering;
mod reply;
mod schema;

pub use anthropic::Anthropic;
pub use dialect::{Dialect, ReplyStream, StrictMode};
pub use gemini::Gemini;
pub use hosted::calls::{HostedCall, HostedWork};
pub use hosted::{HostedFault, HostedKind};
pub use openai_chat::OpenAiChat;
pub use openai_responses::{DeferralMode, OpenAiResponses};
pub use rendering::{Loss, RefusedTool, Rendering};
pub use reply::envelope::NotAReply;

/// The names of all dialects.
pub const NAMES: [&str; 4] =
    [OpenAiChat::NAME, OpenAiResponses::NAME, Anthropic::NAME, Gemini::NAME];

/// A dialect with its default options, by its name.
pub fn dialect(name: &str) -> Option<Box<dyn Dialect>> {
    match name {
        OpenAiChat::NAME => Some(Box::new(OpenAiChat::default())),
        OpenAiResponses::NAME => Some(Box::new(OpenAiResponses::default())),
        Anthropic::NAME => Some(Box::new(Anthropic::default())),
        Gemini::NAME => Some(Box::new(Gemini)),
        _ => None,
    }
}
