//! `toolcrib open`: a link to the page of a running server.

use anyhow::{Context as _, Result};
use http::Method;
use serde_json::{Value, json};

use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, RemoteArgs};
use crate::cli::control::client::BlockingClient;
use crate::cli::output::Output;

pub(crate) fn open(
    global: &GlobalArgs,
    output: &Output,
    remote: &RemoteArgs,
) -> Result<CommandExit> {
    let server = BlockingClient::open(global, remote)?;
    let answer = server.ask(Method::POST, "/v1/session/link", Some(&json!({})))?;
    if output.json {
        output.value(&answer)?;
    } else {
        let url = answer.get("url").and_then(Value::as_str);
        output.text(url.context("the server tells no link: it is of another version")?)?;
    }
    Ok(CommandExit::Done)
}
