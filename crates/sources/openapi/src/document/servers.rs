//! Where a document says that its API is.

use std::borrow::Cow;

use serde_json::Value;

use super::document_set::DocumentSite;
use super::text::member;

/// A server of a document, its variables filled in with their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredServer {
    /// Absolute, or relative to where the document is.
    pub(crate) url: String,
}

/// The servers that a document, a path or an operation declares, without those that have a
/// variable of which no value is known.
pub(super) fn declared(site: DocumentSite<'_>) -> Vec<DeclaredServer> {
    let servers = site.get("servers").into_iter().flat_map(DocumentSite::items);
    servers
        .take(100)
        .filter_map(|server| filled(server.value))
        .map(|url| DeclaredServer { url })
        .collect()
}

/// Longest address, in bytes.
const LONGEST: usize = 2_000;

fn filled(server: &Value) -> Option<String> {
    let mut rest = member(server, "url")?;
    let mut url = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        let variable = server.get("variables")?.get(name)?;
        let first = || variable.get("enum").and_then(|all| all.get(0)).and_then(written);
        url.push_str(before);
        url.push_str(&variable.get("default").and_then(written).or_else(first)?);
        // A long default in many places would be longer than memory.
        if url.len() > LONGEST {
            return None;
        }
        rest = after;
    }
    url.push_str(rest);
    (url.len() <= LONGEST).then_some(url)
}

/// Quotes are forgotten around ports.
fn written(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Swagger 2 has one host, and one path that all others are below.
pub(super) fn of_swagger(root: DocumentSite<'_>) -> Vec<DeclaredServer> {
    let path = member(root.value, "basePath").unwrap_or_default();
    let Some(host) = member(root.value, "host") else {
        let relative = (!path.is_empty()).then(|| DeclaredServer { url: path.to_owned() });
        return relative.into_iter().collect();
    };
    let schemes: Vec<&str> = match root.value.get("schemes").and_then(Value::as_array) {
        Some(schemes) => schemes.iter().filter_map(Value::as_str).collect(),
        None => vec!["https"],
    };
    // The safer first, whatever the order of the document.
    let known = ["https", "http"].into_iter().filter(|scheme| schemes.contains(scheme));
    let servers = known.map(|scheme| DeclaredServer { url: format!("{scheme}://{host}{path}") });
    servers.filter(|server| server.url.len() <= LONGEST).collect()
}
