//! The words of the commands about agents and their models.

use clap::{Args, Subcommand};

/// Whom to talk to, and about what.
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// What to say; without it, and with nothing piped in, it is asked for again and again.
    pub(crate) message: Vec<String>,
    /// The agent; the first of the configuration if not set.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Go on with the last thread of this agent.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Approve every call that would be asked about.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The commands about models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Ask each model something, with and without a tool, and tell what works and what does not.
    #[command(after_help = "Example: toolcrib model check")]
    Check {
        /// The agent whose model it is; those of all agents if not set.
        agent: Option<String>,
    },
}
