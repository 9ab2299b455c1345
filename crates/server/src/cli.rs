//! The command line: what there is to say, and who answers it.

mod arguments;
mod call;
mod interrupt;
mod lock;
mod output;
mod plan;
mod policy;
mod room;
mod run;
mod tools;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use serde_json::json;

use arguments::{Cli, Command};
use output::Output;
use room::Room;

/// How a command ended; scripts read these numbers, and `toolcrib --help` names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Done,
    /// A call failed, or a check found something.
    Failed,
    /// The input or the command line cannot be used.
    Unusable,
    Denied,
    /// A call waits for an approval.
    Waiting,
    Interrupted,
}

impl End {
    fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Unusable => 2,
            Self::Denied => 3,
            Self::Waiting => 4,
            Self::Interrupted => 130,
        })
    }
}

pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.global.color.write_global();
    let output = Output { json: cli.global.json };
    quiet_panics();
    match answer(cli, &output) {
        Ok(end) => end.code(),
        // Whoever reads us has seen enough.
        Err(error) if is_broken_pipe(&error) => End::Done.code(),
        Err(error) => {
            output.error(&error);
            End::Unusable.code()
        }
    }
}

fn answer(cli: Cli, output: &Output) -> anyhow::Result<End> {
    let room = || Room::open(&cli.global);
    match cli.command {
        Command::Tools(filter) => tools::list(&room()?, output, &filter),
        Command::Show { name } => tools::show(&room()?, output, &name),
        Command::Plan { request, dialect, strict } => {
            plan::plan(&room()?, output, &request, dialect.map(|dialect| (dialect, strict)))
        }
        Command::Why { name, request } => plan::why(&room()?, output, &request, &name),
        Command::Call { name, arguments, yes } => {
            call::call(&room()?, output, &name, arguments.as_deref(), yes)
        }
        Command::Run { dialect, request } => run::run(&room()?, output, dialect, &request),
        Command::Lock { check, file } => lock::lock(&room()?, output, &file, check),
        Command::Policy(command) => policy::policy(&cli.global, output, command),
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "toolcrib", &mut script);
            prose(output, "script", &String::from_utf8_lossy(&script))
        }
        Command::Manual => prose(output, "manual", include_str!("../../../docs/manual.md")),
    }
}

/// A text that is one in JSON too.
fn prose(output: &Output, name: &str, text: &str) -> anyhow::Result<End> {
    if output.json {
        output.value(&json!({ name: text }))?;
    } else {
        output.text(text)?;
    }
    Ok(End::Done)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// A tool that panics is answered for; the person at the terminal needs no backtrace of it.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let what = panic.payload_as_str().unwrap_or("for a reason that it does not tell");
        let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
        Output { json: false }.crash(&format!("{what}{}", place.unwrap_or_default()));
    }));
}
