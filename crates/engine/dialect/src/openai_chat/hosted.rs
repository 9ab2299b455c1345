//! What a chat tells of the search that the provider made: its citations alone.

use serde_json::{Value, json};

use super::calls::message;
use crate::hosted::calls::HostedWork;

/// The key of a body under which the search is asked for, in the place of a tool.
pub(crate) const SEARCH: &str = "web_search_options";

pub(super) fn read(reply: &Value) -> HostedWork {
    let mut work = HostedWork::default();
    let notes = message(reply).and_then(|message| message.get("annotations")?.as_array());
    for note in notes.into_iter().flatten() {
        if let Some(cited) = note.get("url_citation") {
            work.cite(cited.get("url"), cited.get("title"), None);
        }
    }
    if !work.citations.is_empty() {
        let found: Vec<_> = work.citations.iter().filter_map(|cited| cited.url.clone()).collect();
        work.call(None, SEARCH, &json!({})).came_to(&found.join("\n"), false);
    }
    work
}

pub(super) fn is_of(definition: &Value, word: &str) -> bool {
    definition.get(word).is_some()
}
