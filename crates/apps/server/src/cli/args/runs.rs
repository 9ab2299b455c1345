//! The words of the commands about runs of agents.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use toolcrib_core::RunStage;

use super::remote::RemoteArgs;

/// Which runs, and what is done with one.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Only runs in this state.
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(RunStage::ALL.map(RunStage::as_str)))]
    pub(crate) state: Option<String>,
    /// Only runs of this agent.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Runs that are shown.
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    #[command(subcommand)]
    pub(crate) command: Option<RunCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// Show what was said and called in a run, and what it cost.
    #[command(after_help = "\
Examples:
  toolcrib runs show 0f3c
  toolcrib runs show refund.json --json | jq .events")]
    Show {
        /// The run, or a file of `runs export`.
        run: String,
    },
    /// Play a run again without its model and its tools, and tell where it differs.
    #[command(after_help = "\
The loop of the agent runs as it does with a model, and is told what came then. What it tells is
printed, an event on each line, as `GET /v1/runs/{id}/events` has them; the first event or item that
is another one than on record is told instead, with exit code 1.

With --live-tools every call is made as well, and what differs from the record is told. Calls that
may change something are left out; --with-effects makes them too, but none that a person would be
asked about.

Examples:
  toolcrib runs replay 0f3c
  toolcrib runs replay refund.json --live-tools
  toolcrib runs replay 0f3c > events.jsonl")]
    Replay(ReplayArgs),
    /// Print a run as one file, which `runs replay` and tests play without the store.
    #[command(after_help = "\
The file has all that was said: look through it before you give it away.

Examples:
  toolcrib runs export 0f3c > refund.json
  toolcrib runs export 0f3c --save tests/refund.json")]
    Export {
        /// The run.
        run: String,
        /// Write it into this file instead.
        #[arg(long, value_name = "FILE")]
        save: Option<PathBuf>,
    },
}

/// Which run is played, and how.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The run, a file of `runs export`, or `-` for standard input.
    pub(crate) run: String,
    /// Make each call that reads once more, and tell what has changed.
    #[arg(long)]
    pub(crate) live_tools: bool,
    /// Make calls that may change or destroy something, too.
    #[arg(long, requires = "live_tools")]
    pub(crate) with_effects: bool,
}
