//! `cargo xtask bench`: those of the crates by cargo, those of the whole server by a load client,
//! how well tools are found, what they cost in tokens, and whether agents lose a call.

mod tokens;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;

use crate::instruments::Instruments;
use crate::machine::{cargo, program, root, target};
use crate::peers::{install_gold, python_agents, python_clients};
use crate::report::{RunReport, finish};

pub(crate) fn run(words: &[String]) -> ExitCode {
    let mut report = RunReport::default();
    match words.split_first() {
        Some((kind, rest)) if matches!(kind.as_str(), "gateway" | "rollout" | "soak") => {
            report.work("bench", || load(kind, rest, None));
        }
        Some((kind, rest)) if kind == "agents" => {
            let others = report.tool("Python clients", python_clients);
            report.work("bench", || load(kind, rest, others.as_deref()));
        }
        Some((kind, rest)) if kind == "a2a" => {
            let others = report.tool("Python agents", python_agents);
            report.work("bench", || load(kind, rest, others.as_deref()));
        }
        Some((kind, rest)) if kind == "retrieval" => {
            report.work("bench", || retrieval(rest));
        }
        Some((kind, rest)) if kind == "gold" => {
            report.work("bench", || gold(rest));
        }
        Some((kind, [])) if kind == "tokens" => {
            report.work("bench", tokens::run);
        }
        _ => report.step("bench", cargo().args(["bench", "--workspace"]).args(words)),
    }
    report.end()
}

/// Builds the server as it ships, and lets the load client do the rest; `--server=PATH` measures
/// one that was built otherwise. `python` has the agents of others.
fn load(kind: &str, words: &[String], python: Option<&Path>) -> Result<()> {
    finish(cargo().args(["build", "--release"]))?;
    let Instruments { client, echo } = Instruments::build()?;
    let (server, words) = named_server(words);
    let server = server.unwrap_or_else(|| target().join("release/toolcrib"));
    let mut measure = program(client);
    measure.arg(kind).args([server, echo, target()]).args(words);
    if let Some(python) = python {
        measure.arg(format!("--python={}", python.display()));
    }
    finish(&mut measure)
}

/// The server that the words name, and the other words.
fn named_server(words: &[String]) -> (Option<PathBuf>, Vec<&String>) {
    let (servers, words): (Vec<_>, Vec<_>) =
        words.iter().partition(|word| word.starts_with("--server="));
    let named = servers.iter().find_map(|word| word.strip_prefix("--server="));
    (named.map(|path| root().join(path)), words)
}

/// Has an agent of the server make the gold calls of tasks that others wrote, and compares results
/// and states with those of the calls alone.
fn gold(words: &[String]) -> Result<()> {
    let (python, tasks) = install_gold()?;
    let (server, words) = named_server(words);
    let build = || {
        finish(cargo().args(["build", "--release", "--package", "toolcrib-server"]))?;
        anyhow::Ok(target().join("release/toolcrib"))
    };
    let server = server.map_or_else(build, Ok)?;
    let mut play = program(python);
    // `-B` keeps what Python compiles out of the repository.
    play.args(["-B", "crates/dev/load/gold"]).env("PYTHONPATH", tasks);
    finish(play.arg(format!("--server={}", server.display())).args(words))
}

/// Asks the search the questions of the labelled sets; with `TOOLCRIB_MINILM`, by its meaning too.
fn retrieval(words: &[String]) -> Result<()> {
    let mut build = cargo();
    build.args(["build", "--release", "--package", "toolcrib-retrieval"]);
    finish(&mut build)?;
    let mut measure = program(target().join("release").join("toolcrib-retrieval"));
    let vectors = target().join("retrieval.vectors");
    finish(measure.args(words).arg(format!("--vectors={}", vectors.display())))
}
