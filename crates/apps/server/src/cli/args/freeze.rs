//! The words of `toolcrib freeze`.

use clap::{Subcommand, ValueEnum};
use toolcrib_core::Effect;

use crate::config::freezes::FreezeScope;

#[derive(Debug, Subcommand)]
pub(crate) enum FreezeCommand {
    /// List what is frozen: by whom, since when, and why.
    List,
    /// Stop calls, from now on.
    Set {
        /// What is stopped: all, or those of one source, caller, tenant or tool.
        scope: FreezeScope,
        /// Of which source, caller, tenant or tool.
        #[arg(required_if_eq_any = [
            ("scope", "source"), ("scope", "caller"), ("scope", "tenant"), ("scope", "tool"),
        ])]
        name: Option<String>,
        /// Calls of tools of these effects.
        #[arg(long, value_delimiter = ',', default_values = ["write", "destroy"])]
        effects: Vec<FrozenEffect>,
        /// Why; models are told as well.
        #[arg(long)]
        why: Option<String>,
        /// How long, such as 30m, 2h or 7d; until it is lifted if not set.
        #[arg(long = "for", value_name = "TIME")]
        lasts: Option<String>,
    },
    /// Let calls run again, by the number of what stopped them.
    Lift { number: u64 },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FrozenEffect {
    Read,
    Write,
    Destroy,
}

impl From<FrozenEffect> for Effect {
    fn from(word: FrozenEffect) -> Self {
        match word {
            FrozenEffect::Read => Self::Read,
            FrozenEffect::Write => Self::Write,
            FrozenEffect::Destroy => Self::Destroy,
        }
    }
}

pub(super) const HELP: &str = "\
Stops calls within a second, whatever the rules say and whichever door they come by: in a running
server, in `toolcrib mcp` and in commands. What runs already goes on. It is kept over a restart, for
the configuration of this path, until it is lifted or its time is over.

Examples:
  toolcrib freeze set all --why 'we look into it'
  toolcrib freeze set source github --effects read,write,destroy --for 2h
  toolcrib freeze
  toolcrib freeze lift 1";
