//! Levels of lines of log.

use toolcrib_core::LogLevel;

/// A level by its name in the protocol.
pub(crate) fn level(name: &str) -> Option<LogLevel> {
    Some(match name {
        "debug" => LogLevel::Debug,
        "info" => LogLevel::Info,
        "notice" => LogLevel::Notice,
        "warning" => LogLevel::Warning,
        "error" => LogLevel::Error,
        "critical" => LogLevel::Critical,
        "alert" => LogLevel::Alert,
        "emergency" => LogLevel::Emergency,
        _ => return None,
    })
}

/// Its name there.
pub(crate) fn named(level: LogLevel) -> String {
    let name = serde_json::to_value(level).ok();
    name.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}
