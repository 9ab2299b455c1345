//! The tool layer for LLM agents: gather, plan, hand out, run and record tool calls.
//!
//! Start with [`Crib`] and [`Conversation`]; `README.md` has the whole turn of a conversation as a
//! tested example. Tools are made by [`tool`], gathered in a [`Toolset`], planned into a [`Plan`],
//! shown to a model by a [`dialect`], and run by [`Crib::run`], which answers with a [`Report`].
//!
//! What reaches beyond the program is behind features, none of which is on by default: `mcp`,
//! `openapi`, `a2a`, `desk` (with `caldav`, `google` and `imap` for accounts of it), `basics`, `store`,
//! `postgres`, `auth`, `egress`, `config` (with `sentence-model` for an embedder in a folder), and `full`
//! for all of them. `gateway` adds the whole server, as `gateway::Gateway`.
//!
//! Tools that live elsewhere come from a `crib.toml`, or from `mcp::McpSource` and
//! `openapi::ApiSource` given to [`Crib::builder`]:
//!
#![cfg_attr(feature = "config", doc = "```")]
#![cfg_attr(not(feature = "config"), doc = "```ignore")]
//! use toolcrib::config::LiveConfig;
//! use toolcrib::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let file = std::env::temp_dir().join(format!("toolcrib-{}.toml", std::process::id()));
//! # std::fs::write(&file, "[[source]]\nid = \"clock\"\nbasics = [\"time_now\"]\n")?;
//! let live = LiveConfig::open(&file).await?;
//! let plan = live.crib().plan(&Caller::local(), PlanRequest::default())?;
//! assert!(plan.get("clock__time_now").is_some());
//!
//! // Later, when the file has changed: only what is another thing starts anew.
//! let text = std::fs::read_to_string(&file)?;
//! let change = live.reload(&text, "crib.toml").await?;
//! assert_eq!(change.same.len(), 1);
//! # std::fs::remove_file(&file)?;
//! # Ok(())
//! # }
//! ```

mod conversation;
pub mod prelude;

pub use conversation::{Conversation, ConversationError, Step};
pub use schemars;
pub use serde_json;
#[cfg(feature = "a2a")]
pub use toolcrib_a2a_client as a2a;
#[cfg(feature = "a2a")]
pub use toolcrib_a2a_server as a2a_server;
#[cfg(feature = "agent")]
pub use toolcrib_agent as agent;
#[cfg(feature = "auth")]
pub use toolcrib_auth as auth;
#[cfg(feature = "basics")]
pub use toolcrib_basics as basics;
#[cfg(feature = "config")]
pub use toolcrib_config as config;
pub use toolcrib_core::*;
#[cfg(feature = "desk")]
pub use toolcrib_desk as desk;
pub use toolcrib_dialect as dialect;
#[cfg(feature = "egress")]
pub use toolcrib_egress as egress;
pub use toolcrib_engine::*;
pub use toolcrib_json as json;
#[cfg(feature = "mcp")]
pub use toolcrib_mcp as mcp;
#[cfg(feature = "openapi")]
pub use toolcrib_openapi as openapi;
#[cfg(feature = "gateway")]
pub use toolcrib_server::gateway;
#[cfg(feature = "store")]
pub use toolcrib_store as store;
#[cfg(feature = "postgres")]
pub use toolcrib_store_postgres as store_postgres;

/// The example of the README, run as a test.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../../../../README.md")]
struct Readme;

/// The program of the guide, run as a test.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../../../../docs/guides/rust.md")]
struct RustGuide;

/// The programs of the guide to the gateway, run as tests.
#[cfg(all(doctest, feature = "gateway"))]
#[doc = include_str!("../../../../docs/operating/embedding.md")]
struct GatewayGuide;
