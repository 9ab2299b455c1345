//! What all desks of a door share, and what the way in knows of a request.

use std::sync::Arc;

use rmcp::model::ErrorData;
use serde_json::Value;
use toolcrib_core::{Caller, Discovery, Plan, Request, Said, Trace, TraceState};

use super::backend::House;
use super::session::Sessions;
use super::settings::DoorSettings;
use super::tasks::Tasks;
use crate::door::call::pending_approvals::Awaited;
use crate::door::call::suspended_calls::Waiting;
use crate::door::sdk::passthrough_cache::Whole;

/// What all desks of a door share.
pub(super) struct Room {
    pub(super) house: Arc<dyn House>,
    pub(super) settings: DoorSettings,
    pub(super) waiting: Waiting,
    pub(super) awaited: Awaited,
    pub(super) tasks: Tasks,
    pub(super) whole: Whole,
    /// Of the clients over HTTP.
    pub(super) sessions: Arc<Sessions>,
}

/// What the way in knows of a request.
#[derive(Clone)]
pub(super) struct Entrance {
    pub(super) caller: Arc<Caller>,
    pub(super) profile: Option<Arc<str>>,
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

impl Entrance {
    pub(super) fn request(&self) -> Request {
        let (session, discovery) = (self.session.clone(), self.discovery);
        Request { session, discovery, ..Request::default() }
    }
}

impl Room {
    /// What the only source behind this entrance says of itself.
    pub(super) fn sole(&self, entrance: &Entrance) -> Option<Arc<Said>> {
        self.house.sole(entrance.profile.as_deref())
    }

    pub(super) fn plan(&self, entrance: &Entrance) -> Result<Plan, ErrorData> {
        let request = entrance.request();
        let plan = self.house.plan(&entrance.caller, entrance.profile.as_deref(), request);
        plan.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}
