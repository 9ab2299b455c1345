//! The words of `toolcrib select` and `toolcrib toolsets`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

fn part(text: &str) -> Result<f32, String> {
    let part = text.parse().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "write a number from 0 to 1".to_owned())
}

/// A task, and who is to do it.
#[derive(Debug, Args)]
#[command(after_help = "\
Without a task, all tools are shared out: what belongs together stays together, and each is with one
agent. A file of roles is JSON: {\"billing\": \"Invoices and refunds\", \"mail\": \"Letters\"}.
What `[assign]` of crib.toml says of an agent of that name, it has, and no more.

Examples:
  toolcrib select 'find the customer and refund the last order'
  toolcrib select --agents 3 --overlap
  toolcrib select 'close the books' --roles roles.json --json")]
#[command(group(ArgGroup::new("shared").args(["agents", "roles"])))]
pub(crate) struct SelectArgs {
    /// What is to be done, in plain words; only needed without agents.
    #[arg(required_unless_present = "shared")]
    pub(crate) words: Vec<String>,
    /// Tools at the most; with agents, tools of the task for each of them.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    /// Tokens that their definitions may take in a prompt.
    #[arg(long, value_name = "N")]
    pub(crate) tokens: Option<usize>,
    /// A tool that is among them in any case, beyond the limit too; may be given more than once.
    #[arg(long, value_name = "TOOL")]
    pub(crate) always: Vec<String>,
    /// How sure it must be that a tool serves the task, from 0 to 1.
    #[arg(long, value_name = "PART", default_value_t = 0.0, value_parser = part)]
    pub(crate) min_confidence: f32,
    /// Where no tool serves the task, take all, if there is room for them.
    #[arg(long)]
    pub(crate) or_all: bool,
    /// Share the tools out over so many agents.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) agents: Option<u16>,
    /// Share the tools out over the agents of a file: their names with what each is for.
    #[arg(long, value_name = "FILE")]
    pub(crate) roles: Option<PathBuf>,
    /// Tools of one agent at the most.
    #[arg(long, value_name = "N", requires = "shared")]
    pub(crate) capacity: Option<usize>,
    /// Let agents share tools that only read, where more than one has a use for them.
    #[arg(long, requires = "shared")]
    pub(crate) overlap: bool,
}

/// Which toolsets, and whether a model is to be asked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  toolcrib toolsets
  toolcrib toolsets github_issues
  toolcrib toolsets --ask
  toolcrib toolsets --json")]
pub(crate) struct ToolsetsArgs {
    /// Tell the tools of this one, each with why it is there.
    #[arg(value_name = "TOOLSET")]
    pub(crate) id: Option<String>,
    /// Ask the model now how to split toolsets where the file wants that, also about those of which
    /// it made nothing before.
    #[arg(long)]
    pub(crate) ask: bool,
}
