//! What the process tells of itself.

use std::time::Duration;

use super::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw;
use crate::settings::observability::{
    AuditSettings, LogFormat, LogLevel, LogSettings, TelemetryTemplate,
};

/// How often figures are sent if nobody says.
const INTERVAL: Duration = Duration::from_secs(30);
const LONGEST_NAME: usize = 128;

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn telemetry(
        &mut self,
        raw: Option<&raw::TelemetryTable>,
        place: &TomlPath,
    ) -> Option<TelemetryTemplate> {
        let raw = raw?;
        let at = place.key("otlp");
        let url = self.url(&raw.otlp, &at);
        self.in_the_open(url.as_ref(), !raw.headers.is_empty(), &at);
        let headers = self.headers(&raw.headers, &place.key("headers"));
        let service = raw.service.clone().unwrap_or_else(|| "toolcrib".to_owned());
        if service.is_empty() || service.len() > LONGEST_NAME {
            let message = "this cannot name a service";
            self.problem(&place.key("service"), message, "use from 1 to 128 letters");
        }
        let interval = self.timeout(raw.interval.as_ref(), &place.key("interval"));
        let interval = interval.unwrap_or(INTERVAL);
        Some(TelemetryTemplate { url: url?, headers, service, interval })
    }

    pub(super) fn audit(
        &mut self,
        raw: Option<&raw::AuditTable>,
        place: &TomlPath,
    ) -> Option<AuditSettings> {
        let raw = raw?;
        let file = self.path(&raw.file, &place.key("file"))?;
        let rotate = self.size(raw.rotate.as_ref(), &place.key("rotate"));
        let rotate = rotate.and_then(|size| u64::try_from(size).ok());
        Some(AuditSettings { file, required: raw.required.unwrap_or(true), rotate })
    }
}

/// What the log is to be.
pub(super) fn log(raw: &raw::LogTable) -> LogSettings {
    let level = raw.level.map(|level| match level {
        raw::LogLevelWord::Off => LogLevel::Off,
        raw::LogLevelWord::Error => LogLevel::Error,
        raw::LogLevelWord::Warn => LogLevel::Warn,
        raw::LogLevelWord::Info => LogLevel::Info,
        raw::LogLevelWord::Debug => LogLevel::Debug,
        raw::LogLevelWord::Trace => LogLevel::Trace,
    });
    let form = raw.format.map(|form| match form {
        raw::LogFormatWord::Text => LogFormat::Text,
        raw::LogFormatWord::Json => LogFormat::Json,
    });
    LogSettings { level: level.unwrap_or_default(), form: form.unwrap_or_default() }
}
