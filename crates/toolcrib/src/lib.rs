//! The tool layer for LLM agents: gather, plan, hand out, run and record tool calls.
//!
//! Start with [`Crib`]; `README.md` has the whole turn of a conversation as a tested example.
//! Tools are made by [`tool`], gathered in a [`Toolset`], planned into a [`Plan`], shown to a model
//! by a [`dialect`], and run by [`Crib::run`], which answers with a [`Report`].

pub use toolcrib_basics as basics;
pub use toolcrib_core::*;
pub use toolcrib_dialect as dialect;
pub use toolcrib_engine::*;
pub use toolcrib_json as json;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
