//! Harmless tools for trying things out: time, arithmetic, text, identifiers, JSON queries.
//!
//! Read [`tools`] first, then `basic` (how a tool is made of a row of data and a function), then
//! any of `time`, `arithmetic` (with its `expression`), `text`, `identity` and `json` (with its
//! `json_path`).
//!
//! Every tool only reads its arguments, the clock or the system's randomness: no file, no network,
//! no environment. Every tool is bounded in what it takes, does and gives.

use std::error::Error;

use toolcrib_core::Toolset;

mod arithmetic;
mod expression;
mod identity;
mod json;
mod json_path;
mod text;
mod time;
mod tool;

/// All tools of this crate, by category.
#[expect(clippy::expect_used, reason = "names are constants, and a test gathers them all")]
pub fn tools() -> Toolset {
    gather().expect("the names of the tools are valid and differ")
}

fn gather() -> Result<Toolset, Box<dyn Error>> {
    let categories =
        [time::tools()?, arithmetic::tools()?, text::tools()?, identity::tools()?, json::tools()?];
    Ok(Toolset::of(categories.into_iter().flatten())?)
}
