//! The words of `toolcrib overlay`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum OverlayCommand {
    /// List what was changed: by whom, when, and what it comes to now.
    Show,
    /// Change a field.
    #[command(after_help = "\
A path is what the file would say: `tool.NAME.enabled`, or any other field of `[tool.NAME]`;
`enabled`, `include`, `exclude` and `timeout` of `source.ID`; `allow`, `ask`, `deny`, `discovery`,
`eager` and `max_calls` of `profile.NAME`; and `allow`, `ask` and `deny` of the top, whose entries
stand behind those of the file. A value is JSON, or else a text; `null` takes the field away.

Examples:
  toolcrib overlay set tool.github__delete_repo.enabled false --why 'deleted too much' --for 2h
  toolcrib overlay set source.jira.enabled false
  toolcrib overlay set ask '[\"stripe__*\"]'")]
    Set {
        path: String,
        value: String,
        /// Why, for whoever reads it later.
        #[arg(long)]
        why: Option<String>,
        /// How long it holds, such as 30m, 2h or 7d; it holds until it is undone if not set.
        #[arg(long = "for", value_name = "TIME")]
        lasts: Option<String>,
    },
    /// Take changes back, by their numbers.
    Undo {
        #[arg(required = true)]
        numbers: Vec<u64>,
    },
    /// Take all changes back.
    Clear,
    /// Print the configuration with the changes in it, its comments and order kept.
    #[command(after_help = "\
Example: toolcrib overlay export | diff -u crib.toml -")]
    Export,
}

pub(super) const HELP: &str = "\
A change of one field holds over the configuration on this machine, which is never written: it is
kept in the state folder, checked as the file is, followed by a running server within seconds, and
taken back at will. Every command heeds it. `serve --no-overlay` does without.

Examples:
  toolcrib overlay
  toolcrib overlay set tool.send_email.approval 'Send this mail?'
  toolcrib overlay undo 3
  toolcrib overlay export > crib.new.toml";
