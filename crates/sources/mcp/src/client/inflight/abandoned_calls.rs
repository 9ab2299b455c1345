//! Calls that we gave up while their server still works on them. It may yet ask something or write
//! a line of log for one of them, and neither may reach whoever else calls by then.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use rmcp::model::RequestId;
use toolcrib_core::{CallContext, Caller};

/// Calls of one connection that are remembered. Servers of before 2026-07-28 need not answer what
/// was cancelled, so that a call may stand here for as long as its connection.
const MOST: usize = 256;

#[derive(Default)]
pub(super) struct AbandonedCalls {
    by_id: HashMap<RequestId, CallOwner, RandomState>,
    /// There were more.
    is_full: bool,
}

/// Whose a call was.
struct CallOwner {
    caller: Caller,
    /// `None`: of a client that keeps no conversation, so that nobody knows which of its calls
    /// belong together.
    session: Option<Arc<str>>,
}

impl CallOwner {
    fn is(&self, context: &CallContext) -> bool {
        self.session.is_some()
            && self.session.as_deref() == context.session()
            && self.caller == *context.caller()
    }
}

impl AbandonedCalls {
    pub(super) fn add(&mut self, id: RequestId, context: &CallContext) {
        if self.by_id.len() >= MOST {
            self.is_full = true;
            return;
        }
        let (caller, session) = (context.caller().clone(), context.session().map(Arc::from));
        self.by_id.insert(id, CallOwner { caller, session });
    }

    /// Its server has answered this one after all; `false`: it is none of them.
    pub(super) fn end(&mut self, id: &RequestId) -> bool {
        self.by_id.remove(id).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_id.is_empty() && !self.is_full
    }

    /// Whether one of them is of somebody else, or may be.
    pub(super) fn are_of_others(&self, context: &CallContext) -> bool {
        self.is_full || self.by_id.values().any(|owner| !owner.is(context))
    }
}
