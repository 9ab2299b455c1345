//! `tasks/get`, `tasks/update` and `tasks/cancel`.

use rmcp::model::{ErrorData, GetTaskResult, InputResponses};
use serde_json::json;

use super::unknown;
use crate::door::client::channel::ClientChannel;
use crate::door::sdk::handler::RmcpHandler;
use crate::door::sdk::results;
use crate::door::state::McpRequestContext;

impl RmcpHandler {
    pub(in crate::door) fn task_state(
        &self,
        id: &str,
        request_context: &McpRequestContext,
        line: &ClientChannel,
    ) -> Result<GetTaskResult, ErrorData> {
        let McpRequestContext { caller, profile, .. } = request_context;
        let task =
            self.server_state.tasks.find(id, caller, profile.as_deref()).ok_or_else(unknown)?;
        task.is_asked_for();
        results::typed(&self.server_state, line, task.state(), || {
            json!({
                "resultType": "complete", "taskId": "", "status": "working", "createdAt": "",
                "lastUpdatedAt": "", "ttlMs": null,
            })
        })
    }

    pub(in crate::door) fn answer_task(
        &self,
        id: &str,
        request_context: McpRequestContext,
        answers: InputResponses,
    ) -> Result<(), ErrorData> {
        let McpRequestContext { caller, profile, .. } = request_context;
        let task =
            self.server_state.tasks.find(id, &caller, profile.as_deref()).ok_or_else(unknown)?;
        task.is_asked_for();
        task.answer(&caller, answers);
        Ok(())
    }

    pub(in crate::door) fn end_task(
        &self,
        id: &str,
        request_context: &McpRequestContext,
    ) -> Result<(), ErrorData> {
        let McpRequestContext { caller, profile, .. } = request_context;
        let task =
            self.server_state.tasks.find(id, caller, profile.as_deref()).ok_or_else(unknown)?;
        task.is_asked_for();
        task.cancel();
        Ok(())
    }
}
