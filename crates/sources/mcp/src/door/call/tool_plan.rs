//! The plan for one call, and what its tool wants of the request that carries it.

use http::HeaderMap;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::Value;
use toolcrib_core::Plan;

use crate::door::state::McpRequestContext;
use crate::protocol::mirrored_headers;

/// The plan for a call of this tool.
pub(super) fn plan_for(request_context: &McpRequestContext, tool: &str) -> Result<Plan, ErrorData> {
    let plan = request_context.plan()?;
    if plan.get(tool).is_some() {
        return Ok(plan);
    }
    let McpRequestContext { crib, caller, .. } = request_context;
    let unlisted = crib.plan_unlisted(caller, request_context.request(), tool);
    Ok(unlisted.unwrap_or(plan))
}

/// Fails where a tool of the server that this door stands for (`is_whole`) wants arguments repeated
/// in headers, and they are not.
pub(super) fn check_mirrored_headers(
    plan: &Plan,
    (tool, arguments): (&str, Option<&Value>),
    headers: &HeaderMap,
    is_whole: impl FnOnce() -> bool,
) -> Result<(), ErrorData> {
    let Some(planned) = plan.get(tool) else { return Ok(()) };
    let input = &planned.listed.spec.input;
    if !input.may_hold(mirrored_headers::MARK) || !is_whole() {
        return Ok(());
    }
    // What may not be wanted, no list of the server has.
    let wanted = mirrored_headers::of(&input.value()).unwrap_or_default();
    match mirrored_headers::differing(&wanted, arguments, headers) {
        Some(told) => Err(ErrorData::new(ErrorCode::HEADER_MISMATCH, told, None)),
        None => Ok(()),
    }
}
