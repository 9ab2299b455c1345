//! What is asked of a server.

use std::borrow::Cow;

use toolcrib_core::{Arguments, ToolSpec};

use super::params::RequestParams;

/// A method and its parameters.
#[derive(Debug, Clone)]
pub(crate) struct OutgoingRequest {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: RequestParams,
    /// It is a call that its server runs as a task alone.
    pub(crate) as_task: bool,
    /// It may be made again.
    pub(crate) is_harmless: bool,
}

impl OutgoingRequest {
    /// `spec`: of the tool.
    pub(crate) fn tool(
        (name, spec): (&str, &ToolSpec),
        arguments: Arguments,
        as_task: bool,
    ) -> Self {
        let params = RequestParams::call(name, arguments);
        let is_harmless = spec.harmless_to_repeat() && !as_task;
        Self { method: "tools/call".into(), params, as_task, is_harmless }
    }
}
