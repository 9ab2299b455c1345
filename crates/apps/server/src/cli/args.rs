//! The words of the command line, with help that teaches.

mod agent;
mod desk;
mod effects;
mod freeze;
mod global;
mod overlay;
mod remote;
mod rollout;
mod runs;
mod select;
mod serve;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(super) use agent::{ChatArgs, ModelCommand};
pub(super) use desk::DeskCommand;
pub(super) use effects::EffectsArgs;
pub(super) use freeze::{FreezeCommand, FrozenEffect};
pub(super) use global::GlobalArgs;
pub(super) use overlay::OverlayCommand;
pub(super) use remote::{
    AuditCommand, CallCommand, CallsArgs, RemoteArgs, SourceCommand, SourcesArgs, TicketCommand,
    TicketsArgs,
};
pub(super) use rollout::{RolloutArgs, RolloutCommand, TrainerName};
pub(super) use runs::{ReplayArgs, RunCommand, RunsArgs};
pub(super) use select::{SelectArgs, ToolsetsArgs};
pub(super) use serve::{ServeArgs, StoreCommand};

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 a call failed or a check found something, 2 the input cannot be used,
3 denied, 4 waiting for approval, 130 interrupted.

Start with `toolcrib tools`, then `toolcrib call calculate '{\"expression\": \"6 * 7\"}'`;
`toolcrib manual` teaches the rest by example.";

pub(super) use crate::config::{CONFIG, LOCK};

/// One tool layer for LLM agents: see, plan and run tools by hand.
#[derive(Debug, Parser)]
#[command(name = "toolcrib", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: GlobalArgs,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    #[command(flatten)]
    Room(CribCommand),
    /// Look at a file of rules.
    #[command(
        subcommand,
        after_help = "\
Examples:
  toolcrib policy check rules.toml
  toolcrib policy explain rules.toml calculate --scope guest"
    )]
    Policy(PolicyCommand),
    /// Make a configuration of another program's list of servers.
    #[command(after_help = "\
Reads what Claude Desktop, VS Code, Cursor, Windsurf, Zed or Cline keep, any `mcpServers`, and lists
with `tool_assignment`. Secrets of variables and headers stay out: they become references, and a
note says what to export. Arguments are copied as they are; a note tells which looks like a secret.

Examples:
  toolcrib import claude_desktop_config.json > crib.toml
  toolcrib import .vscode/mcp.json > crib.toml")]
    Import {
        /// The file to read, or `-` for standard input.
        file: PathBuf,
    },
    /// Tell everything that is wrong with a configuration, and for what `serve` would refuse it; starts
    /// nothing.
    #[command(after_help = "\
The options of `serve` count as they do there: what they allow is not told.

Examples:
  toolcrib check
  toolcrib check crib.toml --json
  toolcrib check --schema > crib.schema.json")]
    Check {
        #[command(flatten)]
        words: ServeArgs,
        /// Print the JSON Schema of the configuration, for editors, and check nothing.
        #[arg(long)]
        schema: bool,
    },
    /// Let the `crib.toml` of a folder start its programs and send its secrets.
    #[command(after_help = "\
A `crib.toml` that is found where a command is run is asked about once, before it starts a program
or sends a secret: here it is trusted without that, as long as it says the same. One that is named
(`--config crib.toml`, `toolcrib serve crib.toml`) needs no trust.

Examples:
  toolcrib trust
  toolcrib trust --forget")]
    Trust {
        /// The configuration; without one, that of `--config`, else `crib.toml`.
        file: Option<PathBuf>,
        /// Trust it no longer.
        #[arg(long)]
        forget: bool,
    },
    /// Change single fields over the configuration, and take them back.
    #[command(after_help = overlay::HELP)]
    Overlay {
        #[command(subcommand)]
        command: Option<OverlayCommand>,
    },
    /// Stop calls, and let them run again.
    #[command(after_help = freeze::HELP)]
    Freeze {
        #[command(subcommand)]
        command: Option<FreezeCommand>,
    },
    /// Talk to an agent: a model that uses the tools.
    #[command(after_help = "\
Needs a `[model]` in the configuration. Calls are shown as they run, and what may change or destroy
is asked about. With a message or piped input it answers once. Within: /help lists the commands.

Examples:
  toolcrib chat
  toolcrib chat 'Move the budget review to Friday'
  git log -5 | toolcrib chat 'Write a changelog of this' --json")]
    Chat(ChatArgs),
    /// List what agents did and do, show it, and play it again.
    #[command(after_help = "\
