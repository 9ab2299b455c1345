//! Redeems a ticket: runs the stored call, after policy was asked anew.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::answer;
use super::run_one::{Ended, OneCall, decide};
use super::{Batch, Executor};
use crate::call::{Call, CallKey};
use crate::outcome::ToolOutcome;
use crate::plan::Plan;
use crate::policy::Verdict;
use crate::response::{Flag, Response};
use crate::ticket::{Decision, Parked, TicketError, TicketId};

impl Executor {
    /// Answers a parked call. `plan` is one of now for the ticket's caller, without choices: the
    /// tool must still be there, be the same, and be permitted.
    ///
    /// A ticket is used up by this, whatever comes of it.
    pub async fn redeem(
        &self,
        plan: &Plan,
        ticket: &TicketId,
        decision: Decision,
    ) -> Result<Response, TicketError> {
        let parked = self.0.ledger.claim(ticket, plan.caller()).await?;
        let Parked {
            tool: name,
            fingerprint,
            arguments,
            call_id,
            wire,
            ..
        } = parked;
        let call = Call {
            id: call_id,
            name: name.to_string(),
            wire,
            ..Call::default()
        };
        let place = plan.place(name.as_str()).filter(|place| {
            plan.planned(*place)
                .is_some_and(|tool| tool.listed.fingerprint == fingerprint)
        });
        let (Some(place), cancel) = (place, CancellationToken::new()) else {
            return Err(TicketError::Changed(name));
        };
        let batch = Batch {
            gate: Arc::clone(&self.0),
            plan: plan.clone(),
            cancel,
            progress: None,
        };
        // On its own task: an approved call runs to its end, though the approver goes away.
        let redeemed = tokio::spawn(async move {
            let ended = match decision {
                Decision::Deny { reason } => {
                    let outcome = ToolOutcome::Denied { reason };
                    Ended {
                        place: Some(place),
                        ..Ended::unstarted(outcome, Vec::new())
                    }
                }
                Decision::Approve => {
                    let key = CallKey::batch()(0);
                    let one = OneCall {
                        batch: &batch,
                        call: &call,
                        place,
                        key,
                        repairs: Vec::new(),
                    };
                    approved(&batch, one, arguments).await
                }
            };
            let ran = ended.key.is_some();
            let mut report = answer::report(&batch, vec![call], vec![ended]);
            let mut response = report.responses.pop();
            if let Some(response) = response.as_mut().filter(|_| ran) {
                response.debug.flags.push(Flag::Approved);
            }
            response
        });
        redeemed.await.ok().flatten().ok_or(TicketError::Used)
    }
}

async fn approved(batch: &Batch, one: OneCall<'_>, arguments: crate::tool::Arguments) -> Ended {
    let plan = batch.plan.clone();
    let Some(tool) = plan.at(one.place) else {
        let reason = "the tool is not there any more".to_owned();
        return Ended::unstarted(ToolOutcome::Denied { reason }, Vec::new());
    };
    // A person has said yes to what had to be asked; a policy that says no still has its way.
    match decide(batch, tool, &arguments).await {
        Verdict::Deny(reason) => {
            let outcome = ToolOutcome::Denied { reason };
            Ended {
                place: Some(one.place),
                ..Ended::unstarted(outcome, Vec::new())
            }
        }
        Verdict::Allow | Verdict::Ask(_) => {
            let bounds = batch.gate.bounds.batch(&plan.caller().tenant);
            one.permitted(tool, arguments, &[], &bounds).await
        }
    }
}
