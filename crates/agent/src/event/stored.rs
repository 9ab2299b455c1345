//! Events as they are written down: the pieces of a text take one row, and stay apart.

use serde::{Deserialize, Serialize};

use super::RunEvent;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum StoredEvent {
    Text { text_pieces: Vec<String> },
    Reasoning { reasoning_pieces: Vec<String> },
    One(RunEvent),
}

/// Puts the pieces that follow each other together.
pub(crate) fn packed(events: &[RunEvent]) -> Vec<StoredEvent> {
    let mut rows: Vec<StoredEvent> = Vec::new();
    for event in events {
        match (rows.last_mut(), event) {
            (Some(StoredEvent::Text { text_pieces: pieces }), RunEvent::Text { delta })
            | (
                Some(StoredEvent::Reasoning { reasoning_pieces: pieces }),
                RunEvent::Reasoning { delta },
            ) => pieces.push(delta.clone()),
            (_, RunEvent::Text { delta }) => {
                rows.push(StoredEvent::Text { text_pieces: vec![delta.clone()] });
            }
            (_, RunEvent::Reasoning { delta }) => {
                rows.push(StoredEvent::Reasoning { reasoning_pieces: vec![delta.clone()] });
            }
            (_, event) => rows.push(StoredEvent::One(event.clone())),
        }
    }
    rows
}

/// How a row begins that has no event: what came to the run, which a replay reads.
const INPUT: &str = "{\"input\":";

/// What came to a run, as a row among its events.
pub(crate) fn input_row(came: &impl Serialize) -> serde_json::Result<String> {
    Ok(format!("{INPUT}{}}}", serde_json::to_string(came)?))
}

/// The JSON of what came; `None`: the row has events.
pub(crate) fn input_of(row: &str) -> Option<&str> {
    row.strip_prefix(INPUT)?.strip_suffix('}')
}

/// The events of rows that were written, in order.
///
/// # Errors
/// A row is of another release, or damaged.
pub fn events_of(rows: &[String]) -> Result<Vec<RunEvent>, serde_json::Error> {
    let mut events = Vec::new();
    for row in rows.iter().filter(|row| input_of(row).is_none()) {
        match serde_json::from_str(row)? {
            StoredEvent::Text { text_pieces } => {
                events.extend(text_pieces.into_iter().map(|delta| RunEvent::Text { delta }));
            }
            StoredEvent::Reasoning { reasoning_pieces } => {
                let pieces = reasoning_pieces.into_iter();
                events.extend(pieces.map(|delta| RunEvent::Reasoning { delta }));
            }
            StoredEvent::One(event) => events.push(event),
        }
    }
    Ok(events)
}
