//! A list of a server: all pages, bounded.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::client::call::params::RequestParams;
use crate::client::connection::{CountGuard, McpConnection, UpstreamTimeouts};
use crate::client::fault::{McpFault, McpTimeoutPhase};
use crate::client::list_kind::ListKind;

/// Each entry as text: the trees of a long list take ten times its memory, and each is needed for
/// a moment alone. `null` is a list without entries, as Go writes it, and so is an empty object.
fn entries(page: Option<Value>) -> Option<Vec<Box<RawValue>>> {
    match page? {
        Value::Array(entries) => entries.iter().map(|entry| to_raw_value(entry).ok()).collect(),
        Value::String(entries) => match entries.trim_ascii() {
            "null" | "{}" => Some(Vec::new()),
            entries => serde_json::from_str(entries).ok(),
        },
        Value::Null => Some(Vec::new()),
        Value::Object(fields) => fields.is_empty().then(Vec::new),
        Value::Bool(_) | Value::Number(_) => None,
    }
}

/// A whole list of a server.
#[derive(Default)]
pub(crate) struct FetchedList {
    /// As the server wrote them, in its order.
    pub(crate) entries: Vec<Box<RawValue>>,
    /// What the last page said besides.
    pub(crate) besides: Map<String, Value>,
    /// What is wrong with it as a whole.
    pub(crate) note: Option<String>,
}

pub(crate) async fn all(
    connection: &McpConnection,
    kind: ListKind,
    within: Duration,
) -> Result<FetchedList, McpFault> {
    let ListKind { capability, method, key, words } = kind;
    if !connection.facts.said.capabilities.contains_key(capability) {
        return Ok(FetchedList::default());
    }
    let bounds = connection.calls.bounds;
    // Between its pages too.
    let _counted = CountGuard::new(&connection.in_flight);
    let until = Instant::now() + within;
    let waits = UpstreamTimeouts {
        idle: (McpTimeoutPhase::List, within),
        until: (McpTimeoutPhase::List, until, within),
        subject: None,
    };
    let mut entries = Vec::new();
    let mut cursors = HashSet::new();
    let mut params = RequestParams::default();
    for _ in 0..bounds.pages {
        let mut page = connection.request(method, &params, None, &waits).await?.fields()?;
        let more = self::entries(page.remove(key));
        entries.extend(more.ok_or(McpFault::Unreadable("the list is no list"))?);
        if entries.len() > bounds.entries {
            let most = bounds.entries;
            return Err(refused(format!("it lists more than {most} {words}: `limits.entries`")));
        }
        let (cursor, note) = match page.remove("nextCursor") {
            // Before 2026-07-28 an empty one means the end wherever it is seen.
            Some(Value::String(text)) if text.is_empty() && !connection.facts.is_modern => {
                (None, None)
            }
            // What it holds is no concern of ours: some count their pages.
            Some(cursor @ (Value::String(_) | Value::Number(_))) => (Some(cursor), None),
            None | Some(Value::Null) => (None, None),
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
                let note = "names a next page by what is no text: what comes after it is not read";
                (None, Some(format!("its list of {words} {note}")))
            }
        };
        let Some(cursor) = cursor else {
            return Ok(FetchedList { entries, besides: page, note });
        };
        if !cursors.insert(cursor.to_string()) {
            let mut seen = HashSet::new();
            entries.retain(|entry| seen.insert(entry.get().to_owned()));
            let note = "goes round in a circle: what was read of it is all that is taken";
            let note = Some(format!("its list of {words} {note}"));
            return Ok(FetchedList { entries, besides: page, note });
        }
        params = Map::from_iter([("cursor".to_owned(), cursor)]).into();
    }
    let most = bounds.pages;
    Err(refused(format!("its list of {words} has more than {most} pages: `limits.pages`")))
}

fn refused(why: String) -> McpFault {
    McpFault::Broken { why, cause: None }
}
