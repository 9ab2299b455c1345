//! The words of the command line, with help that teaches.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 a call failed or a check found something, 2 the input cannot be used,
3 denied, 4 waiting for approval, 130 interrupted.

Start with `toolcrib tools`, then `toolcrib call calculate '{\"expression\": \"6 * 7\"}'`;
`toolcrib manual` teaches the rest by example.";

/// One tool layer for LLM agents: see, plan and run tools by hand.
#[derive(Debug, Parser)]
#[command(name = "toolcrib", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What holds for every command.
#[derive(Debug, Args)]
pub(super) struct Global {
    /// Print JSON and nothing else on standard output.
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Who may see and call what: a file of rules. Without one, what may destroy is asked about.
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) policy: Option<PathBuf>,
    /// A scope of the caller, for the rules; may be repeated.
    #[arg(long = "scope", global = true, value_name = "SCOPE")]
    pub(super) scopes: Vec<String>,
    /// Calls of one message that run; the rest is answered "not run".
    #[arg(long, global = true, value_name = "N")]
    pub(super) max_calls: Option<usize>,
    /// How long one call may run, unless its tool says otherwise.
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub(super) timeout: Option<Duration>,
    /// When to colour.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
}

/// Up to a day: `30`, or `0.5`.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0);
    let seconds = seconds.ok_or("write a number of seconds from 0 to 86400, such as 30 or 0.5")?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    pub(super) fn write_global(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the tools that the caller may see.
    #[command(after_help = "\
Examples:
  toolcrib tools --category text
  toolcrib tools --effect read --json")]
    Tools(Filter),
    /// Show one tool: its texts, its signature, its schema, its fingerprint.
    #[command(after_help = "\
Examples:
  toolcrib show calculate
  toolcrib show calculate --json")]
    Show {
        /// The tool.
        name: String,
    },
    /// Decide what one request may use, and show it as a model API is given it.
    #[command(after_help = "\
Examples:
  toolcrib plan --choose calculate
  toolcrib plan --choose calculate --dialect openai-chat --json")]
    Plan {
        #[command(flatten)]
        request: RequestWords,
        /// The model API to write the definitions for.
        #[arg(long, value_enum)]
        dialect: Option<DialectName>,
        /// Ask the model API to hold the model to the schemas, where it can.
        #[arg(long, requires = "dialect")]
        strict: bool,
    },
    /// Tell why a tool is in or out of a plan.
    #[command(after_help = "\
Examples:
  toolcrib why calculate --choose time_now
  toolcrib why calculate --policy rules.toml --scope guest")]
    Why {
        /// The tool.
        name: String,
        #[command(flatten)]
        request: RequestWords,
    },
    /// Run one call.
    #[command(after_help = "\
Examples:
  toolcrib call calculate '{\"expression\": \"6 * 7\"}'
  echo '{\"text\": \"hello\"}' | toolcrib call hash_text -")]
    Call {
        /// The tool.
        name: String,
        /// Its arguments as JSON, or `-` to read them from standard input.
        arguments: Option<String>,
        /// Approve the call if a person has to be asked.
        #[arg(long)]
        yes: bool,
    },
    /// Run the calls of a model's message, read from standard input.
    #[command(after_help = "\
Reads an assistant message, a whole reply or the bare list of calls. With --json it prints
{\"messages\": what to send back, \"responses\": what became of each call}.

Examples:
  toolcrib run --dialect openai-chat --json < message.json
  toolcrib run --dialect anthropic --max-calls 4 --timeout 10 < reply.json")]
    Run {
        /// The model API that wrote the message.
        #[arg(long, value_enum, default_value_t = DialectName::OpenaiChat)]
        dialect: DialectName,
        #[command(flatten)]
        request: RequestWords,
    },
    /// Accept the tools as they are: write their fingerprints into a pin file.
    #[command(after_help = "\
Where a `crib.lock` stands, a tool that it does not name, or that is another one than it names, is
kept out until it is accepted.

Examples:
  toolcrib lock
  toolcrib lock --check")]
    Lock {
        /// Write nothing; tell what changed since the file was written.
        #[arg(long)]
        check: bool,
        /// The pin file.
        #[arg(default_value = "crib.lock")]
        file: PathBuf,
    },
    /// Look at a file of rules.
    #[command(
        subcommand,
        after_help = "\
Examples:
  toolcrib policy check rules.toml
  toolcrib policy explain rules.toml calculate --scope guest"
    )]
    Policy(PolicyCommand),
    /// Print the completion script of a shell.
    #[command(after_help = "Example: toolcrib completion bash > /etc/bash_completion.d/toolcrib")]
    Completion {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual.
    #[command(after_help = "Example: toolcrib manual | less")]
    Manual,
}

/// Which tools to list.
#[derive(Debug, Args)]
pub(super) struct Filter {
    /// Only the tools of this source.
    #[arg(long)]
    pub(super) source: Option<String>,
    /// Only the tools of this category.
    #[arg(long)]
    pub(super) category: Option<String>,
    /// Only the tools of this effect.
    #[arg(long, value_enum)]
    pub(super) effect: Option<EffectName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum EffectName {
    Read,
    Write,
    Destroy,
}

/// The wishes of one request.
#[derive(Debug, Args)]
pub(super) struct RequestWords {
    /// A tool that the user chose; may be repeated, the order counts.
    #[arg(long, value_name = "TOOL")]
    pub(super) choose: Vec<String>,
    /// How long the choices bind.
    #[arg(long, value_enum, default_value_t = ScopeName::FirstTurn, value_name = "SCOPE")]
    pub(super) choice_scope: ScopeName,
    /// Turns that went before.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) turn: u32,
    /// A tool that is out for this request; may be repeated.
    #[arg(long, value_name = "TOOL")]
    pub(super) disable: Vec<String>,
    /// A tool whose definition the model API may hold back; may be repeated.
    #[arg(long, value_name = "TOOL")]
    pub(super) defer: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ScopeName {
    FirstTurn,
    Run,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DialectName {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
}

#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Read a file of rules, run its tests, and tell everything that is wrong with it.
    #[command(after_help = "Example: toolcrib policy check rules.toml")]
    Check {
        /// The file of rules.
        file: PathBuf,
    },
    /// Tell what the rules say of a tool, and which of them decided.
    #[command(after_help = "\
Example: toolcrib policy explain rules.toml calculate --scope admin")]
    Explain {
        /// The file of rules.
        file: PathBuf,
        /// The tool.
        tool: String,
    },
}
