//! The words of `toolcrib effects`.

use clap::Args;

/// Which tools to look at, and what to do with the proposals.
#[derive(Debug, Args)]
pub(crate) struct EffectsArgs {
    /// Only these sources.
    pub(crate) sources: Vec<String>,
    /// Put the proposals that you accept into the configuration.
    #[arg(long)]
    pub(crate) write: bool,
    /// Accept all proposals, where nobody is there to be asked.
    #[arg(long, requires = "write")]
    pub(crate) yes: bool,
}

pub(super) const HELP: &str = "\
A tool that declares nothing of what a call does is taken for one that may destroy, and a person is
asked about each call. This lists such tools with what their words let one propose, and why; where
that is doubtful nothing is proposed. Look at each: one that is said to read runs without a question.

Examples:
  toolcrib effects
  toolcrib effects github --write
  toolcrib effects github --write --yes";
