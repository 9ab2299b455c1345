//! What is not there while its source starts: to be asked for again, and not to be taken for what
//! nobody has.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use toolcrib_core::{
    Catalog, ClientSession, ErrorKind, Executor, MissingToolExplainer, ResourceRequest, ToolError,
    messages,
};

use super::Crib;
use super::catalog_source::CatalogSource;
use crate::discovery::owner_away;

/// When to ask again.
const AGAIN: Duration = Duration::from_secs(1);

impl Crib {
    /// Whether a source that this crib looks at has not had its first chance to list its tools. Who
    /// asks before a plan is made takes nothing that is missing in it for what nobody has.
    pub fn is_starting(&self) -> bool {
        self.tools.were_starting(&self.catalog())
    }

    /// Tells why a tool may be missing: its source starts, or gives no tools now.
    pub fn missing(&self) -> MissingToolExplainer {
        self.factory.missing()
    }

    /// Fails where what is asked for is not there, and some source has not had its first chance.
    pub(super) fn may_come(
        &self,
        visitor: &ClientSession,
        inquiry: &ResourceRequest,
    ) -> Result<(), ToolError> {
        // Before what there is is looked at: it may come meanwhile.
        if !self.tools.is_stocking() {
            return Ok(());
        }
        let (stock, executor, open) = (self.resources(), self.executor(), self.open());
        if stock.has(inquiry, &visitor.caller, executor.policy(), open.as_ref()) {
            return Ok(());
        }
        Err(again(ErrorKind::SourceStarting, messages::starting_beside()))
    }
}

/// What tells it for a crib.
pub(super) fn missing(tools: CatalogSource, gate: Arc<ArcSwap<Executor>>) -> MissingToolExplainer {
    Arc::new(move |caller, name, seen| {
        let executor = gate.load_full();
        let policy = executor.policy();
        let now = tools.catalog();
        let has = |now: &Catalog| now.get(name).is_some_and(|tool| policy.sees(caller, &tool.spec));
        let is_starting = tools.were_starting(&now) || tools.were_starting(seen) && has(&now);
        let (owner, is_named) = owner_away(caller, policy, name, tools.absent());
        match owner {
            // Nothing else that starts could have it.
            Some((away, false)) if is_named || !is_starting => {
                let told = messages::away(name, &away.source, away.reason);
                Some(again(ErrorKind::Unavailable, told))
            }
            owner if is_starting => {
                let source = owner.filter(|_| is_named).map(|(away, _)| away.source);
                Some(again(ErrorKind::SourceStarting, messages::starting(name, source.as_ref())))
            }
            _ => None,
        }
    })
}

fn again(kind: ErrorKind, told: String) -> ToolError {
    let mut error = ToolError::new(kind, told);
    error.retry_after = Some(AGAIN);
    error
}
