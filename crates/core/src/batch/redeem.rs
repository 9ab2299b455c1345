//! Redeems a ticket: runs the stored call, after policy was asked anew.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::order::Order;
use super::run_one::{Ended, OneCall};
use super::watch::Watched;
use super::{Batch, Executor, answer};
use crate::call::{Call, CallKey};
use crate::outcome::ToolOutcome;
use crate::plan::Plan;
use crate::response::{Flag, Response};
use crate::ticket::{Decision, Parked, TicketError, TicketId};

impl Executor {
    /// Answers a parked call. `plan` is one of now for the ticket's caller, without choices: the
    /// tool must still be there, be the same, and be permitted.
    ///
    /// A ticket is used up by this, whatever comes of it. An approved call runs to its end even
    /// if the approver goes away.
    pub async fn redeem(
        &self,
        plan: &Plan,
        ticket: &TicketId,
        decision: Decision,
    ) -> Result<Response, TicketError> {
        let parked = self.0.ledger.claim(ticket, plan.caller()).await?;
        let Parked { tool: name, fingerprint, arguments, call_id, wire, .. } = parked;
        let place = plan.place(name.as_str()).filter(|place| {
            plan.planned(*place).is_some_and(|tool| tool.listed.fingerprint == fingerprint)
        });
        let Some(place) = place else {
            return Err(TicketError::Changed(name));
        };
        let call = Call { id: call_id, name: name.to_string(), wire, ..Call::default() };
        let batch = Arc::new(Batch {
            bounds: self.0.bounds.batch(&plan.caller().tenant),
            gate: Arc::clone(&self.0),
            plan: plan.clone(),
            calls: vec![call],
            order: Order::of([None].into_iter()),
            cancel: CancellationToken::new(),
            progress: None,
        });
        let approved = decision == Decision::Approve;
        let ended = match decision {
            Decision::Deny { reason } => {
                let outcome = ToolOutcome::Denied { reason };
                Ended { place: Some(place), ..Ended::unstarted(outcome, Vec::new()) }
            }
            Decision::Approve => {
                let (shared, key) = (Arc::clone(&batch), CallKey::batch()(0));
                let one = OneCall { batch: shared, position: 0, place, key, repairs: Vec::new() };
                Watched::start(one, arguments, true).end(&batch).await
            }
        };
        let mut report = answer::report(batch, vec![ended]);
        let mut response = report.responses.pop().ok_or(TicketError::Used)?;
        if approved {
            response.debug.flags.push(Flag::Approved);
        }
        Ok(response)
    }
}
