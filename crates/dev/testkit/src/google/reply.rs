//! What is asked of an interface, and what it says.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

/// A request that follows the documents.
pub(super) struct CheckedRequest {
    /// Decoded, by the names of the template.
    pub(super) path: HashMap<String, String>,
    pub(super) pairs: Vec<(String, String)>,
    pub(super) body: Map<String, Value>,
    pub(super) if_match: Option<String>,
}

impl CheckedRequest {
    pub(super) fn place(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.query(name) == Some("true")
    }

    pub(super) fn size(&self, usual: usize, most: usize, page: usize) -> usize {
        let asked = self.query("maxResults").and_then(|it| it.parse().ok());
        asked.unwrap_or(usual).min(most).min(page)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.body.get(name)?.as_str()
    }
}

pub(super) enum ServiceReply {
    Nothing,
    Value(Value),
}

pub(super) struct ServiceRefusal {
    pub(super) status: u16,
    reason: String,
    message: String,
}

impl ServiceRefusal {
    pub(super) fn new(status: u16, reason: &str, message: &str) -> Self {
        Self { status, reason: reason.to_owned(), message: message.to_owned() }
    }

    pub(super) fn not_found() -> Self {
        Self::new(404, "notFound", "Not Found")
    }

    pub(super) fn invalid(message: &str) -> Self {
        Self::new(400, "invalid", message)
    }

    /// <https://developers.google.com/workspace/calendar/api/guides/errors>
    pub(super) fn body(&self) -> Value {
        let Self { status, reason, message } = self;
        let error = json!({ "domain": "global", "reason": reason, "message": message });
        json!({ "error": { "code": status, "message": message, "errors": [error] } })
    }
}

/// Sets a field of an object.
pub(super) fn put(into: &mut Value, name: &str, value: Value) {
    if let Some(fields) = into.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}
