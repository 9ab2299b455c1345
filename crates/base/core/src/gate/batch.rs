//! One batch on its way, shared by the tasks of its calls.

pub(crate) mod cancellation;
mod execute;
pub(crate) mod options;
pub(crate) mod pending_call;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::executor::Gate;
use crate::call::Call;
use crate::call::caller::Caller;
use crate::call::host::{FormFallback, Host};
use crate::call::trace::{Trace, TraceState};
use crate::gate::schedule::order::CallOrder;
use crate::gate::schedule::places::BatchPlaces;
use crate::ledger::IdempotencyKey;
use crate::plan::Plan;
use crate::tool::spec::ToolSpec;
use options::Audience;

/// One batch on its way, shared by the tasks of its calls.
pub(crate) struct Batch {
    pub(super) gate: Arc<Gate>,
    pub(super) plan: Plan,
    /// Without their arguments: those went with the admission.
    pub(super) calls: Vec<Call>,
    pub(super) order: CallOrder,
    pub(super) bounds: BatchPlaces,
    pub(super) cancel: CancellationToken,
    pub(super) host: Option<Arc<dyn Host>>,
    pub(super) unheard: FormFallback,
    pub(super) trace: Option<Trace>,
    pub(super) trace_state: Option<TraceState>,
    pub(super) hops: u32,
    pub(super) mark: Option<Arc<str>>,
    pub(super) key: Option<IdempotencyKey>,
    /// Who decided about the ticket by which its call comes back.
    pub(super) decider: Option<Arc<Caller>>,
    /// What policy is asked about where something is read that is no tool.
    pub(super) reading: Option<Arc<ToolSpec>>,
    pub(super) audience: Audience,
}
