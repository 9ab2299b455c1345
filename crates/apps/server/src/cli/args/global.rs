//! The words that every command takes.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use toolcrib_config::{LogFormat, LogLevel, LogSettings};

use crate::telemetry::start_log;

/// What holds for every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct GlobalArgs {
    /// Print JSON and nothing else on standard output.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Where the tools come from. Without one, `crib.toml` where the command is run, if it is there;
    /// else a calendar, tasks and mail of this machine, and a small set of harmless tools.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The profile of the configuration to work under.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Who may see and call what: a file of rules. They hold beside those of the configuration, of
    /// which the strictest counts; without any, what may destroy is asked about.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// A scope of the caller, for the rules; may be repeated.
    #[arg(long = "scope", global = true, value_name = "SCOPE")]
    pub(crate) scopes: Vec<String>,
    /// Calls of one message that run; the rest is answered "not run".
    #[arg(long, global = true, value_name = "N")]
    pub(crate) max_calls: Option<usize>,
    /// How long one call may run, whatever its tool says.
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// What to log on standard error: how much, and in which form, as in `info,json`. Without it,
    /// as the configuration says, else warnings in lines for people.
    #[arg(long, global = true, value_enum, value_delimiter = ',', value_name = "WORDS")]
    pub(crate) log: Vec<LogWord>,
    /// When to colour.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// Up to a day: `30`, or `0.5`.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0);
    let seconds = seconds.ok_or("write a number of seconds from 0 to 86400, such as 30 or 0.5")?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// How much, or in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogWord {
    Off,
    Error,
    Warn,
    /// A line for each call.
    Info,
    /// A line for each request.
    Debug,
    /// What libraries say.
    Trace,
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    pub(crate) fn write_global(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

impl GlobalArgs {
    /// Starts the log as the command line wants it, else as the file does.
    pub(crate) fn start_log(&self, of_file: LogSettings) -> Result<()> {
        let level = self.log.iter().find_map(|word| word.level()).unwrap_or(of_file.level);
        let form = self.log.iter().find_map(|word| word.form()).unwrap_or(of_file.form);
        start_log(level, form).context("cannot start the log")
    }
}

impl LogWord {
    /// `None`: it is a form.
    pub(crate) fn level(self) -> Option<LogLevel> {
        Some(match self {
            Self::Off => LogLevel::Off,
            Self::Error => LogLevel::Error,
            Self::Warn => LogLevel::Warn,
            Self::Info => LogLevel::Info,
            Self::Debug => LogLevel::Debug,
            Self::Trace => LogLevel::Trace,
            Self::Text | Self::Json => return None,
        })
    }

    /// `None`: it is a level.
    pub(crate) fn form(self) -> Option<LogFormat> {
        match self {
            Self::Text => Some(LogFormat::Text),
            Self::Json => Some(LogFormat::Json),
            Self::Off | Self::Error | Self::Warn | Self::Info | Self::Debug | Self::Trace => None,
        }
    }
}
