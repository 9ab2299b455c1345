//! The words of `toolcrib rollout`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

pub(super) const HELP: &str = "\
A file of tasks has a JSON object on each line: {\"prompt\": \"...\"} or {\"messages\": [...]}, with
`id`, `tools`, `force`, `instructions` and whatever a judge wants. Each sample of a task becomes one
line of the file that is written, in the order of their ends. Nobody is asked about a call: what may
run is said by the rules.

Ctrl-C stops, and --resume goes on: what stands in the file is not done again, and what was under
way begins anew under the same id. With a `[store]` in the configuration, a call of it that was made
before is answered from the record.

Examples:
  toolcrib rollout --tasks tasks.jsonl --agent solver --samples 8
  toolcrib rollout --tasks tasks.jsonl --resume --reward 'python3 judge.py'
  toolcrib rollout convert trajectories.jsonl --to verl > verl.jsonl";

/// Which tasks, by whom, how many at once.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct RolloutArgs {
    /// The tasks, one on each line.
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) tasks: Option<PathBuf>,
    /// The agent; the first of the configuration if not set.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Trajectories that are under way at a time.
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) concurrency: u32,
    /// Requests that the model is asked at a time; as many as there are if not set.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) requests: Option<u32>,
    /// Samples of each task.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) samples: u32,
    /// What ids, what engines draw, and the order of --shuffle are made from.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    /// Begin the trajectories in an order that is drawn, and not in that of the file.
    #[arg(long)]
    pub(crate) shuffle: bool,
    /// Where the trajectories go.
    #[arg(long, default_value = "trajectories.jsonl", value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Go on with a file that was begun. What failed for the sake of its model is done again.
    #[arg(long)]
    pub(crate) resume: bool,
    /// How long one trajectory may take, with all that it waits for.
    #[arg(long, value_name = "SECONDS", value_parser = super::global::seconds)]
    pub(crate) deadline: Option<Duration>,
    /// How long a model that cannot be reached, or is overloaded, is asked again.
    #[arg(long, value_name = "SECONDS", value_parser = super::global::seconds)]
    pub(crate) patience: Option<Duration>,
    /// Tokens of one result that the model is told at the most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_result_tokens: Option<u32>,
    /// The program that judges: it reads a trajectory as JSON, and writes {"reward": 1.0, "metrics":
    /// {..}}. No shell sees it.
    #[arg(long, value_name = "COMMAND", conflicts_with = "reward_tool")]
    pub(crate) reward: Option<String>,
    /// The tool that judges: it is called with {"trajectory": {..}}.
    #[arg(long, value_name = "TOOL")]
    pub(crate) reward_tool: Option<String>,
    /// How long the judge may take for one trajectory.
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = super::global::seconds)]
    pub(crate) reward_timeout: Duration,
    #[command(subcommand)]
    pub(crate) command: Option<RolloutCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RolloutCommand {
    /// Write trajectories in the form that a trainer reads, one on each line.
    #[command(after_help = "\
What cannot be trained on is left out, and counted: a turn whose tokens are no evidence, a
trajectory that its model failed, or for verl one without tokens.

Examples:
  toolcrib rollout convert trajectories.jsonl --to verifiers > traces.jsonl
  toolcrib rollout convert trajectories.jsonl --to twinkle --save twinkle.jsonl")]
    Convert {
        /// A file of `toolcrib rollout`.
        file: PathBuf,
        /// The trainer.
        #[arg(long, value_enum)]
        to: TrainerName,
        /// Write it into this file instead.
        #[arg(long, value_name = "FILE")]
        save: Option<PathBuf>,
    },
}

/// Whoever reads trajectories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrainerName {
    Twinkle,
    Verl,
    Verifiers,
}
