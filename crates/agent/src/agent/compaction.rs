//! A thread that grows beyond what its model reads: the oldest part is summed up by the model itself.

use std::borrow::Cow;
use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::AgentRun;
use super::tape::{TurnOutcome, TurnTeller};
use super::trace::AskedRequest;
use super::turn::TurnDraft;
use crate::item::ThreadItem;
use crate::item::compaction::{CutGoal, cut, hidden_by, shortened, shown, summary};
use crate::model::room::{SummaryDraft, share, summary_size, summed_at_once};
use crate::model::{CallChoice, ModelFault, ModelFaultKind, ModelRequest};
use crate::run::trace::RequestPurpose;
use crate::usage::{Usage, tokens};

/// How often results are cut anew until they fit: letters may weigh more than their bytes.
const CUTS: usize = 4;

impl AgentRun {
    /// The items of a request, as many as the model reads; or what comes before it is asked.
    pub(super) async fn fitted(
        &mut self,
        draft: &TurnDraft,
        teller: &mut TurnTeller<'_>,
        cancel: &CancellationToken,
    ) -> Result<Vec<ThreadItem>, TurnOutcome> {
        let items = draft.guided(&shown(&self.state.items)).into_owned();
        let Some(room) = self.room.bytes(&self.agent.model) else { return Ok(items) };
        let share = share(room);
        if self.weight(draft, &items) <= share {
            return Ok(items);
        }
        if let Some(hides) = self.next_cut(draft, share) {
            return Err(self.sum_up(hides, room, draft.is_last, (teller, cancel)).await);
        }
        self.squeezed(draft, &items, room).map_err(TurnOutcome::Failed)
    }

    fn weight(&self, draft: &TurnDraft, items: &[ThreadItem]) -> usize {
        self.agent.model.weight(&draft.request(items, 0))
    }

    /// How many items are to be hidden, if that helps.
    fn next_cut(&self, draft: &TurnDraft, share: usize) -> Option<usize> {
        let model = &self.agent.model;
        let bare = |items: &[ThreadItem]| {
            model.weight(&ModelRequest {
                instructions: "",
                items,
                plan: None,
                is_last: false,
                choice: &CallChoice::Free,
                caller_tools: &[],
                max_tokens: 0,
                before: None,
            })
        };
        let nothing = bare(&[]);
        let goal = CutGoal {
            fixed: self.weight(draft, &[]) + draft.guidance_size() + summary_size(share),
            whole: share / 2,
            at_once: summed_at_once(share).saturating_sub(summary_size(share)),
            least: share / 8,
        };
        cut(&self.state.items, &goal, |turn| bare(turn).saturating_sub(nothing))
    }

    /// Has the model sum up what is hidden with these items. Where it cannot, or nobody may pay for
    /// it any more, the rest goes on without.
    async fn sum_up(
        &mut self,
        hides: usize,
        room: usize,
        is_last: bool,
        (teller, cancel): (&mut TurnTeller<'_>, &CancellationToken),
    ) -> TurnOutcome {
        let part = hidden_by(&self.state.items, hides);
        let model = Arc::clone(&self.agent.model);
        let draft = SummaryDraft::of(&part, Some(room), &model);
        let weight = model.weight(&draft.request());
        let text = match self.account.reserve_aside(tokens(weight), draft.max_tokens) {
            Err(stop) if !is_last => return TurnOutcome::Exhausted(stop),
            Err(_) => None,
            Ok(reserved) => {
                let mut used = Usage::default();
                let max_tokens = reserved.output_tokens;
                let request = ModelRequest { is_last, max_tokens, ..draft.request() };
                let (began, mut unheard) = (Instant::now(), |_| {});
                let answered = self.asked(&request, &mut used, &mut unheard, cancel).await;
                if answered.is_err() {
                    used.add(Usage::estimated(weight, 0));
                }
                self.account.settle(reserved, &used);
                teller.used.add(used);
                self.remember(AskedRequest {
                    purpose: RequestPurpose::Summary,
                    tools: None,
                    guidance: None,
                    entries: part.len(),
                    weight,
                    usage: used,
                    took: began.elapsed(),
                    notes: Vec::new(),
                    fault: answered.as_ref().ok().and_then(|answered| answered.as_ref().err()),
                });
                match answered {
                    Ok(Ok(answer)) => Some(answer.text),
                    Ok(Err(fault)) if is_of_content(&fault) => None,
                    Ok(Err(fault)) => return self.failed(fault),
                    Err(outcome) => return outcome,
                }
            }
        };
        // Of what could not be summed up, the summary before stays.
        let before = summary(&self.state.items).map(|(text, _)| text.to_owned());
        let text = text.filter(|text| !text.trim().is_empty()).or(before).unwrap_or_default();
        let text = cut_to(text, summary_size(room));
        TurnOutcome::Compacted { hides, text }
    }

    /// The same with shorter results, where nothing more can be summed up.
    fn squeezed(
        &self,
        draft: &TurnDraft,
        items: &[ThreadItem],
        room: usize,
    ) -> Result<Vec<ThreadItem>, ModelFault> {
        let whole = self.weight(draft, items);
        let (mut squeezed, mut weight, mut excess) = (Cow::Borrowed(items), whole, 0);
        for _ in 0..CUTS {
            if weight <= share(room) {
                break;
            }
            excess += weight - share(room);
            squeezed = Cow::Owned(shortened(items, excess));
            weight = self.weight(draft, &squeezed);
        }
        if let Some(fault) = self.room.fault().filter(|_| weight >= whole) {
            return Err(fault.clone());
        }
        if weight > room {
            return Err(self.does_not_fit(draft, weight, room));
        }
        Ok(squeezed.into_owned())
    }

    fn does_not_fit(&self, draft: &TurnDraft, weight: usize, room: usize) -> ModelFault {
        let model = &self.agent.model.settings().name;
        let fixed = tokens(self.weight(draft, &[]));
        ModelFault {
            kind: ModelFaultKind::TooLong,
            message: format!(
                "the thread does not fit into what the model `{model}` reads, even with its older \
                 part summed up: about {} tokens of {} (instructions and tools: {fixed}). Begin a \
                 new thread, send less at a time, or look at `context` of `[model]`",
                tokens(weight),
                tokens(room),
            ),
            detail: None,
            retry_after: None,
        }
    }
}

/// Whether a model does not sum a thread up because of what it says.
fn is_of_content(fault: &ModelFault) -> bool {
    match fault.kind {
        ModelFaultKind::TooLong | ModelFaultKind::Blocked | ModelFaultKind::Refused => true,
        ModelFaultKind::Unreachable
        | ModelFaultKind::Unauthorized
        | ModelFaultKind::NotFound
        | ModelFaultKind::RateLimited
        | ModelFaultKind::Unavailable
        | ModelFaultKind::Timeout
        | ModelFaultKind::Broken => false,
    }
}

fn cut_to(mut text: String, most: usize) -> String {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}
