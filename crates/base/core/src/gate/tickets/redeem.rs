//! Redeems a ticket: runs the stored call, after policy was asked anew.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::call::arguments::Arguments;
use crate::call::caller::Caller;
use crate::call::trace::Trace;
use crate::call::{Call, CallKey};
use crate::catalog::Catalog;
use crate::gate::batch::Batch;
use crate::gate::batch::cancellation::BatchCancellation;
use crate::gate::batch::options::BatchOptions;
use crate::gate::batch::pending_call::{EndedCall, PendingCall};
use crate::gate::executor::{Executor, Gate};
use crate::gate::observe::DecisionSubject;
use crate::gate::run::spawn_on_drop::SpawnOnDrop;
use crate::gate::run::supervise::RunningCall;
use crate::gate::schedule::order::CallOrder;
use crate::gate::{decide::preview, record::idempotency, respond};
use crate::ledger::error::LedgerError;
use crate::ledger::ticket::{Decision, ParkedCall, TicketError, TicketId};
use crate::ledger::{IdempotencyKey, KeyState};
use crate::observe::failpoint;
use crate::observe::observer::Ruling;
use crate::outcome::ToolOutcome;
use crate::outcome::response::{CallFlag, Response};
use crate::outcome::run::Run;
use crate::plan::{ChoiceScope, Plan, PlanRequest};

/// An answer to a parked call.
pub struct Redemption<'a> {
    pub caller: &'a Caller,
    pub ticket: &'a TicketId,
    pub decision: Decision,
    /// Numbers the sources of the answer.
    pub run: &'a Run,
    /// Nobody's going away cancels the call, but whoever holds the token may.
    pub options: BatchOptions,
}

impl Executor {
    /// Answers a parked call with the catalog of now: the tool must still be there, be the same,
    /// and be permitted.
    ///
    /// A ticket is used up by this, whatever comes of it. From the moment it is taken all goes on
    /// to its end, even if the approver goes away: a call that was said yes to is not lost.
    pub async fn redeem(
        &self,
        catalog: &Arc<Catalog>,
        redemption: Redemption<'_>,
    ) -> Result<Response, TicketError> {
        let Redemption { caller, ticket, decision, run, options } = redemption;
        let parked = self.is_here(ticket, caller).await?;
        let open = parked.is_some();
        if let Some(claimed) = self.0.asked.claim(ticket, caller, &decision)? {
            let by = options.decider.as_deref().unwrap_or(caller);
            let response = claimed.go_on(by, run).await;
            tell_redeemed(&self.0, ticket);
            return Ok(response);
        }
        if open && matches!(decision, Decision::Answer { .. }) {
            return Err(TicketError::NoQuestion);
        }
        if let (Decision::Approve, Some(parked)) = (&decision, &parked)
            && catalog.get(parked.tool.as_str()).is_none()
            && let Some(why) = options.missing.as_ref()
            && let Some(why) = why(caller, parked.tool.as_str(), catalog)
        {
            return Err(TicketError::Away { kind: why.kind, told: why.message });
        }
        let deciding = RedemptionJob {
            executor: self.clone(),
            catalog: Arc::clone(catalog),
            caller: caller.clone(),
            ticket: ticket.clone(),
            decision,
            request: PlanRequest::default().after(run),
            options,
        };
        let decided = SpawnOnDrop::new(Box::pin(deciding.redeem())).await;
        decided.unwrap_or_else(|| Err(LedgerError::new("something of ours broke").into()))
    }

    /// The call of an open ticket. Under another profile there is no such ticket, and it stays.
    async fn is_here(
        &self,
        ticket: &TicketId,
        caller: &Caller,
    ) -> Result<Option<ParkedCall>, TicketError> {
        let seen = self.ticket(ticket, caller).await?;
        if seen.as_ref().is_some_and(|parked| parked.profile != self.0.marks.profile) {
            return Err(TicketError::Unknown);
        }
        Ok(seen)
    }

