//! What a process is to tell of itself, as its file says it.

use std::path::PathBuf;
use std::time::Duration;

use toolcrib_core::Secret;
use url::Url;

use crate::secrets::template::{SecretLookup, Template, TemplateResolution};
use crate::settings::pairs;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogSettings {
    pub level: LogLevel,
    pub form: LogFormat,
}

/// How much is told, the least first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Off,
    Error,
    #[default]
    Warn,
    /// A line for each call.
    Info,
    /// A line for each request.
    Debug,
    /// What libraries say.
    Trace,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Where records are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSettings {
    pub file: PathBuf,
    /// Whether what may change something waits for its record.
    pub required: bool,
    /// After how many bytes another file is begun; `None`: never.
    pub rotate: Option<u64>,
}

/// A collector with its secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct TelemetrySettings {
    /// The base: `/v1/traces` and `/v1/metrics` are appended.
    pub url: Url,
    pub headers: Vec<(String, Secret)>,
    /// What this process is called there.
    pub service: String,
    /// How often figures are sent.
    pub interval: Duration,
}

/// A collector whose secrets stand beside it.
#[derive(Debug, Clone)]
pub(crate) struct TelemetryTemplate {
    pub(crate) url: Url,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) service: String,
    pub(crate) interval: Duration,
}

impl TelemetryTemplate {
    pub(crate) fn resolve(
        &self,
        lookup: &dyn SecretLookup,
        found: &mut TemplateResolution,
    ) -> TelemetrySettings {
        let Self { url, headers, service, interval } = self.clone();
        let headers = pairs(&headers, lookup, found);
        TelemetrySettings { url, headers, service, interval }
    }
}

impl LogLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}
