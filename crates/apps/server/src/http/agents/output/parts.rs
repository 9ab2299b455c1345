//! A message as an item, with the places where it cites something.

use serde_json::{Value, json};
use toolcrib_agent::{RunReference, cited_spans};

pub(super) fn message(id: &str, status: &str, content: &[Value]) -> Value {
    json!({
        "type": "message", "id": id, "status": status, "role": "assistant", "content": content,
    })
}

/// A text as a part; `cited`: as [`annotations_of`] tells it.
pub(super) fn part(text: &str, cited: &[Value]) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": cited, "logprobs": [] })
}

/// Where a text cites sources that have an address, without the type. The end is behind the last
/// letter, as the API counts.
pub(in crate::http::agents) fn annotations(text: &str, references: &[RunReference]) -> Vec<Value> {
    if references.is_empty() {
        return Vec::new();
    }
    let cited = cited_spans(text).into_iter().filter_map(|span| {
        let source = references.iter().find(|source| source.number == span.number)?;
        let url = source.url.as_ref()?;
        Some(json!({
            "start_index": span.start, "end_index": span.end, "url": url,
            "title": source.label(),
        }))
    });
    cited.collect()
}

/// The same as Responses has it.
pub(super) fn annotations_of(text: &str, references: &[RunReference]) -> Vec<Value> {
    let mut cited = annotations(text, references);
    for one in &mut cited {
        if let Value::Object(fields) = one {
            fields.insert("type".to_owned(), "url_citation".into());
        }
    }
    cited
}
