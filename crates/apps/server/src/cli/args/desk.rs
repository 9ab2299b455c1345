//! The words of `toolcrib desk`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum DeskCommand {
    /// Take events, tasks and mail out of files: `.ics` of a calendar, `.mbox` of a mailbox.
    #[command(after_help = "\
What is there already is not taken twice, so that a file may be imported again.

Examples:
  toolcrib desk import calendar.ics
  toolcrib desk import archive.mbox --label archive
  toolcrib desk import --source work calendar.ics mail.mbox --json")]
    Import {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The source that is the desk, if there are several.
        #[arg(long, value_name = "SOURCE")]
        source: Option<String>,
        /// Where messages go that say nothing else: `inbox`, `archive` or a label of your own.
        #[arg(long, value_name = "LABEL", default_value = "inbox")]
        label: String,
    },
    /// Print all events and tasks as one file of iCalendar.
    #[command(after_help = "Example: toolcrib desk export > calendar.ics")]
    Export {
        /// The source that is the desk, if there are several.
        #[arg(long, value_name = "SOURCE")]
        source: Option<String>,
    },
}
