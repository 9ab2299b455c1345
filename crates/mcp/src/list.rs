//! A list of a server: all pages, bounded.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::connection::{Connection, Waits};
use crate::fault::{Fault, Phase};

/// Pages of one list.
const MOST_PAGES: usize = 64;
/// Entries of one list.
pub(crate) const MOST: usize = 5_000;

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

/// The entries as the server wrote them, in its order, and what the last page said besides.
pub(crate) async fn all(
    connection: &Connection,
    kind: Kind,
    within: Duration,
) -> Result<(Vec<Value>, Map<String, Value>), Fault> {
    let Kind { capability, method, key, words } = kind;
    if !connection.facts.said.capabilities.contains_key(capability) {
        return Ok(Default::default());
    }
    let until = Instant::now() + within;
    let waits = Waits { idle: (Phase::List, within), until: (Phase::List, until, within) };
    let mut entries = Vec::new();
    let mut cursors = HashSet::new();
    let mut params = Map::new();
    for _ in 0..MOST_PAGES {
        let mut page = connection.request(method, params, None, &waits).await?;
        match page.remove(key) {
            Some(Value::Array(more)) => entries.extend(more),
            _ => return Err(Fault::Unreadable("the list is no list")),
        }
        if entries.len() > MOST {
            return Err(refused(format!("it lists more than {MOST} {words}")));
        }
        // An empty cursor is one by the letter, and means the end wherever it is seen.
        let cursor = match page.remove("nextCursor") {
            Some(Value::String(cursor)) if !cursor.is_empty() => cursor,
            _ => return Ok((entries, page)),
        };
        if !cursors.insert(cursor.clone()) {
            return Err(refused(format!("its list of {words} goes round in a circle")));
        }
        params = Map::from_iter([("cursor".to_owned(), Value::String(cursor))]);
    }
    Err(refused(format!("its list of {words} has more than {MOST_PAGES} pages")))
}

fn refused(why: String) -> Fault {
    Fault::Broken { why, cause: None }
}
