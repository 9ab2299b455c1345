//! What calls came to, as the thread is told of it.

use serde_json::json;
use toolcrib_core::Fingerprint;
use toolcrib_dialect::Dialect;

use super::slot::CallSlot;
use super::{DoneCall, RunState};
use crate::item::{CallText, Echo, ResultText, ThreadItem};
use crate::model::messages::merged;

/// The same call with the same result so often is not run once more.
const MOST_REPEATS: usize = 3;

impl RunState {
    /// What this run added to its thread.
    pub(crate) fn own_items(&self) -> &[ThreadItem] {
        self.items.get(self.began_at..).unwrap_or_default()
    }

    /// Whether a result of this id is that of a call that came to its end.
    pub(crate) fn has_run(&self, call_id: &str) -> bool {
        let calls = self.own_items().iter().filter_map(|item| match item {
            ThreadItem::Assistant { calls, .. } => Some(calls),
            ThreadItem::System { .. }
            | ThreadItem::User { .. }
            | ThreadItem::Results { .. }
            | ThreadItem::Summary { .. } => None,
        });
        let of_id = calls.flatten().filter(|call| call.id == call_id).map(call_print);
        of_id.into_iter().any(|print| self.done.iter().any(|done| done.call == print))
    }

    /// The answer to a call that brought the same result too often already.
    pub(super) fn repeated(&self, call: &CallText) -> Option<ResultText> {
        let called = call_print(call);
        let mut results = self.done.iter().filter(|done| done.call == called).rev();
        let last = results.next()?;
        let repeats = 1 + results.take_while(|done| done.result == last.result).count();
        (repeats >= MOST_REPEATS).then(|| ResultText {
            call_id: call.id.clone(),
            name: call.name.clone(),
            text: format!(
                "This call was made {repeats} times and gave the same each time; it was not run \
                 again. Its result stands above."
            ),
            is_error: true,
        })
    }

    pub(super) fn push_results(
        &mut self,
        slots: &[CallSlot],
        refused: &[ResultText],
        dialect: &dyn Dialect,
    ) {
        let results = self.results(slots, refused, dialect);
        self.items.extend(results);
    }

    /// What came of a batch, as the thread is to have it. It is remembered here.
    pub(super) fn results(
        &mut self,
        slots: &[CallSlot],
        refused: &[ResultText],
        dialect: &dyn Dialect,
    ) -> Option<ThreadItem> {
        let of_turn = self.items.iter().rev().find_map(|item| match item {
            ThreadItem::Assistant { calls, .. } => Some(calls.clone()),
            ThreadItem::System { .. }
            | ThreadItem::User { .. }
            | ThreadItem::Results { .. }
            | ThreadItem::Summary { .. } => None,
        });
        for slot in slots.iter().filter(|slot| slot.waits.is_none()) {
            let call = of_turn.iter().flatten().find(|call| call.id == slot.result.call_id);
            if let Some(call) = call {
                let result = Fingerprint::of(&slot.result.text.clone().into());
                self.done.push(DoneCall { call: call_print(call), result });
            }
        }
        let results: Vec<_> =
            slots.iter().map(|slot| slot.result.clone()).chain(refused.iter().cloned()).collect();
        // What the API shows of a result beside its words (images, files) only the dialect knows.
        let echo = refused.is_empty().then(|| Echo {
            dialect: dialect.name().to_owned(),
            messages: merged(slots.iter().flat_map(|slot| slot.messages.iter().cloned())),
        });
        (!results.is_empty()).then_some(ThreadItem::Results { results, echo })
    }
}

fn call_print(call: &CallText) -> Fingerprint {
    Fingerprint::of(&json!([call.name, call.arguments]))
}
