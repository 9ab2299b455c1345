//! Step 9: bounds the result in one place; the whole is kept, the model gets the beginning.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use super::batch::Batch;
use super::record::guarded;
use crate::call::name::ToolName;
use crate::catalog::CatalogTool;
use crate::gate::batch::options::Audience;
use crate::ledger::ResultHandle;
use crate::outcome::ToolOutcome;
use crate::outcome::content::{Content, Part, Reference};
use crate::outcome::messages;
use crate::policy::limits::CribLimits;
use crate::tool::spec::ToolSpec;

pub(super) struct GovernedResult {
    pub(super) outcome: ToolOutcome,
    pub(super) whole: Option<ResultHandle>,
}

pub(super) async fn govern(
    batch: &Batch,
    tool: &CatalogTool,
    outcome: ToolOutcome,
) -> GovernedResult {
    if batch.audience != Audience::Model {
        return Box::pin(for_programs(batch, tool, outcome)).await;
    }
    let bound = tool.spec.limits.max_result_bytes.unwrap_or(batch.gate.limits.max_result_bytes);
    let as_it_is = |outcome| GovernedResult { outcome, whole: None };
    match outcome {
        ToolOutcome::Done(content) if size(&content) > bound => {
            let (content, whole) = Box::pin(cut(batch, tool, content, bound)).await;
            GovernedResult { outcome: ToolOutcome::Done(content), whole }
        }
        ToolOutcome::Failed(mut error) => {
            if error.message.len() > bound {
                error.message = beginning(&error.message, bound).to_owned();
            }
            let Some(content) = error.content.take_if(|content| size(content) > bound) else {
                return as_it_is(ToolOutcome::Failed(error));
            };
            let (content, whole) = Box::pin(cut(batch, tool, *content, bound)).await;
            error.content = Some(Box::new(content));
            GovernedResult { outcome: ToolOutcome::Failed(error), whole }
        }
        ToolOutcome::Denied { reason } => {
            as_it_is(ToolOutcome::Denied { reason: beginning(&reason, bound).to_owned() })
        }
        ToolOutcome::Done(_) | ToolOutcome::Pending(_) => as_it_is(outcome),
    }
}

/// The same where a program reads it.
async fn for_programs(batch: &Batch, tool: &CatalogTool, outcome: ToolOutcome) -> GovernedResult {
    let bounds = ResultBounds::of(batch, tool);
    let (mut outcome, mut whole) = (outcome, None);
    let content = match &mut outcome {
        ToolOutcome::Done(content) => Some(content),
        ToolOutcome::Failed(error) => {
            if error.message.len() > bounds.text {
                error.message = beginning(&error.message, bounds.text).to_owned();
            }
            error.content.as_deref_mut()
        }
        ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => None,
    };
    if let Some(content) = content.filter(|content| bounds.are_passed_by(content)) {
        let all = Arc::new(std::mem::take(content));
        whole = keep(batch, &all).await;
        *content = bounds.fitted(batch, (tool, whole.as_ref()), &all);
    }
    GovernedResult { outcome, whole }
}

/// How much of a result a program is given: of its texts, and of all that is no text.
struct ResultBounds {
    text: usize,
    data: usize,
}

impl ResultBounds {
    fn of(batch: &Batch, tool: &CatalogTool) -> Self {
        let limits = &batch.gate.limits;
        let data = limits.max_data_bytes;
        let own = tool.spec.limits.max_result_bytes;
        // What nobody set is for models.
        let is_set = limits.max_result_bytes != CribLimits::default().max_result_bytes;
        let text = match batch.audience {
            Audience::Client if !is_set => own.unwrap_or(data),
            Audience::Client | Audience::Program | Audience::Model => {
                own.unwrap_or(limits.max_result_bytes)
            }
        };
        Self { text, data }
    }

    fn are_passed_by(&self, content: &Content) -> bool {
        let is_text = |part: &&Part| matches!(part, Part::Text { .. });
        let texts: Vec<_> = content.parts.iter().filter(is_text).map(Part::size).collect();
        let joints = texts.len().saturating_sub(1) * JOINT;
        let references = content.references.iter().map(|one| heading(one) + one.text.len());
        let reminder = content.reminder.as_ref().map_or(0, String::len);
        let text = texts.iter().sum::<usize>() + joints + references.sum::<usize>() + reminder;
        let media = content.parts.iter().filter(|part| !is_text(part));
        let data = media.map(Part::size).sum::<usize>() + beside(content);
        text > self.text || data > self.data
    }

    /// As much of it as there is room for, in its order.
    fn fitted(
        &self,
        batch: &Batch,
        (tool, handle): (&CatalogTool, Option<&ResultHandle>),
        whole: &Content,
    ) -> Content {
        let (mut text, mut data) = (ByteBudget(self.text), ByteBudget(self.data));
        let mut fitted = Content::default();
        if let Some(structured) = &whole.structured
            && data.takes(weight(structured))
        {
            fitted.structured = Some(structured.clone());
        }
        if data.takes(extras(&whole.extra)) {
            fitted.extra.clone_from(&whole.extra);
        }
        let mut is_cut = false;
        for part in &whole.parts {
            let size = part.size();
            let room = if matches!(part, Part::Text { .. }) { &mut text } else { &mut data };
            if room.takes(size) {
                fitted.parts.push(part.clone());
                continue;
            }
            is_cut = true;
            let words = text.beginning(&part.in_words());
            match part {
                _ if words.is_empty() => {}
                Part::Text { extra, .. } => {
                    fitted.parts.push(Part::Text { text: words, extra: extra.clone() });
                }
                // Half an image is none.
                Part::Image { .. } | Part::Audio { .. } | Part::File { .. } | Part::Link { .. } => {
                    fitted.parts.push(Part::text(words));
                }
            }
        }
        for reference in &whole.references {
            if !text.takes(heading(reference)) {
                break;
            }
            let passage = text.beginning(&reference.text);
            fitted.references.push(Reference { text: passage, ..reference.clone() });
        }
        fitted.reminder = whole.reminder.as_ref().map(|reminder| text.beginning(reminder));
        if is_cut {
            let shown: usize = fitted.parts.iter().map(Part::size).sum();
            let all: usize = whole.parts.iter().map(Part::size).sum();
            fitted.parts.push(told(batch, tool, handle, (shown, all)));
        }
        fitted
    }
}

