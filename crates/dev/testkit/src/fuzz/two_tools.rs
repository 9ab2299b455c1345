//! What calls are read against.

use toolcrib_core::{Caller, Effect, Plan, PlanRequest};
use toolcrib_engine::Crib;

use crate::Oracle;

/// Two tools and the plan of a request without wishes.
pub(super) fn crib() -> (Crib, Plan) {
    let oracle = Oracle::default();
    let tools = [oracle.echo("read", Effect::Read), oracle.echo("write", Effect::Write)];
    let made = Crib::new(tools).ok().and_then(|crib| {
        let plan = crib.plan(&Caller::local(), PlanRequest::default()).ok()?;
        Some((crib, plan))
    });
    made.unwrap_or_else(|| unreachable!("two names that differ, and no choices"))
}
