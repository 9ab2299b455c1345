//! How much a model reads at a time, and a request that sums up what is more.

use super::client::ModelClient;
use super::fault::{ModelFault, ModelFaultKind};
use super::request::ModelRequest;
use super::request::choice::CallChoice;
use crate::item::ThreadItem;
use crate::item::compaction::{SUMMARY_TASK, first_part, transcript};
use crate::usage::{Usage, UsageSource, tokens};

/// Bytes of a token, about.
const TOKEN: usize = 4;
/// Tokens of a summary at the most.
const LONGEST_SUMMARY: u64 = 2048;
/// A model whose tokens are so much shorter than ours is believed no more, in percent.
const HEAVIEST: u64 = 400;

/// What is known of how much a model reads.
#[derive(Debug)]
pub(crate) struct ModelRoom {
    /// Tokens that it counts for a hundred of ours.
    heaviness: u64,
    /// It said that a request of so many bytes is too long, and no other was answered since.
    too_long: Option<(usize, ModelFault)>,
}

impl Default for ModelRoom {
    fn default() -> Self {
        Self { heaviness: 100, too_long: None }
    }
}

impl ModelRoom {
    /// Bytes that a request may weigh; `None`: nobody knows.
    pub(crate) fn bytes(&self, model: &ModelClient) -> Option<usize> {
        let known = room(model).map(|bytes| {
            let heaviness = usize::try_from(self.heaviness).unwrap_or(usize::MAX);
            bytes.saturating_mul(100) / heaviness
        });
        let halved = self.too_long.as_ref().map(|(weight, _)| weight / 2);
        known.into_iter().chain(halved).min()
    }

    /// Why a request was too long, if no other was answered since.
    pub(crate) fn fault(&self) -> Option<&ModelFault> {
        self.too_long.as_ref().map(|(_, fault)| fault)
    }

    /// The model answered a request of so many bytes.
    pub(crate) fn answered(&mut self, weight: usize, usage: &Usage) {
        self.too_long = None;
        if usage.source == UsageSource::Reported {
            let percent = usage.input_tokens.saturating_mul(100) / tokens(weight).max(1);
            self.heaviness = percent.clamp(100, HEAVIEST);
        }
    }

    /// The model refused a request of so many bytes. Whether another one is worth a try.
    pub(crate) fn refused(&mut self, weight: usize, fault: &ModelFault) -> bool {
        let is_first = fault.kind == ModelFaultKind::TooLong && self.too_long.is_none();
        if is_first {
            self.too_long = Some((weight, fault.clone()));
        }
        is_first
    }
}

/// Bytes that a request may weigh beside the answer to it.
fn room(model: &ModelClient) -> Option<usize> {
    let settings = model.settings();
    let tokens = settings.context?.saturating_sub(settings.max_tokens);
    Some(usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(TOKEN))
}

/// A share of what fits is used: what a request weighs is an estimate.
pub(crate) fn share(room: usize) -> usize {
    room / 5 * 4
}

/// One request for a summary.
pub(crate) struct SummaryDraft {
    items: [ThreadItem; 1],
    pub(crate) max_tokens: u64,
}

impl SummaryDraft {
    /// `room`: bytes that the request may weigh, if anybody knows.
    pub(crate) fn of(items: &[ThreadItem], room: Option<usize>, model: &ModelClient) -> Self {
        let most = room.map_or(usize::MAX, summed_at_once);
        let text = transcript(items, most);
        let max_tokens = u64::from(model.settings().max_tokens).min(LONGEST_SUMMARY);
        let fits = room.map(|room| tokens(summary_size(room)));
        let max_tokens = max_tokens.min(fits.unwrap_or(u64::MAX));
        Self { items: [ThreadItem::user(text)], max_tokens }
    }

    pub(crate) fn request(&self) -> ModelRequest<'_> {
        ModelRequest {
            instructions: SUMMARY_TASK,
            items: &self.items,
            plan: None,
            is_last: true,
            choice: &CallChoice::Free,
            caller_tools: &[],
            max_tokens: self.max_tokens,
            before: None,
        }
    }
}

/// Bytes of a summary at the most, where a request may have so many.
pub(crate) fn summary_size(room: usize) -> usize {
    (room / 8).max(64 * TOKEN)
}

/// Bytes of a thread that are summed up by one request.
pub(crate) fn summed_at_once(room: usize) -> usize {
    share(room).saturating_sub(SUMMARY_TASK.len())
}

/// A thread in short, by as many requests as it needs. `used` counts what each cost.
///
/// # Errors
/// The model gave no answer.
pub async fn summary_of(
    model: &ModelClient,
    thread: &[ThreadItem],
    used: &mut Usage,
) -> Result<String, ModelFault> {
    let room = room(model);
    let mut told = String::new();
    let mut rest = thread;
    while !rest.is_empty() {
        let most = room.map_or(usize::MAX, |room| summed_at_once(room).saturating_sub(told.len()));
        let (part, further) = first_part(rest, most);
        rest = further;
        let before = (!told.is_empty()).then(|| ThreadItem::Summary { text: told, hides: 0 });
        let part: Vec<_> = before.into_iter().chain(part.iter().cloned()).collect();
        let draft = SummaryDraft::of(&part, room, model);
        told = model.answer(&draft.request(), used, &mut |_| {}).await?.text;
    }
    Ok(told)
}
