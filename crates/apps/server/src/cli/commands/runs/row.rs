//! A run in a list.

use serde_json::{Value, json};
use toolcrib_agent::Cassette;

/// What is told of a run in a list: its JSON.
pub(super) fn row(cassette: &Cassette) -> Value {
    let head = cassette.head();
    let mut row = json!(head);
    // One that cannot be read is there all the same.
    let Ok(saved) = cassette.saved() else { return row };
    let usage = saved.usage();
    if let Value::Object(fields) = &mut row {
        fields.insert("turns".to_owned(), saved.turns().into());
        fields.insert("tokens".to_owned(), usage.total().into());
        fields.insert("usage".to_owned(), json!(usage));
        let stop = saved.end().map(|end| json!(end.stop));
        fields.extend(stop.map(|stop| ("stop".to_owned(), stop)));
    }
    row
}
