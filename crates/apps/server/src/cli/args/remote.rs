//! The commands that ask a running server.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use toolcrib_store::{CallState, KnownEnd};

/// Which server, and who asks.
#[derive(Debug, Args)]
pub(crate) struct RemoteArgs {
    /// Where the server listens; without it, as the configuration says, else where the only server
    /// of yours does that runs.
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) url: Option<String>,
    /// The file with the token; without it, the token that `toolcrib serve` made on this machine.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CallsArgs {
    /// Go on and tell of each call when it ends; Ctrl-C ends it.
    #[arg(long)]
    pub(crate) follow: bool,
    /// Look into the record instead, which outlives the server: only calls in these states, with
    /// commas between them.
    #[arg(
        long,
        value_name = "STATE",
        value_delimiter = ',',
        conflicts_with = "follow",
        value_parser = PossibleValuesParser::new(CallState::WORDS)
    )]
    pub(crate) state: Vec<String>,
    /// Calls that are shown.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    #[command(subcommand)]
    pub(crate) command: Option<CallCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CallCommand {
    /// Say how a call ended of whose outcome nobody knows, once you have looked.
    #[command(after_help = "\
What was said first stays. Calls like it are not held back any more; an idempotency key that the
call came with keeps its answer and never runs it again.

Examples:
  toolcrib calls --state outcome_unknown,interrupted
  toolcrib calls resolve 0199c6f2a1b27c3d8e4f5a6b7c8d9e0f-0 succeeded")]
    Resolve {
        /// The key of the call, as `--state` shows it.
        key: String,
        /// How it really ended.
        #[arg(value_parser = PossibleValuesParser::new(KnownEnd::WORDS))]
        ending: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TicketsArgs {
    /// Go on and tell of each call that comes to wait; Ctrl-C ends it.
    #[arg(long)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    #[command(subcommand)]
    pub(crate) command: Option<TicketCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TicketCommand {
    /// Run a waiting call as it was made.
    #[command(after_help = "Example: toolcrib tickets approve t_0123 --profile careful")]
    Approve {
        /// The ticket.
        ticket: String,
    },
    /// Answer what a call asks that runs already.
    #[command(after_help = "\
Examples:
  toolcrib tickets answer t_0123 name=Bob guests=2
  toolcrib tickets answer t_0123 --content '{\"name\": \"Bob\"}'")]
    Answer {
        /// The ticket.
        ticket: String,
        /// The fields that it asks for; of one that takes several values, each by itself.
        #[arg(value_name = "FIELD=VALUE", conflicts_with = "content")]
        fields: Vec<String>,
        /// All fields as one JSON object.
        #[arg(long, value_name = "JSON")]
        content: Option<String>,
    },
    /// Say no to a waiting call, or to what it asks.
    Deny {
        /// The ticket.
        ticket: String,
        /// Why; the model is told.
        #[arg(long, default_value = "a person said no")]
        reason: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SourcesArgs {
    /// Go on and tell of each change; Ctrl-C ends it.
    #[arg(long)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    #[command(subcommand)]
    pub(crate) command: Option<SourceCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SourceCommand {
    /// Load the list of a source again.
    Reload {
        /// The source.
        source: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Tell whether a record is whole, or which of its lines was changed or taken out.
    #[command(after_help = "\
Examples:
  toolcrib audit verify
  toolcrib audit verify audit.jsonl --json")]
    Verify {
        /// The record; without it, that of the configuration. Files that were closed before it are
        /// read too.
        file: Option<PathBuf>,
        /// The hash of the last record that was taken away on purpose: of a closed file that is
        /// kept somewhere else.
        #[arg(long, value_name = "HASH")]
        after: Option<String>,
    },
}
