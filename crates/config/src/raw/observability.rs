//! What the process tells of itself.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::{PauseText, SecretText, SizeText};

/// The log, on standard error.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Log")]
pub(crate) struct LogTable {
    /// How much is told: `info` has a line for each call, `debug` one for each request, `trace`
    /// what libraries say. `warn` if not set.
    pub(crate) level: Option<LogLevelWord>,
    /// Lines for people or lines of JSON. `text` if not set.
    pub(crate) format: Option<LogFormatWord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "LevelWord")]
pub(crate) enum LogLevelWord {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "FormWord")]
pub(crate) enum LogFormatWord {
    Text,
    Json,
}

/// Traces and figures for an OpenTelemetry collector.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Telemetry")]
pub(crate) struct TelemetryTable {
    /// The collector, which takes OTLP over HTTP: `http://127.0.0.1:4318`.
    pub(crate) otlp: String,
    /// Headers that go with each message.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, SecretText>,
    /// What this server is called there. `toolcrib` if not set.
    pub(crate) service: Option<String>,
    /// How often figures are sent. `30s` if not set.
    pub(crate) interval: Option<PauseText>,
}

/// The record of what was decided and how it ended.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Audit")]
pub(crate) struct AuditTable {
    /// The file that records are added to: `audit.jsonl`.
    pub(crate) file: String,
    /// Whether calls that may change something are refused while nothing can be recorded. Yes if
    /// not set.
    pub(crate) required: Option<bool>,
    /// How long the file may become before another one is begun: `64MiB`. The chain goes on in it,
    /// and none is removed. As long as it likes if not set.
    pub(crate) rotate: Option<SizeText>,
}
