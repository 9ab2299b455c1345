//! All that this user has running and that can be asked: the server, and each `toolcrib mcp`.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use http::{Method, StatusCode};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use toolcrib_egress::EgressError;
use url::Url;

use super::client::{AmbiguousServer, ControlClient, ServerNotFound, ServerRefusal, followed};
use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, RemoteArgs};
use crate::cli::output::Output;
use crate::config::mcp_instances::{self, McpInstance};

/// How long one of several may take to tell what it has.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct LocalServers {
    runtime: Runtime,
    /// The server that is named, else the only one; `Err`: there is none that could be asked.
    server: Result<ControlTarget>,
    /// A server is named, and nothing else is asked.
    is_named: bool,
}

/// Where something is asked.
pub(crate) struct ControlTarget {
    pub(crate) server: ControlClient,
    /// Of a `toolcrib mcp`; `None`: it is a server.
    pub(crate) process: Option<u32>,
}

impl ControlTarget {
    /// Says in a row of JSON where it was found.
    pub(crate) fn mark(&self, row: &mut Value) {
        let Value::Object(fields) = row else { return };
        fields.insert("at".to_owned(), self.server.base().into());
        if let Some(process) = self.process {
            fields.insert("process".to_owned(), process.into());
        }
    }

    fn of(door: McpInstance) -> Result<Self> {
        let base = Url::parse(&format!("http://127.0.0.1:{}", door.port))?;
        Ok(Self { server: ControlClient::new(base, door.token)?, process: Some(door.process) })
    }
}

/// Where a row was found, for a person; `None`: at a server.
pub(crate) fn of_process(row: &Value) -> Option<String> {
    let process = row.get("process")?.as_u64()?;
    Some(format!("`toolcrib mcp`, process {process}"))
}

impl LocalServers {
    pub(crate) fn open(global: &GlobalArgs, words: &RemoteArgs) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let server = runtime.block_on(async { ControlClient::meant(global, words) });
        let server = server.map(|server| ControlTarget { server, process: None });
        let is_named = words.url.is_some() || words.token_file.is_some();
        let server = if is_named { Ok(server?) } else { server };
        Ok(Self { runtime, server, is_named })
    }

    /// Asks each place, and gives what those say that are there; of what goes wrong at some of them
    /// a person is told.
    pub(crate) fn each(
        &self,
        output: &Output,
        ask: &impl AsyncFn(&ControlTarget) -> Result<Value>,
    ) -> Result<Vec<Value>> {
        let mut told = BTreeSet::new();
        self.runtime.block_on(self.of_each(output, &mut told, ask))
    }

    /// The same again and again, until a person has seen enough.
    pub(crate) fn follow(
        &self,
        output: &Output,
        ask: &impl AsyncFn(&ControlTarget) -> Result<Value>,
        mut tell: impl FnMut(Vec<Value>) -> Result<()>,
    ) -> Result<CommandExit> {
        let mut told = BTreeSet::new();
        self.runtime.block_on(followed(async || {
            let seen = self.of_each(output, &mut told, ask).await?;
            tell(seen)
        }))
    }

    async fn of_each(
        &self,
        output: &Output,
        told: &mut BTreeSet<String>,
        ask: &impl AsyncFn(&ControlTarget) -> Result<Value>,
    ) -> Result<Vec<Value>> {
        let near = self.near();
        let (mut seen, mut trouble) = (Vec::new(), Vec::new());
        let server = match &self.server {
            Ok(place) => ask(place).await,
            Err(error) => Err(anyhow!("{error:#}")),
        };
        match server {
            Ok(value) => seen.push(value),
            Err(error) if near.is_empty() => return Err(self.alone(error)),
            Err(error) if is_silent(&error) => {}
            Err(_) if self.server.is_err() && !self.is_unclear() => {}
            Err(error) => trouble.push(error),
        }
        for place in &near {
            let process = place.process.unwrap_or_default();
            match timeout(PATIENCE, ask(place)).await {
                Ok(Ok(value)) => seen.push(value),
                // It ended a moment ago, say.
                Ok(Err(error)) => trouble.push(error.context(format!("at process {process}"))),
                Err(_) => trouble.push(anyhow!("process {process} does not answer")),
            }
        }
        if seen.is_empty() && !trouble.is_empty() {
            return Err(trouble.remove(0));
        }
        for error in trouble.iter().map(|error| format!("{error:#}")) {
            if told.insert(error.clone()) {
                output.note(&error);
            }
        }
        Ok(seen)
    }

    /// Has it done where it can be done: all that do not know of it say so. `absent`: what is wrong
    /// if none of several knows it.
    pub(crate) fn decide(&self, path: &str, body: &Value, absent: &str) -> Result<Value> {
        self.runtime.block_on(async {
            let near = self.near();
            let mut refused = None;
            for place in near.iter().chain(self.server.as_ref().ok()) {
                match place.server.ask(Method::POST, path, Some(body)).await {
                    Ok(answer) => return Ok(answer),
                    Err(error) if near.is_empty() => return Err(self.alone(error)),
                    Err(error) if is_unknown(&error) => {}
                    Err(error) if place.process.is_none() && is_silent(&error) => {}
                    Err(error) => refused = refused.or(Some(error)),
                }
            }
            match (refused, &self.server) {
                (Some(error), _) => Err(error),
                (None, Err(error)) if near.is_empty() || self.is_unclear() => bail!("{error:#}"),
                (None, _) => bail!("{absent}"),
            }
        })
    }

    /// Whether there are several servers, of which none is named.
    fn is_unclear(&self) -> bool {
        self.server.as_ref().is_err_and(anyhow::Error::is::<AmbiguousServer>)
    }

    /// Each `toolcrib mcp` that runs now, unless a server is named.
    fn near(&self) -> Vec<ControlTarget> {
        let doors = if self.is_named { Vec::new() } else { mcp_instances::all() };
        doors.into_iter().filter_map(|door| ControlTarget::of(door).ok()).collect()
    }

    /// Why the only one that could be asked says nothing.
    fn alone(&self, error: anyhow::Error) -> anyhow::Error {
        if self.is_named || !is_silent(&error) {
            return error;
        }
        error.context("no server and no `toolcrib mcp` of yours runs")
    }
}

fn is_silent(error: &anyhow::Error) -> bool {
    error.downcast_ref::<EgressError>().is_some()
        || error.downcast_ref::<ServerNotFound>().is_some()
}

fn is_unknown(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<ServerRefusal>();
    refused.is_some_and(|refused| refused.status == StatusCode::NOT_FOUND)
}
