//! The tool layer for LLM agents: gather, plan, hand out, run and record tool calls.
//!
//! ```
//! use serde_json::json;
//! use toolcrib::dialect::{Dialect, OpenAiChat};
//! use toolcrib::{Caller, Crib, Effect, Request, tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add { x: i64, y: i64 }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let caller = Caller::local();
//! # let reply = json!({"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function",
//! #     "function": {"name": "add", "arguments": "{\"x\": 2, \"y\": \"3\"}"}}]});
//! # let mut messages = vec![reply.clone()];
//! let crib = Crib::new([tool("add", "Adds two numbers", Effect::Read, |a: Add| async move {
//!     Ok(a.x + a.y)
//! })?])?;
//! let plan = crib.plan(&caller, Request::default().choose("add"))?;
//! let openai = OpenAiChat::default();
//! let body = json!({
//!     "tools": openai.tools(&plan),
//!     "tool_choice": openai.tool_choice(&plan),
//! });
//! # assert_eq!(body["tool_choice"]["function"]["name"], "add");
//! let report = crib.run(&plan, openai.calls(&plan, &reply)).await;
//! messages.extend(openai.results(&report));
//! # assert!(messages[1]["content"].as_str().unwrap().starts_with('5'), "{messages:?}");
//! # Ok(())
//! # }
//! ```

pub use toolcrib_basics as basics;
pub use toolcrib_core::*;
pub use toolcrib_dialect as dialect;
pub use toolcrib_engine::*;
pub use toolcrib_json as json;
