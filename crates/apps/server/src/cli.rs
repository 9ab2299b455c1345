//! The command line: what there is to say, and who answers it.

mod args;
mod commands;
mod context;
mod control;
mod output;
mod rollout;
mod signals;
mod trust;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{CommandFactory, Parser};
use serde_json::json;
use toolcrib_config::LogSettings;

use args::{
    AuditCommand, CONFIG, Cli, Command, CribCommand, EffectsArgs, GlobalArgs, ModelCommand,
};
use context::{CommandContext, CommandPurpose, RequiredSources};
use output::Output;
pub(crate) use output::escaped;

use crate::telemetry::log;

/// How a command ended; scripts read these numbers, and `toolcrib --help` names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandExit {
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

impl CommandExit {
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

/// Does what the words of the process ask for.
pub fn main() -> ExitCode {
    #[cfg(all(debug_assertions, unix))]
    crate::config::dies_at();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::usage::told(&error),
    };
    cli.global.color.write_global();
    let output = Output { json: cli.global.json };
    quiet_panics();
    let started = if cli.global.log.is_empty() {
        Ok(())
    } else {
        // What is said before a file is read is said in the same form.
        cli.global.start_log(LogSettings::default())
    };
    let end = ended(started.and_then(|()| answer(cli, &output)), &output);
    log::flush();
    end.code()
}

fn ended(answer: anyhow::Result<CommandExit>, output: &Output) -> CommandExit {
    match answer {
        Ok(end) => end,
        // Whoever reads us has seen enough.
        Err(error) if is_broken_pipe(&error) => CommandExit::Done,
        Err(error) => {
            output.error(&error);
            CommandExit::Unusable
        }
    }
}

fn answer(cli: Cli, output: &Output) -> anyhow::Result<CommandExit> {
    let Cli { global, command } = cli;
    match command {
        Command::Policy(command) => commands::policy::policy(&global, output, command),
        Command::Import { file } => commands::setup::import(output, &file),
        Command::Check { schema: true, .. } => commands::setup::print_schema(output),
        Command::Check { words, schema: false } => commands::setup::check(&global, output, &words),
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "toolcrib", &mut script);
            prose(output, "script", &String::from_utf8_lossy(&script))
        }
        Command::Trust { file, forget } => {
            let file = file.or(global.config).unwrap_or_else(|| CONFIG.into());
            commands::setup::trust(output, &file, forget)
        }
        Command::Overlay { command } => commands::setup::overlay::overlay(&global, output, command),
        Command::Freeze { command } => commands::setup::freeze::freeze(&global, output, command),
        Command::Chat(words) => commands::chat::chat(&global, output, &words),
        Command::Runs(words) => commands::runs::runs(&global, output, &words),
        Command::Rollout(words) => rollout::rollout(&global, output, &words),
        Command::Model(ModelCommand::Check { agent }) => {
            commands::chat::model_check::check(&global, output, agent.as_deref())
        }
        Command::Serve(words) => commands::serve::serve(&global, output, &words),
        Command::Mcp { file } => commands::mcp::mcp(&global, output, file.as_ref()),
        Command::Connect { client, url, sign_in } => {
            commands::connect::connect(&global, output, client, (url.as_deref(), sign_in))
        }
        Command::Open(remote) => commands::remote::page::open(&global, output, &remote),
        Command::Calls(words) => commands::remote::calls::calls(&global, output, &words),
        Command::Tickets(words) => commands::remote::tickets::tickets(&global, output, &words),
        Command::Sources(words) => commands::remote::sources::sources(&global, output, &words),
        Command::Audit(AuditCommand::Verify { file, after }) => {
            commands::audit::verify(&global, output, (file.as_ref(), after.as_deref()))
        }
        Command::Store(command) => commands::serve::store_copy::store(output, &command),
        Command::Desk(command) => commands::desk::desk(&global, output, command),
        Command::Token(words) => commands::token::token(&global, output, &words),
        Command::Openapi => {
            output.value(&crate::http::routes::openapi::document())?;
            Ok(CommandExit::Done)
        }
        Command::Manual { man } => manual(output, man.as_deref()),
        Command::Room(command) => over_crib(&global, output, command),
    }
}

/// A command over the crib of the file.
fn over_crib(
    global: &GlobalArgs,
    output: &Output,
    command: CribCommand,
) -> anyhow::Result<CommandExit> {
    let deed = match &command {
        CribCommand::Call { .. } | CribCommand::Run { .. } => CommandPurpose::Call,
        CribCommand::Tools(_)
        | CribCommand::Search { .. }
        | CribCommand::Toolsets(_)
        | CribCommand::Select(_)
        | CribCommand::Cost { .. }
        | CribCommand::Show { .. }
        | CribCommand::Plan { .. }
        | CribCommand::Why { .. }
        | CribCommand::Lock { .. }
        | CribCommand::Doctor { .. }
        | CribCommand::Effects(_)
        | CribCommand::Login { .. } => CommandPurpose::Look,
    };
    let Some(context) = CommandContext::open(global, output, (needed(&command), deed))? else {
        return Ok(CommandExit::Interrupted);
    };
    let end = within(&context, output, command);
    context.close();
    end
}

