//! Redeems a ticket: runs the stored call, after policy was asked anew.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::order::Order;
use super::run_one::{Ended, OneCall};
use super::watch::Watched;
use super::{Batch, Executor, answer};
use crate::call::{Call, CallKey};
use crate::caller::Caller;
use crate::catalog::Catalog;
use crate::outcome::ToolOutcome;
use crate::plan::{ChoiceScope, Plan, Request};
use crate::response::{Flag, Response};
use crate::run::Run;
use crate::ticket::{Decision, Parked, TicketError, TicketId};

impl Executor {
    /// Answers a parked call with the catalog of now: the tool must still be there, be the same,
    /// and be permitted. `run` numbers the sources of the answer.
    ///
    /// A ticket is used up by this, whatever comes of it. An approved call runs to its end even
    /// if the approver goes away.
    pub async fn redeem(
        &self,
        catalog: &Arc<Catalog>,
        caller: &Caller,
        run: &Run,
        (ticket, decision): (&TicketId, Decision),
    ) -> Result<Response, TicketError> {
        let parked = self.0.ledger.claim(ticket, caller).await?;
        let Parked { tool: name, source, fingerprint, arguments, call_id, wire, .. } = parked;
        // Chosen for the whole run, since the tool may be one that is there only if it is chosen.
        let request =
            Request::default().choose(name.as_str()).choices_bind(ChoiceScope::Run).after(run);
        let plan = Plan::make(catalog, caller, self.policy(), request).ok();
        let found = plan.and_then(|plan| {
            let place = plan.place(name.as_str())?;
            let now = plan.planned(place)?.listed;
            let same = now.fingerprint == fingerprint && now.spec.origin.source == source;
            same.then_some((plan, place))
        });
        let Some((plan, place)) = found else { return Err(TicketError::Changed(name)) };
        let call = Call { id: call_id, name: name.to_string(), wire, ..Call::default() };
        let batch = Arc::new(Batch {
            bounds: self.0.bounds.batch(&caller.tenant),
            gate: Arc::clone(&self.0),
            plan,
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
        response.debug.flags.retain(|flag| *flag != Flag::Forced);
        if approved {
            response.debug.flags.push(Flag::Approved);
        }
        Ok(response)
    }
}
