//! What those have to say that worked for a run, as results of its calls.

use toolcrib_core::{
    Call, Content, ErrorKind, PendingTicket, Response, TicketId, ToolError, ToolOutcome,
};

use super::super::AgentRun;
use super::work::{ChildOutcomes, EndedChild, is_of_run};
use crate::run::RunEffect;
use crate::team::answer::{DelegationAnswer, DelegationStatus, EndedRun};
use crate::usage::Usage;

impl AgentRun {
    /// What the ended ones say, each under its ticket. `used`: gets what they cost.
    pub(super) fn results_of(
        &mut self,
        outcomes: ChildOutcomes,
        used: &mut Usage,
    ) -> Vec<(TicketId, Response)> {
        let mut results = Vec::new();
        for (ticket, call) in outcomes.broken {
            let why = "the specialist broke off by a fault of ours; what it called may have run";
            results.push((ticket, *failed(&call, why.to_owned())));
        }
        for EndedChild { ticket, mut child, end, is_late } in outcomes.ended {
            self.note_child(&mut child, end.stop);
            used.add(child.run.usage);
            let (_, calls, _, _) = child.run.account.totals();
            let (state, usage, thread) = (&child.run.state, child.run.usage, &*child.thread);
            let mut answer =
                DelegationAnswer::of(&EndedRun { state, end: &end, usage, calls, thread, is_late });
            self.state.team.was_given(child.task, &answer.answer);
            if !answer.missing.is_empty() {
                answer.hint = Some(if self.state.team.may_replan() {
                    "Plan anew once: another specialist, or a tool of yours, may do what is missing."
                } else {
                    "Do not plan anew once more: tell the user what is missing."
                });
            }
            let mut response = response(&child.call, &answer, child.hands_over);
            response.debug.ran = child.began.elapsed();
            if response.handed_over {
                response.outcome = ToolOutcome::Done(Content::text(answer.answer.clone()));
            }
            if self.kept_at.ledger.is_none() {
                let items = child.run.state.items;
                self.children.threads.insert(child.thread, (child.run.agent.name.clone(), items));
            }
            results.push((ticket, response));
        }
        results
    }

    pub(super) fn waiting_result(&self, ticket: &TicketId) -> Response {
        let call = self.children.open.get(ticket).map(|child| child.call.clone());
        let pending = PendingTicket {
            ticket: ticket.clone(),
            reason: "the specialist waits for a person".to_owned(),
            question: None,
        };
        Response::of_call(call.unwrap_or_default(), ToolOutcome::Pending(pending))
    }

    /// The tickets of people that it waits for, those of its children among them.
    pub(crate) fn open_tickets(&self) -> Vec<TicketId> {
        let RunEffect::Wait(tickets) = &self.next else { return Vec::new() };
        self.tickets_of_people(tickets)
    }

    pub(in crate::agent) fn tickets_of_people(&self, tickets: &[TicketId]) -> Vec<TicketId> {
        let mut all = Vec::new();
        for ticket in tickets {
            match self.children.open.get(ticket) {
                Some(child) => all.extend(child.tickets()),
                None if is_of_run(ticket) => {}
                None => all.push(ticket.clone()),
            }
        }
        all
    }
}

fn response(call: &Call, answer: &DelegationAnswer, hands_over: bool) -> Response {
    let outcome = if answer.is_failed() {
        ToolOutcome::Failed(ToolError::new(ErrorKind::Tool, answer.to_text()))
    } else {
        ToolOutcome::Done(Content::text(answer.to_text()))
    };
    let mut response = Response::of_call(call.clone(), outcome);
    response.handed_over = hands_over && answer.status == DelegationStatus::Done;
    response
}

pub(super) fn done(call: &Call, text: &str) -> Box<Response> {
    Box::new(Response::of_call(call.clone(), ToolOutcome::Done(Content::text(text))))
}

pub(in crate::agent) fn failed(call: &Call, why: String) -> Box<Response> {
    let error = ToolError::new(ErrorKind::InvalidArguments, why);
    Box::new(Response::of_call(call.clone(), ToolOutcome::Failed(error)))
}