    /// What came of a ticket that was redeemed before, for its caller; while the call runs its end
    /// is waited for. `None`: the ticket was not redeemed, its end is not on record any more, or it
    /// did not come in time.
    pub async fn redeemed(
        &self,
        caller: &Caller,
        ticket: &TicketId,
        patience: Duration,
    ) -> Result<Option<Response>, LedgerError> {
        let (key, until) = (IdempotencyKey::of_ticket(caller, ticket), Instant::now() + patience);
        let mut pause = Duration::from_millis(10);
        loop {
            match self.0.ledger.recorded(&key).await? {
                begun @ (KeyState::Ended(_) | KeyState::Unknown) => {
                    return Ok(Some(respond::alone(*idempotency::answer(&self.0, begun))));
                }
                KeyState::Running if let Some(asks) = idempotency::asks(&self.0, &key) => {
                    return Ok(Some(respond::alone(*asks)));
                }
                KeyState::Running if Instant::now() + pause < until => {}
                KeyState::New | KeyState::Running | KeyState::Conflict => return Ok(None),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }
}

/// A decision about a ticket, with all that it needs.
struct RedemptionJob {
    executor: Executor,
    catalog: Arc<Catalog>,
    caller: Caller,
    ticket: TicketId,
    decision: Decision,
    request: PlanRequest,
    options: BatchOptions,
}

impl RedemptionJob {
    async fn redeem(self) -> Result<Response, TicketError> {
        let (gate, ticket) = (Arc::clone(&self.executor.0), self.ticket.clone());
        let redeemed = self.claimed().await;
        tell_redeemed(&gate, &ticket);
        redeemed
    }

    async fn claimed(self) -> Result<Response, TicketError> {
        let gate = Arc::clone(&self.executor.0);
        let parked = gate.ledger.claim(&self.ticket, &self.caller).await?;
        failpoint::reached("ticket claimed");
        let keys = keys(&self.caller, &parked);
        let Some((plan, place)) = self.stands(&parked) else {
            return Err(self.spoilt(TicketError::Changed(parked.tool), &keys).await);
        };
        let ParkedCall { tool: name, arguments, call_id, wire, reason, .. } = parked;
        let call = Call { id: call_id, name: name.to_string(), wire, ..Call::default() };
        let (decider, host) = (self.options.decider.clone(), self.options.cancel.clone());
        let decider = decider.unwrap_or_else(|| Arc::new(self.caller.clone()));
        let leash = BatchCancellation::new(&host);
        let batch = Arc::new(Batch {
            bounds: gate.bounds.batch(plan.caller()),
            gate: Arc::clone(&gate),
            plan,
            calls: vec![call],
            order: CallOrder::of([None].into_iter()),
            cancel: leash.batch.clone(),
            host: self.options.host.clone(),
            unheard: self.options.unheard,
            trace: self.options.trace,
            trace_state: self.options.trace_state.clone(),
            hops: self.options.hops,
            mark: None,
            key: None,
            decider: Some(decider),
            reading: None,
            audience: self.options.audience,
        });
        let approved = self.decision == Decision::Approve;
        if approved && let Some(otherwise) = otherwise(&batch, place, &arguments, &reason).await {
            return Err(self.spoilt(otherwise, &keys).await);
        }
        let ended = leash.hold(pin!(self.decided(&batch, place, arguments, keys))).await;
        let mut report = respond::report(batch, vec![ended]);
        let mut response = report.responses.pop().ok_or(TicketError::Used)?;
        response.debug.flags.retain(|flag| *flag != CallFlag::Forced);
        if approved {
            response.debug.flags.push(CallFlag::Approved);
        }
        Ok(response)
    }

    /// Runs the call, or records that a person said no.
    async fn decided(
        self,
        batch: &Arc<Batch>,
        place: u32,
        arguments: Arguments,
        keys: Vec<IdempotencyKey>,
    ) -> EndedCall {
        let key = CallKey::batch()(0);
        match self.decision {
            Decision::Deny { reason } => {
                let trace = batch.trace.map(Trace::child);
                let ticket = Some(&self.ticket);
                let subject = DecisionSubject { key, place, arguments: &arguments, ticket, trace };
                let denied = denied(batch, subject, reason).await;
                idempotency::settle(&*batch.gate.ledger, (&keys, false), &denied).await;
                denied
            }
            Decision::Approve | Decision::Answer { .. } => {
                let (shared, ticket) = (Arc::clone(batch), Some(self.ticket));
                let repairs = Vec::new();
                let one =
                    PendingCall { batch: shared, position: 0, place, key, repairs, ticket, keys };
                RunningCall::start(one, arguments, true).end(batch).await
            }
        }
    }

    /// The place of the tool of a parked call, if it is there now, the same, and for this caller.
    fn stands(&self, parked: &ParkedCall) -> Option<(Plan, u32)> {
        let name = parked.tool.as_str();
        // Chosen for the whole run, since the tool may be one that is there only if it is chosen.
        let request = self.request.clone().choose(name).choices_bind(ChoiceScope::Run);
        // What a model's provider runs is there for a model alone, whichever it was.
        let dialect = self.catalog.get(name).and_then(|tool| {
            tool.spec.hosted.as_ref()?;
            tool.spec.builtin.keys().next().cloned()
        });
        let request = PlanRequest { session: parked.session.clone(), dialect, ..request };
        let policy = self.executor.policy();
        let plan = Plan::make(&self.catalog, &self.caller, policy, request).ok()?;
        let place = plan.place(name)?;
        let now = plan.planned(place)?.listed;
        let same = now.fingerprint == parked.fingerprint && now.spec.origin.source == parked.source;
        same.then_some((plan, place))
    }

    /// Records that the call of a ticket cannot run any more.
    async fn spoilt(&self, error: TicketError, keys: &[IdempotencyKey]) -> TicketError {
        let reason = error.to_string();
        let denied = EndedCall::unstarted(ToolOutcome::Denied { reason }, Vec::new());
        idempotency::settle(&*self.executor.0.ledger, (keys, false), &denied).await;
        error
    }
}

/// Tells the observer that a ticket is used up.
fn tell_redeemed(gate: &Gate, ticket: &TicketId) {
    if let Some(observer) = &gate.marks.observer {
        // An observer that breaks costs its own record and no call.
        let _ = catch_unwind(AssertUnwindSafe(|| observer.redeemed(ticket)));
    }
}

/// Under which what comes of a ticket is recorded: its own name, and the key that the call came
/// under.
fn keys(caller: &Caller, parked: &ParkedCall) -> Vec<IdempotencyKey> {
    let of_call = parked.key.clone().map(|key| {
        let (tool, source) = (parked.tool.clone(), Some(parked.source.clone()));
        IdempotencyKey { caller: caller.clone(), tool, source, key }
    });
    [IdempotencyKey::of_ticket(caller, &parked.ticket)].into_iter().chain(of_call).collect()
}

/// Why the call is not what a person said yes to, if its tool now says so.
async fn otherwise(
    batch: &Batch,
    place: u32,
    arguments: &Arguments,
    asked: &str,
) -> Option<TicketError> {
    let tool = batch.plan.at(place)?;
    match preview::words(batch, tool, arguments).await {
        Ok(Some(now)) if !preview::was_asked(asked, &now) => {
            let tool = tool.spec.name.clone();
            Some(TicketError::Otherwise { tool, now })
        }
        // What cannot succeed fails when it runs, and tells by itself why.
        Ok(_) | Err(_) => None,
    }
}

/// A person said no: nothing runs, and it is seen all the same.
pub(crate) async fn denied(
    batch: &Batch,
    subject: DecisionSubject<'_>,
    reason: String,
) -> EndedCall {
    let DecisionSubject { key, place, trace, .. } = subject;
    let was_told = batch.tell_decision(subject, Ruling::Denied(&reason)).await.is_ok();
    let outcome = ToolOutcome::Denied { reason };
    let ended = EndedCall { place: Some(place), ..EndedCall::unstarted(outcome, Vec::new()) };
    batch.tell_end((0, key), &ended, was_told, trace);
    ended
}
