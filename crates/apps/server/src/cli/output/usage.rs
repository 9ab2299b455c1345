//! A command line that cannot be read: told to the person, and to the program that wants JSON.

use std::process::ExitCode;

use clap::error::ErrorKind;

use super::Output;
use crate::cli::CommandExit;

/// Prints help where it was asked for, else what is wrong; with `--json` that is told as every
/// other error is, beside the text.
pub(crate) fn told(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Whoever reads us has seen enough.
        let _ = error.print();
        return CommandExit::Done.code();
    }
    if wants_json() {
        Output { json: true }.failure(&message(error), &[]);
    }
    // There is nobody to tell if standard error is closed.
    let _ = error.print();
    CommandExit::Unusable.code()
}

/// Whether the word stands among the options; nothing else is known of a line that was not read.
fn wants_json() -> bool {
    std::env::args_os().skip(1).take_while(|word| word != "--").any(|word| word == "--json")
}

/// What is wrong and how to put it right, without what a terminal has around it.
fn message(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a command is missing: `--help` lists what there is".to_owned();
    }
    let text = error.render().to_string();
    let text = text.trim();
    text.strip_prefix("error: ").unwrap_or(text).to_owned()
}