Reads what `serve` and `chat` keep on this machine; with --url, the runs of the caller at a server.
A run is named by its id, or by so much of its beginning that it is the only one.

Examples:
  toolcrib runs --state ended --agent support
  toolcrib runs show 0f3c
  toolcrib runs replay 0f3c
  toolcrib runs export 0f3c --save refund.json")]
    Runs(RunsArgs),
    /// Let an agent do many tasks at once, and write down how, for training.
    #[command(after_help = rollout::HELP)]
    Rollout(RolloutArgs),
    /// Look at the models of the configuration.
    #[command(subcommand)]
    Model(ModelCommand),
    /// Serve the tools to others, over HTTP on this machine.
    #[command(after_help = "\
Asks every caller for a token, which `toolcrib token` prints; the first start makes it. Follows the
configuration when it changes. Ctrl-C lets what runs end, twice stops at once.

Examples:
  toolcrib serve
  toolcrib serve crib.toml --listen 127.0.0.1:8000
  curl -H \"Authorization: Bearer $(toolcrib token)\" http://127.0.0.1:7411/v1/tools")]
    Serve(ServeArgs),
    /// Serve the tools to one MCP client, over standard input and output.
    #[command(after_help = "\
An MCP client starts this itself: `toolcrib connect` prints what it wants to read.

Example: toolcrib mcp crib.toml")]
    Mcp {
        /// The configuration; without one, that of `--config`, else `crib.toml`, else a desk and
        /// harmless tools.
        file: Option<PathBuf>,
    },
    /// Print a link that signs a browser in to the page of a running server; it is good once, for ten
    /// minutes.
    #[command(after_help = "\
The code in the link stands behind `#`, where no server and no log sees it.

Examples:
  toolcrib open
  xdg-open \"$(toolcrib open)\"")]
    Open(RemoteArgs),
    /// List what the callers of a running server do: the calls that run, and the last that ended.
    #[command(after_help = "\
Asks the server of this machine with the token that it made, and each `toolcrib mcp` of this user.
`--state` shows what is recorded, also of calls of a server that ran before.

Examples:
  toolcrib calls
  toolcrib calls --follow --json | jq .tool
  toolcrib calls --state interrupted,outcome_unknown
  toolcrib calls resolve --help")]
    Calls(CallsArgs),
    /// List the calls that wait for a person, at a running server and at each `toolcrib mcp` of this
    /// user; approve or deny them, or answer what they ask.
    #[command(after_help = "\
The token of this machine shows the tickets of all callers, and decides about each; another token
those of its caller. The call runs as its own caller, under the profile that it was made under.

Examples:
  toolcrib tickets --follow
  toolcrib tickets deny t_0123 --reason 'not on a Friday'")]
    Tickets(TicketsArgs),
    /// Tell how the sources of a running server are doing, or load one again.
    #[command(after_help = "\
Examples:
  toolcrib sources
  toolcrib sources reload github")]
    Sources(SourcesArgs),
    /// Put files into the calendar and the mailbox that are kept here, or take them out.
    #[command(subcommand)]
    Desk(DeskCommand),
    /// Look at the record of decisions.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Carry the record of a server over to another store.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Print what a client wants to read to reach the tools.
    #[command(after_help = "\
Examples:
  toolcrib connect claude-code
  toolcrib connect vscode --url http://127.0.0.1:8000
  toolcrib connect cursor --url https://crib.example.com --sign-in")]
    Connect {
        /// The client.
        #[arg(value_enum)]
        client: ClientName,
        /// Where `toolcrib serve` listens; without it, as the configuration says, else at
        /// 127.0.0.1:7411.
        #[arg(long, value_name = "URL")]
        url: Option<String>,
        /// Leave the token out: the client signs in with an issuer of the server.
        #[arg(long)]
        sign_in: bool,
    },
    /// Print the token of a caller; one that is not there yet is made.
    #[command(after_help = "\
A server takes tokens that are made, and drops those whose files are removed, while it runs.
With --key it makes an API key instead, and prints what the configuration is to say of it; the key
itself is shown once, and kept nowhere.

