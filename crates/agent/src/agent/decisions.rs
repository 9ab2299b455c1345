//! Calls that wait for a person: who decides about them, and how the run hears of it.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolcrib_core::{
    Call, CallFlag, Decision, LedgerError, ParkedCall, Redemption, Response, TicketError, TicketId,
    ToolName,
};

use super::children::work::is_of_run;
use super::{AgentRun, Listener};
use crate::event::{CallEnd, RunEvent};
use crate::run::{RunEffect, RunInput, WaitingCall};

/// How long the end of a call is waited for that somebody else said yes to.
const PATIENCE: Duration = Duration::from_hours(24);

impl AgentRun {
    /// The call that waits under a ticket.
    pub async fn parked(&self, ticket: &TicketId) -> Option<ParkedCall> {
        self.agent.crib.ticket(&self.caller, ticket).await.ok().flatten()
    }

    /// Decides about a ticket that the run waits for. An error leaves the run as it was.
    pub async fn decide(
        &mut self,
        ticket: &TicketId,
        decision: Decision,
        tell: Listener<'_>,
    ) -> Result<(), TicketError> {
        self.load_children(tell).await;
        let mut children = self.children.open.values_mut();
        if let Some(child) = children.find(|child| child.tickets().contains(ticket)) {
            let mut relay = child.relay(&mut *tell);
            return Box::pin(child.run.decide(ticket, decision, &mut relay)).await;
        }
        let run = self.state.run.clone();
        let redemption = Redemption {
            caller: &self.caller,
            ticket,
            decision,
            run: &run,
            options: self.options.clone(),
        };
        let response = self.agent.crib.redeem(redemption).await?;
        self.hear(ticket, response, tell);
        Ok(())
    }

    /// Looks what became of the tickets that the run waits for, whoever decided about them. Then it
    /// goes on with [`AgentRun::go`].
    pub async fn look(&mut self, tell: Listener<'_>) {
        self.load_children(tell).await;
        for child in self.children.open.values_mut() {
            let mut relay = child.relay(&mut *tell);
            Box::pin(child.run.look(&mut relay)).await;
        }
        let mut seen: Option<TicketId> = None;
        for WaitingCall { ticket, call, is_begun } in self.state.waiting_calls() {
            if is_of_run(&ticket) {
                continue;
            }
            // Equal calls of a batch wait under one.
            if seen.replace(ticket.clone()).as_ref() == Some(&ticket) {
                continue;
            }
            match self.agent.crib.ticket(&self.caller, &ticket).await {
                // It is open, or nobody can tell now.
                Ok(Some(_)) | Err(_) => {}
                Ok(None) => match self.decided(&ticket, call.call(), is_begun).await {
                    Ok(Some(response)) => self.hear(&ticket, response, tell),
                    Ok(None) => {
                        let may_have_run = is_begun || self.past.is_old;
                        self.come(RunInput::Lapsed { ticket, may_have_run });
                    }
                    Err(_) => {}
                },
            }
        }
    }

    pub(super) fn hear(&mut self, ticket: &TicketId, mut response: Response, tell: Listener<'_>) {
        let waiting = self.state.waiting_calls();
        if let Some(waits) = waiting.iter().find(|one| one.ticket == *ticket) {
            // The record does not tell, and the run remembers what it has used.
            let tool = || ToolName::new(waits.call.call().name).ok();
            response.debug.tool = response.debug.tool.or_else(tool);
        }
        for WaitingCall { call, .. } in waiting.iter().filter(|one| one.ticket == *ticket) {
            let Call { id, name, .. } = call.call();
            let end = CallEnd::of(&id, &name, &response);
            self.tell(RunEvent::CallDone { response: end }, tell);
        }
        self.come(RunInput::Decided(ticket.clone(), Box::new(response)));
    }

    /// What came of a ticket that is not open any more; `None`: nobody decided about it.
    async fn decided(
        &self,
        ticket: &TicketId,
        call: Call,
        is_begun: bool,
    ) -> Result<Option<Response>, LedgerError> {
        let of_ticket = self.agent.crib.redeemed(&self.caller, ticket, PATIENCE).await?;
        // A key that may be forgotten would have the call run once more.
        if self.past.is_old || !(is_begun || of_ticket.is_some()) {
            return Ok(of_ticket);
        }
        // What a process before heard is on record in full under the key of the call alone.
        let mut again = [call];
        let Ok(plan) = self.plan() else { return Ok(of_ticket) };
        self.name_calls(&plan, &mut again);
        let [call] = again;
        if call.key.is_none() {
            return Ok(of_ticket);
        }
        let mut report = self.crib().run_with(&plan, vec![call], self.options.clone()).await;
        let of_key = report.responses.pop();
        let is_of_before = |flag: &CallFlag| matches!(flag, CallFlag::Replayed | CallFlag::Resumed);
        let of_key = of_key.filter(|told| told.debug.flags.iter().any(is_of_before));
        Ok(of_key.or(of_ticket))
    }

    /// Ends a run that waits: its calls are refused, so that nobody lets them run later. `false`:
    /// one of them cannot be refused now, and the run waits as before.
    pub async fn stop(&mut self, tell: Listener<'_>) -> bool {
        self.load_children(tell).await;
        for child in self.children.open.values_mut() {
            let mut relay = child.relay(&mut *tell);
            Box::pin(child.run.stop(&mut relay)).await;
        }
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        self.go_on_with_children(tell, &cancelled).await;
        for WaitingCall { ticket, .. } in self.state.waiting_calls() {
            if is_of_run(&ticket) {
                continue;
            }
            let reason = "the run was cancelled".to_owned();
            // One that somebody decided about in between is on record.
            let _ = self.decide(&ticket, Decision::Deny { reason }, tell).await;
        }
        self.look(tell).await;
        if self.is_waiting() {
            return false;
        }
        if matches!(self.next, RunEffect::End(_)) {
            self.is_ahead = true;
        } else {
            self.come(RunInput::Cancelled);
        }
        true
    }

    /// Ends a run that another process drove, and that nobody waits for: nothing of it begins any
    /// more.
    pub async fn abandon(&mut self, tell: Listener<'_>) {
        if self.is_waiting() {
            self.stop(tell).await;
            return;
        }
        self.abandon_children(tell).await;
        if !matches!(self.next, RunEffect::End(_)) {
            self.come(RunInput::Abandoned);
        }
    }

    /// Whether it waits for a person.
    pub fn is_waiting(&self) -> bool {
        matches!(self.next, RunEffect::Wait(_)) && self.children.ready().is_empty()
    }

    /// Whether one that works for it waits for a person.
    pub fn has_waiting_children(&self) -> bool {
        self.state.waiting_calls().iter().any(|waiting| is_of_run(&waiting.ticket))
    }

    /// Ends a run that waits: whoever asked decides, and a next run of the thread goes on.
    ///
    /// What waits in a run that works for it cannot be taken up by a next one: there the model is
    /// told, as by [`AgentRun::go_on`].
    pub fn hand_back(&mut self) {
        if self.has_waiting_children() {
            return self.go_on();
        }
        self.come(RunInput::HandBack);
    }

    /// Waits for nobody any more: the model is told that its calls wait.
    pub fn go_on(&mut self) {
        if self.has_waiting_children() {
            // They answer first, and say what waits.
            self.children.open.values_mut().for_each(|child| child.run.go_on());
            return;
        }
        self.come(RunInput::GoOn);
    }
}
