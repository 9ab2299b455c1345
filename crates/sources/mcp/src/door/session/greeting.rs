//! What a client said of itself, as it is written down for another process.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib_core::{LONGEST_GREETING, LogLevel};

use crate::door::client::features::ClientFeatures;
use crate::door::client::logs::LogForwarder;
use crate::protocol::levels::{level, named};
use crate::protocol::revisions::agreed;

/// Of the capabilities those that a door makes use of, so that no client can make it long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenGreeting {
    /// The revision that the client asked for.
    pub(crate) protocol_version: String,
    pub(crate) capabilities: Value,
    pub(crate) log_level: String,
    /// Whether it hears lines of log that belong to no call.
    #[serde(default)]
    pub(crate) hears_lines: bool,
    /// The resources that it follows.
    #[serde(default)]
    pub(crate) followed: Vec<String>,
}

impl WrittenGreeting {
    pub(crate) fn of(wanted: &str, features: &ClientFeatures, logs: &LogForwarder) -> Self {
        Self {
            protocol_version: wanted.to_owned(),
            capabilities: features.capabilities(),
            log_level: named(logs.lowest()),
            hears_lines: logs.is_wanted(),
            followed: Vec::new(),
        }
    }

    /// As text, with as many of the resources as there is room for.
    pub(crate) fn text(mut self, followed: Vec<String>) -> String {
        // What else stands in it is short.
        let mut room = LONGEST_GREETING / 2;
        self.followed = followed
            .into_iter()
            .take_while(|uri| {
                let taken = serde_json::to_string(uri).map_or(usize::MAX, |text| text.len() + 1);
                let fits = taken <= room;
                room = room.saturating_sub(taken);
                fits
            })
            .collect();
        serde_json::to_string(&self).unwrap_or_default()
    }

    /// `None`: it is of another release.
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(crate) fn revision(&self) -> &'static str {
        agreed(&self.protocol_version)
    }

    pub(crate) fn features(&self) -> ClientFeatures {
        ClientFeatures::of(self.revision(), &self.capabilities)
    }

    pub(crate) fn lowest(&self) -> LogLevel {
        level(&self.log_level).unwrap_or(LogLevel::Info)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_greeting_is_read_as_it_was_written() {
        let kinds = [
            json!({}),
            json!({ "elicitation": {}, "roots": { "listChanged": true }, "x": "y" }),
            json!({ "elicitation": { "url": {} } }),
            json!({ "elicitation": { "url": {}, "form": {} }, "sampling": {} }),
        ];
        for revision in ["2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01"] {
            for capabilities in &kinds {
                let features = ClientFeatures::of(agreed(revision), capabilities);
                let logs = LogForwarder::default();
                logs.set(LogLevel::Error);
                let written = WrittenGreeting::of(revision, &features, &logs);
                let text = written.text(vec!["file:///a".to_owned()]);
                let read = WrittenGreeting::read(&text).unwrap();
                assert_eq!(format!("{:?}", read.features()), format!("{features:?}"));
                assert_eq!((read.lowest(), read.hears_lines), (LogLevel::Error, false));
                assert_eq!(read.followed, ["file:///a"]);
                assert_eq!(read.protocol_version, revision);
            }
        }
    }

    #[test]
    fn no_greeting_is_longer_than_what_is_kept() {
        let features = ClientFeatures::of("2025-11-25", &json!({}));
        let followed: Vec<_> =
            (0..64).map(|number| format!("x:{number}{}", "\u{1}".repeat(500))).collect();
        let written = WrittenGreeting::of("2025-11-25", &features, &LogForwarder::default());
        let text = written.text(followed.clone());
        assert!(text.len() <= LONGEST_GREETING, "{}", text.len());
        let read = WrittenGreeting::read(&text).unwrap();
        assert!(!read.followed.is_empty() && followed.starts_with(&read.followed));
    }
}
