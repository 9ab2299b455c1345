//! Step 9: bounds the result in one place; the whole is kept, the model gets the beginning.

use std::sync::Arc;

use super::Batch;
use super::record::asked;
use crate::advice;
use crate::catalog::Listed;
use crate::content::{Content, Part};
use crate::ledger::ResultHandle;
use crate::outcome::ToolOutcome;

pub(super) struct Governed {
    pub(super) outcome: ToolOutcome,
    pub(super) whole: Option<ResultHandle>,
}

pub(super) async fn govern(batch: &Batch, tool: &Listed, outcome: ToolOutcome) -> Governed {
    let bound = tool.spec.limits.max_result_bytes.unwrap_or(batch.gate.limits.max_result_bytes);
    let as_it_is = |outcome| Governed { outcome, whole: None };
    match outcome {
        ToolOutcome::Done(content) if size(&content) > bound => {
            let (content, whole) = cut(batch, content, bound).await;
            Governed { outcome: ToolOutcome::Done(content), whole }
        }
        ToolOutcome::Failed(mut error) => {
            if error.message.len() > bound {
                error.message = beginning(&error.message, bound).to_owned();
            }
            let Some(content) = error.content.take_if(|content| size(content) > bound) else {
                return as_it_is(ToolOutcome::Failed(error));
            };
            let (content, whole) = cut(batch, *content, bound).await;
            error.content = Some(Box::new(content));
            Governed { outcome: ToolOutcome::Failed(error), whole }
        }
        ToolOutcome::Done(_) | ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => {
            as_it_is(outcome)
        }
    }
}

/// What a result adds to a request. Data counts only where no part says it.
fn size(content: &Content) -> usize {
    let parts: usize = content.parts.iter().map(Part::size).sum();
    let references: usize = content.references.iter().map(|r| r.text.len() + r.title.len()).sum();
    let structured = content.structured.as_ref().map_or(0, weight);
    (parts + references).max(structured)
}

/// A cheap lower bound of a value's text, without writing it.
fn weight(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| weight(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| key.len() + weight(value) + 4).sum::<usize>() + 2
        }
    }
}

async fn cut(batch: &Batch, content: Content, bound: usize) -> (Content, Option<ResultHandle>) {
    let whole = Arc::new(content);
    let keeping =
        async { Ok(batch.gate.ledger.keep(batch.plan.caller(), Arc::clone(&whole)).await) };
    let handle = asked(keeping).await.ok().flatten();
    let mut room = bound;
    let mut cut = Content {
        reminder: whole.reminder.clone(),
        extra: whole.extra.clone(),
        ..Content::default()
    };
    for part in &whole.parts {
        match part {
            Part::Text { text, extra } => {
                let text = beginning(text, room).to_owned();
                room -= text.len();
                cut.parts.push(Part::Text { text, extra: extra.clone() });
            }
            _ if part.size() <= room => {
                room -= part.size();
                cut.parts.push(part.clone());
            }
            // Half an image is none.
            Part::Image { .. } | Part::Audio { .. } | Part::File { .. } | Part::Link { .. } => {
                cut.parts.push(Part::text(part.in_words()));
            }
        }
    }
    for reference in &whole.references {
        let mut reference = reference.clone();
        let kept = beginning(&reference.text, room).len();
        reference.text.truncate(kept);
        room -= reference.text.len();
        cut.references.push(reference);
    }
    cut.parts.push(Part::text(advice::cut(bound - room, size(&whole))));
    (cut, handle)
}

/// At most `bytes` bytes of a text, cut between characters.
fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}
