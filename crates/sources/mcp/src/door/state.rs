//! What all handlers of a door share, and what is known of a request before it is read.

use std::sync::Arc;

use rmcp::model::ErrorData;
use serde_json::Value;
use toolcrib_core::{Caller, Discovery, Plan, PlanRequest, ServerInfo, Trace, TraceState};
use toolcrib_engine::Crib;

use super::persistence::McpPersistence;
use super::provider::{CribProvider, McpObserver};
use super::settings::McpServerSettings;
use super::tasks::TaskRegistry;
use crate::door::call::pending_approvals::PendingApprovals;
use crate::door::call::suspended_calls::SuspendedCalls;

/// What all handlers of a door share.
pub(super) struct McpServerState {
    pub(super) cribs: Arc<dyn CribProvider>,
    pub(super) observer: Arc<dyn McpObserver>,
    pub(super) settings: McpServerSettings,
    pub(super) persistence: McpPersistence,
    pub(super) waiting: SuspendedCalls,
    pub(super) awaited: PendingApprovals,
    pub(super) tasks: TaskRegistry,
}

/// What the way in knows of a request.
#[derive(Clone)]
pub(super) struct McpRequestContext {
    pub(super) caller: Arc<Caller>,
    pub(super) profile: Option<Arc<str>>,
    /// That of the profile, looked up for this request.
    pub(super) crib: Crib,
    /// Our name of the conversation; `None`: this client keeps none.
    pub(super) session: Option<Arc<str>>,
    /// Where the request stands in a trace; `None`: nobody keeps any.
    pub(super) trace: Option<Trace>,
    /// What others wrote beside that place.
    pub(super) trace_state: Option<TraceState>,
    /// How the client wants the tools shown; `None`: as the crib has it.
    pub(super) discovery: Option<Discovery>,
    /// What the client calls this one call, so that sending it again does not run it again.
    pub(super) key: Option<Arc<Value>>,
}

impl McpRequestContext {
    pub(super) fn request(&self) -> PlanRequest {
        let (session, discovery) = (self.session.clone(), self.discovery);
        PlanRequest { session, discovery, ..PlanRequest::default() }
    }

    /// What the only source behind this door says of itself.
    pub(super) fn sole(&self) -> Option<Arc<ServerInfo>> {
        self.crib.sole()
    }

    pub(super) fn plan(&self) -> Result<Plan, ErrorData> {
        let plan = self.crib.plan(&self.caller, self.request());
        plan.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}
