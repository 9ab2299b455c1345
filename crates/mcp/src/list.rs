//! A list of a server: all pages, bounded.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::connection::{Connection, Counted, Waits};
use crate::fault::{Fault, Phase};
use crate::params::Params;

/// Which list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// The capability of a server that has it.
    pub(crate) capability: &'static str,
    pub(crate) method: &'static str,
    /// The field of a result that holds the entries.
    pub(crate) key: &'static str,
    pub(crate) words: &'static str,
}

pub(crate) const TOOLS: Kind =
    Kind { capability: "tools", method: "tools/list", key: "tools", words: "tools" };
pub(crate) const PROMPTS: Kind =
    Kind { capability: "prompts", method: "prompts/list", key: "prompts", words: "prompts" };
pub(crate) const RESOURCES: Kind = Kind {
    capability: "resources",
    method: "resources/list",
    key: "resources",
    words: "resources",
};
pub(crate) const TEMPLATES: Kind = Kind {
    capability: "resources",
    method: "resources/templates/list",
    key: "resourceTemplates",
    words: "templates",
};

/// Under which key the result of a method has the entries of a list, if it is one.
pub(crate) fn key(method: &str) -> Option<&'static str> {
    let kind =
        [TOOLS, PROMPTS, RESOURCES, TEMPLATES].into_iter().find(|kind| kind.method == method);
    Some(kind?.key)
}

/// Each entry as text: the trees of a long list take ten times its memory, and each is needed for
/// a moment alone.
fn entries(page: Option<Value>) -> Option<Vec<Box<RawValue>>> {
    match page? {
        Value::Array(entries) => entries.iter().map(|entry| to_raw_value(entry).ok()).collect(),
        Value::String(entries) => serde_json::from_str(&entries).ok(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// The entries as the server wrote them, in its order, and what the last page said besides.
pub(crate) async fn all(
    connection: &Connection,
    kind: Kind,
    within: Duration,
) -> Result<(Vec<Box<RawValue>>, Map<String, Value>), Fault> {
    let Kind { capability, method, key, words } = kind;
    if !connection.facts.said.capabilities.contains_key(capability) {
        return Ok(Default::default());
    }
    let bounds = connection.calls.bounds;
    // Between its pages too.
    let _counted = Counted::new(&connection.in_flight);
    let until = Instant::now() + within;
    let waits = Waits { idle: (Phase::List, within), until: (Phase::List, until, within) };
    let mut all = Vec::new();
    let mut cursors = HashSet::new();
    let mut params = Params::default();
    for _ in 0..bounds.pages {
        let mut page = connection.request(method, &params, None, &waits).await?.fields()?;
        let more = entries(page.remove(key));
        all.extend(more.ok_or(Fault::Unreadable("the list is no list"))?);
        if all.len() > bounds.entries {
            let most = bounds.entries;
            return Err(refused(format!("it lists more than {most} {words}: `limits.entries`")));
        }
        // An empty cursor is one by the letter, and means the end wherever it is seen.
        let cursor = match page.remove("nextCursor") {
            Some(Value::String(cursor)) if !cursor.is_empty() => cursor,
            _ => return Ok((all, page)),
        };
        if !cursors.insert(cursor.clone()) {
            return Err(refused(format!("its list of {words} goes round in a circle")));
        }
        params = Map::from_iter([("cursor".to_owned(), Value::String(cursor))]).into();
    }
    let most = bounds.pages;
    Err(refused(format!("its list of {words} has more than {most} pages: `limits.pages`")))
}

fn refused(why: String) -> Fault {
    Fault::Broken { why, cause: None }
}
