//! What is told and written between two steps of a run.

use toolcrib_core::{RunLedgerError, RunStage, TicketId};

use super::{AgentRun, Listener, RunPause, now};
use crate::event::RunEvent;
use crate::model::{ModelFault, ModelFaultKind};
use crate::run::RunEffect;
use crate::run::end::RunEnd;
use crate::stop::StopReason;

impl AgentRun {
    /// Tells an answer that was held back while it came.
    pub(super) fn tell_answer(&mut self, tell: Listener<'_>) {
        if let RunEffect::End(end) = &self.next
            // What a tool said that took over is told with the end.
            && !matches!(end.stop, StopReason::Withheld | StopReason::HandedOver)
            && !end.text.is_empty()
        {
            let delta = end.text.clone();
            self.tell(RunEvent::Text { delta }, tell);
        }
    }

    /// What tells why the run pauses, each once: what is told again would have no number in the
    /// record.
    pub(super) async fn pause_events(&mut self, pause: &RunPause) -> Vec<RunEvent> {
        let mut told = Vec::new();
        match pause {
            RunPause::Ended(_) if std::mem::replace(&mut self.is_told, true) => {}
            RunPause::Ended(end) => {
                told.push(RunEvent::Usage { usage: self.usage });
                told.push(RunEvent::Ended { end: end.clone(), at: self.end_time() });
            }
            RunPause::Held | RunPause::Deferred { .. } => {}
            RunPause::Waiting(tickets) => {
                let before = std::mem::replace(&mut self.told_tickets, tickets.clone());
                // What those wait for that work for it, they tell themselves.
                let own = self.state.waiting_calls();
                let is_own = |ticket: &TicketId| own.iter().any(|one| one.ticket == *ticket);
                let new = tickets.iter().filter(|ticket| !before.contains(ticket));
                let new = new.filter(|ticket| is_own(ticket)).cloned();
                let calls = self.waiting_tools(&new.collect::<Vec<_>>()).await;
                told.extend(calls.into_iter().map(|call| RunEvent::Waiting { call }));
            }
        }
        if let Some(record) = &mut self.record {
            told.iter().cloned().for_each(|event| record.note(event));
        }
        told
    }

    pub(super) fn tell(&mut self, event: RunEvent, tell: Listener<'_>) {
        if let Some(record) = &mut self.record {
            record.note(event.clone());
        }
        tell(event);
    }

    /// Writes what is not written yet.
    pub(super) async fn write(&mut self, pause: Option<&RunPause>) -> Result<(), RunLedgerError> {
        if !std::mem::take(&mut self.is_ahead) {
            return Ok(());
        }
        let (saved, tape) = (self.without_items(), self.tape.drain());
        let Some(record) = &mut self.record else { return Ok(()) };
        let (stage, tickets) = match pause {
            None | Some(RunPause::Held) => (RunStage::Running, Vec::new()),
            Some(RunPause::Waiting(tickets)) => (RunStage::Waiting, tickets.clone()),
            Some(RunPause::Deferred { .. }) => (RunStage::Waiting, Vec::new()),
            Some(RunPause::Ended(_)) => (RunStage::Ended, Vec::new()),
        };
        record.write(&saved, &self.state.items, (stage, tickets), &tape).await
    }

    /// A run that cannot be written goes no further: nothing of it would be known afterwards.
    pub(super) fn unwritten(&mut self, error: &RunLedgerError, tell: Listener<'_>) -> RunEnd {
        let fault = ModelFault {
            kind: ModelFaultKind::Broken,
            message: "the run cannot be written down now, and stands as it was written last"
                .to_owned(),
            detail: Some(error.to_string()),
            retry_after: None,
        };
        let end = RunEnd::of_fault(fault);
        self.next = RunEffect::End(end.clone());
        self.record = None;
        self.is_told = true;
        tell(RunEvent::Ended { end: end.clone(), at: now() });
        end
    }
}
