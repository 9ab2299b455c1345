//! One `tools/call`, from its request to its end: begun, waiting, approved, answered.
pub(crate) mod answer;
pub(crate) mod approval;
pub(crate) mod idempotency;
pub(crate) mod pending_approvals;
mod refusal_code;
pub(crate) mod report;
pub(crate) mod result;
pub(crate) mod running;
pub(crate) mod suspended_calls;
pub(crate) mod tool_call;
mod tool_plan;