/// What a program reads beside the parts.
fn beside(content: &Content) -> usize {
    content.structured.as_ref().map_or(0, weight) + extras(&content.extra)
}

fn extras(extra: &serde_json::Map<String, serde_json::Value>) -> usize {
    extra.iter().map(|(key, value)| key.len() + weight(value)).sum()
}

/// Keeps the whole of a result for its caller, if there is a place for it.
async fn keep(batch: &Batch, whole: &Arc<Content>) -> Option<ResultHandle> {
    let keeping =
        async { Ok(batch.gate.ledger.keep(batch.plan.caller(), Arc::clone(whole)).await) };
    guarded(keeping).await.ok().flatten()
}

/// Says that something is cut, and how the whole is read.
fn told(
    batch: &Batch,
    tool: &CatalogTool,
    handle: Option<&ResultHandle>,
    sizes: (usize, usize),
) -> Part {
    let reader = || told_of(batch, batch.gate.marks.reader.as_ref());
    let reader = handle.and_then(|handle| Some((handle, reader()?)));
    Part::text(messages::cut(sizes, tool.spec.harmless_to_repeat(), reader))
}

/// What a result adds to a request. Data counts only where no part says it.
fn size(content: &Content) -> usize {
    let parts: usize = content.parts.iter().map(Part::size).sum();
    let joints = content.parts.len().saturating_sub(1) * JOINT;
    let references = content.references.iter();
    let references: usize = references.map(|one| heading(one) + one.text.len()).sum();
    let reminder = content.reminder.as_ref().map_or(0, String::len);
    let structured = content.structured.as_ref().map_or(0, weight);
    (parts + joints + references + reminder).max(structured)
}

/// What stands between two pieces of a text.
const JOINT: usize = 2;

/// What a source takes besides its passage: its number, its names, and what is around them.
fn heading(reference: &Reference) -> usize {
    let url = reference.url.as_ref().map_or(0, String::len);
    reference.id.len() + reference.title.len() + url + 16
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

async fn cut(
    batch: &Batch,
    tool: &CatalogTool,
    content: Content,
    bound: usize,
) -> (Content, Option<ResultHandle>) {
    let whole = Arc::new(content);
    let handle = keep(batch, &whole).await;
    let mut room = ByteBudget(bound);
    let mut cut = Content::default();
    for part in &whole.parts {
        let joint = if cut.parts.is_empty() { 0 } else { JOINT };
        if room.0 <= joint {
            break;
        }
        room.0 -= joint;
        cut.parts.push(match part {
            Part::Text { text, extra } => {
                Part::Text { text: room.beginning(text), extra: extra.clone() }
            }
            _ if part.size() <= room.0 => {
                room.0 -= part.size();
                part.clone()
            }
            // Half an image is none.
            Part::Image { .. } | Part::Audio { .. } | Part::File { .. } | Part::Link { .. } => {
                Part::text(room.beginning(&part.in_words()))
            }
        });
    }
    for reference in &whole.references {
        if heading(reference) > room.0 {
            break;
        }
        room.0 -= heading(reference);
        let text = room.beginning(&reference.text);
        cut.references.push(Reference { text, ..reference.clone() });
    }
    cut.reminder = whole.reminder.as_ref().map(|reminder| room.beginning(reminder));
    let sizes = (bound - room.0, size(&whole));
    cut.parts.push(told(batch, tool, handle.as_ref(), sizes));
    (cut, handle)
}

/// The tool by which this caller can look a call up.
pub(super) fn looker(batch: &Batch) -> Option<&ToolName> {
    told_of(batch, batch.gate.marks.looker.as_ref())
}

/// The name of a tool of ours, for whoever may see it.
fn told_of<'a>(batch: &Batch, own: Option<&'a Arc<ToolSpec>>) -> Option<&'a ToolName> {
    let own = own?;
    let caller = batch.plan.caller();
    // Another tool of that name would be called in its place.
    let other = batch.plan.catalog().get(own.name.as_str());
    if other.is_some_and(|other| *other.spec != **own) {
        return None;
    }
    let seeing = AssertUnwindSafe(|| batch.gate.policy.sees(caller, own));
    std::panic::catch_unwind(seeing).unwrap_or(false).then_some(&own.name)
}

/// Bytes that are left.
struct ByteBudget(usize);

impl ByteBudget {
    /// Whether there is room for something whole, which it then takes.
    fn takes(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.0;
        if fits {
            self.0 -= bytes;
        }
        fits
    }

    /// As much of a text as there is room for, which it takes.
    fn beginning(&mut self, text: &str) -> String {
        let text = beginning(text, self.0).to_owned();
        self.0 -= text.len();
        text
    }
}

/// At most `bytes` bytes of a text, cut between characters.
fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}
