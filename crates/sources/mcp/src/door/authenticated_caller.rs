//! Who comes by HTTP, as whoever authenticated the request found it.

use std::sync::Arc;

use toolcrib_core::{Caller, Trace, TraceState};

/// Who comes, and how.
#[derive(Debug, Clone)]
pub struct AuthenticatedCaller {
    pub caller: Arc<Caller>,
    /// The profile whose door it is; `None`: that of the whole crib.
    pub profile: Option<String>,
    /// Where the request stands in a trace; `None`: nobody keeps any.
    pub trace: Option<Trace>,
    /// What others wrote beside that place.
    pub trace_state: Option<TraceState>,
}