Examples:
  toolcrib token
  toolcrib token build-server
  toolcrib token build-server --key --scope tools:read --expires 2027-01-31 >> crib.toml")]
    Token(TokenArgs),
    /// Print the OpenAPI document of what `toolcrib serve` offers.
    #[command(after_help = "Example: toolcrib openapi > openapi.json")]
    Openapi,
    /// Print the completion script of a shell.
    #[command(after_help = "Example: toolcrib completion bash > /etc/bash_completion.d/toolcrib")]
    Completion {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual.
    #[command(after_help = "\
Examples:
  toolcrib manual | less
  toolcrib manual --man ~/.local/share/man/man1")]
    Manual {
        /// Write a page for `man` of each command into this folder instead.
        #[arg(long, value_name = "FOLDER")]
        man: Option<PathBuf>,
    },
}

/// The commands that work on the tools.
#[derive(Debug, Subcommand)]
pub(super) enum CribCommand {
    /// List the tools that the caller may see.
    #[command(after_help = "\
Examples:
  toolcrib tools --category text
  toolcrib tools --effect read --json")]
    Tools(ToolFilterArgs),
    /// Find tools by what they do.
    #[command(after_help = "\
The search is the one that models have in lazy mode.

Examples:
  toolcrib search 'convert a time between zones'
  toolcrib search 'create an issue' --category issues --json")]
    Search {
        /// What the tools are to do, in plain words.
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        filter: ToolFilterArgs,
        /// Only the tools of this action.
        #[arg(long)]
        action: Option<String>,
        /// How many to list at the most.
        #[arg(long, default_value_t = 10, value_name = "N")]
        limit: usize,
    },
    /// List the toolsets: which tools are meant together, why, and what that costs in tokens.
    Toolsets(ToolsetsArgs),
    /// Choose the few tools that serve a task together, or share tools out over agents.
    Select(SelectArgs),
    /// Tell what the tools cost in tokens, and what each way of showing them saves.
    #[command(after_help = "\
Counts the definitions as each model API is given them, with the tokenizer of the models of OpenAI;
those of others count a little differently. What an API holds back is counted as what its model sees
of it before it searches.

Examples:
  toolcrib cost
  toolcrib cost --first 100 --json")]
    Cost {
        /// Count the first so many tools, and no others.
        #[arg(long, value_name = "N")]
        first: Option<usize>,
    },
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
        request: RequestArgs,
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
        request: RequestArgs,
        /// Ask about a model of this API: what its provider runs is there for no one else
        #[arg(long, value_enum)]
        dialect: Option<DialectName>,
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
        request: RequestArgs,
        /// Approve the calls about which a person has to be asked.
        #[arg(long)]
        yes: bool,
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
        /// The pin file; without one, `crib.lock` beside the configuration, which is the one that
        /// holds.
        file: Option<PathBuf>,
    },
    /// Start every source and tell how each is doing, and what to do about those that are not.
    #[command(after_help = "\
Examples:
  toolcrib doctor
  toolcrib doctor github --json")]
    Doctor {
        /// Only these sources.
        sources: Vec<String>,
    },
    /// List the tools that do not say what a call does, and say it for them.
    #[command(after_help = effects::HELP)]
    Effects(EffectsArgs),
    /// Sign in to a source that asks for a person's permission.
    #[command(after_help = "Example: toolcrib login tracker")]
    Login {
        /// The source.
        source: String,
    },
}

/// Whose token.
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    /// Who comes with it; the rules and the records know the caller by this name.
    #[arg(default_value = "local")]
    pub(super) name: String,
    /// Make an API key for the configuration, of which `--scope` says what it opens.
    #[arg(long)]
    pub(super) key: bool,
    /// Who comes with the key, if it is not the name of the key.
    #[arg(long, requires = "key", value_name = "NAME")]
    pub(super) subject: Option<String>,
    /// Whom the caller belongs to.
    #[arg(long, requires = "key", value_name = "NAME")]
    pub(super) tenant: Option<String>,
    /// When the key ends: `2027-01-31`.
    #[arg(long, requires = "key", value_name = "DAY")]
    pub(super) expires: Option<String>,
}

/// Which tools to list.
#[derive(Debug, Args)]
pub(super) struct ToolFilterArgs {
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

/// A program that uses tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ClientName {
    ClaudeDesktop,
    ClaudeCode,
    Vscode,
    Cursor,
    Curl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum EffectName {
    Read,
    Write,
    Destroy,
}

/// The wishes of one request.
#[derive(Debug, Args)]
pub(super) struct RequestArgs {
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
    /// How the tools are shown; without it, as the configuration has it.
    #[arg(long, value_enum, value_name = "MODE")]
    pub(super) discovery: Option<ModeName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeName {
    Direct,
    Lazy,
    Auto,
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