/// The pages of the book that teach the command line, one after the other.
const MANUAL: &str = concat!(
    include_str!("../../../../docs/reference/command-line.md"),
    "\n",
    include_str!("../../../../docs/guides/sources.md"),
    "\n",
    include_str!("../../../../docs/guides/plans.md"),
    "\n",
    include_str!("../../../../docs/guides/many-tools.md"),
    "\n",
    include_str!("../../../../docs/guides/rules.md"),
    "\n",
    include_str!("../../../../docs/guides/pins.md"),
    "\n",
    include_str!("../../../../docs/guides/approvals.md"),
    "\n",
    include_str!("../../../../docs/guides/clients.md"),
    "\n",
    include_str!("../../../../docs/guides/agents.md"),
    "\n",
    include_str!("../../../../docs/operating/server.md"),
    "\n",
    include_str!("../../../../docs/operating/access.md"),
    "\n",
    include_str!("../../../../docs/operating/outcomes.md"),
    "\n",
    include_str!("../../../../docs/operating/observing.md"),
);

/// Prints the manual, or writes a page for `man` of each command into a folder.
fn manual(output: &Output, pages: Option<&Path>) -> anyhow::Result<CommandExit> {
    let Some(folder) = pages else {
        return prose(output, "manual", MANUAL);
    };
    clap_mangen::generate_to(Cli::command(), folder)
        .with_context(|| format!("cannot write pages into `{}`", folder.display()))?;
    Ok(CommandExit::Done)
}

/// The sources that a command cannot do without.
fn needed(command: &CribCommand) -> RequiredSources<'_> {
    match command {
        CribCommand::Call { name, .. } | CribCommand::Show { name } => RequiredSources::Tool(name),
        CribCommand::Doctor { sources } | CribCommand::Effects(EffectsArgs { sources, .. }) => {
            RequiredSources::Sources(sources)
        }
        CribCommand::Tools(filter) | CribCommand::Search { filter, .. } => {
            RequiredSources::Sources(filter.source.as_slice())
        }
        CribCommand::Login { .. } => RequiredSources::None,
        CribCommand::Cost { .. }
        | CribCommand::Toolsets(_)
        | CribCommand::Select(_)
        | CribCommand::Plan { .. }
        | CribCommand::Why { .. }
        | CribCommand::Run { .. }
        | CribCommand::Lock { .. } => RequiredSources::All,
    }
}

fn within(
    context: &CommandContext,
    output: &Output,
    command: CribCommand,
) -> anyhow::Result<CommandExit> {
    // Whoever finds what they look for need not hear of sources that they do not need.
    let has_all = match &command {
        CribCommand::Call { name, .. } | CribCommand::Show { name } => {
            context.crib.catalog().get(name).is_some()
        }
        CribCommand::Doctor { .. } => true,
        CribCommand::Tools(_)
        | CribCommand::Search { .. }
        | CribCommand::Toolsets(_)
        | CribCommand::Select(_)
        | CribCommand::Cost { .. }
        | CribCommand::Plan { .. }
        | CribCommand::Why { .. }
        | CribCommand::Run { .. }
        | CribCommand::Lock { .. }
        | CribCommand::Effects(_)
        | CribCommand::Login { .. } => false,
    };
    if !has_all {
        context.note_failed(output);
    }
    match command {
        CribCommand::Tools(filter) => commands::crib::tools::list(context, output, &filter),
        CribCommand::Search { words, filter, action, limit } => commands::crib::search::search(
            context,
            output,
            &words.join(" "),
            (&filter, action, limit),
        ),
        CribCommand::Select(words) => commands::crib::select::select(context, output, &words),
        CribCommand::Toolsets(words) => commands::crib::toolsets::list(context, output, &words),
        CribCommand::Cost { first } => commands::crib::cost::cost(context, output, first),
        CribCommand::Show { name } => commands::crib::tools::show(context, output, &name),
        CribCommand::Plan { request, dialect, strict } => commands::crib::plan::plan(
            context,
            output,
            &request,
            dialect.map(|dialect| (dialect, strict)),
        ),
        CribCommand::Why { name, request, dialect } => {
            commands::crib::plan::why(context, output, &request, &name, dialect)
        }
        CribCommand::Call { name, arguments, yes } => {
            commands::crib::call::call(context, output, &name, arguments.as_deref(), yes)
        }
        CribCommand::Run { dialect, request, yes } => {
            commands::crib::run::run(context, output, dialect, &request, yes)
        }
        CribCommand::Lock { check, file } => {
            commands::crib::lock::lock(context, output, file.as_deref(), check)
        }
        CribCommand::Doctor { .. } => commands::crib::doctor::doctor(context, output),
        CribCommand::Effects(words) => commands::crib::effects::effects(context, output, &words),
        CribCommand::Login { source } => commands::setup::login(context, output, &source),
    }
}

/// A text that is one in JSON too.
fn prose(output: &Output, name: &str, text: &str) -> anyhow::Result<CommandExit> {
    if output.json {
        output.value(&json!({ name: text }))?;
    } else {
        output.text(text)?;
    }
    Ok(CommandExit::Done)
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
