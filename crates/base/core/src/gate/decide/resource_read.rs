//! One reading of something that is no tool: decided on under the whole of its name, and parked
//! nowhere, since only whoever inquires can go on with it.

use std::sync::Arc;

use crate::call::arguments::Arguments;
use crate::call::host::FormFallback;
use crate::call::trace::Trace;
use crate::call::{Call, CallKey, RawArguments};
use crate::gate::batch::Batch;
use crate::gate::batch::options::BatchOptions;
use crate::gate::batch::pending_call::PendingCall;
use crate::gate::executor::Executor;
use crate::gate::observe::DecisionSubject;
use crate::gate::respond;
use crate::gate::run::supervise::RunningCall;
use crate::gate::schedule::order::CallOrder;
use crate::gate::tickets::redeem::denied;
use crate::ledger::ticket::TicketId;
use crate::outcome::response::Response;
use crate::plan::Plan;
use crate::tool::spec::ToolSpec;

/// A reading on its way to the gate.
pub(crate) struct ResourceRead<'a> {
    /// Of a catalog with one tool: the one that reads.
    pub(crate) plan: Plan,
    /// The name of that tool.
    pub(crate) name: String,
    /// What policy is asked about: its name may be longer than one that is recorded.
    pub(crate) whole: Arc<ToolSpec>,
    pub(crate) arguments: Arguments,
    pub(crate) word: ReadConsent,
    pub(crate) options: &'a BatchOptions,
}

/// What a person said to it. The ticket stands in the record of the question and in that of the
/// answer, and is good for nothing else.
pub(crate) enum ReadConsent {
    /// Nobody was asked.
    Unasked,
    Yes(TicketId),
    /// With the reason that is recorded.
    No(TicketId, String),
}

impl Executor {
    /// Runs a reading as a batch of one call; one that has to be asked about has not run, and is
    /// `Pending`. `None`: the plan does not show it.
    pub(crate) async fn read(&self, reading: ResourceRead<'_>) -> Option<Response> {
        let ResourceRead { plan, name, whole, arguments, word, options } = reading;
        let place = plan.place(&name)?;
        let key = CallKey::batch()(0);
        let cancel = options.cancel.child_token();
        let _gone = cancel.clone().drop_guard();
        let batch = Arc::new(Batch {
            bounds: self.0.bounds.batch(plan.caller()),
            gate: Arc::clone(&self.0),
            plan,
            calls: vec![Call::new("read", name, RawArguments::Absent)],
            order: CallOrder::of([None].into_iter()),
            cancel,
            host: options.host.clone(),
            unheard: FormFallback::Refused,
            trace: options.trace,
            trace_state: options.trace_state.clone(),
            hops: options.hops,
            mark: None,
            key: None,
            decider: None,
            reading: Some(whole),
            audience: options.audience,
        });
        let ticket = match word {
            ReadConsent::Unasked => None,
            ReadConsent::Yes(ticket) => Some(ticket),
            ReadConsent::No(ticket, reason) => {
                let trace = options.trace.map(Trace::child);
                let (arguments, ticket) = (&arguments, Some(&ticket));
                let subject = DecisionSubject { key, place, arguments, ticket, trace };
                let ended = denied(&batch, subject, reason).await;
                return respond::report(batch, vec![ended]).responses.pop();
            }
        };
        let (shared, repairs, keys) = (Arc::clone(&batch), Vec::new(), Vec::new());
        let one = PendingCall { batch: shared, position: 0, place, key, repairs, ticket, keys };
        let ended = RunningCall::start(one, arguments, true).end(&batch).await;
        respond::report(batch, vec![ended]).responses.pop()
    }
}
