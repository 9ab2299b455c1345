//! What a client at a pipe asks for as one operation, of which the observer is told when it is over.
//! Over HTTP whoever serves the requests sees them, and what comes of them, by itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolcrib_core::{Trace, TraceState};

use crate::door::call::answer::MethodAnswer;
use crate::door::provider::{McpObserver, McpOperation, McpOperationFailure};
use crate::door::session::request::ConversationRequest;
use crate::door::state::McpServerState;

/// One under way. It is over when it is dropped.
pub(crate) struct McpOperationGuard {
    observer: Arc<dyn McpObserver>,
    began: Instant,
    served: McpOperation,
}

impl McpOperationGuard {
    /// Puts a request into its place in a trace. `None`: it listens, which has no end to wait for.
    pub(crate) fn begin(
        server_state: &McpServerState,
        begun: &mut ConversationRequest,
    ) -> Option<Self> {
        let ConversationRequest { asked, request, revision, .. } = begun;
        let request_context = &mut request.request_context;
        let said = |key: &str| asked.meta()?.get(key)?.as_str();
        let parent = said("traceparent").and_then(Trace::parse);
        if parent.is_some() {
            request_context.trace_state = said("tracestate").and_then(TraceState::parse);
        }
        let trace = || parent.map_or_else(Trace::root, Trace::child);
        let trace = server_state.settings.traced.then(trace);
        request_context.trace = trace;
        if asked.method == "subscriptions/listen" {
            return None;
        }
        let name = asked.params.get("name").and_then(Value::as_str);
        let is_named = ["tools/call", "prompts/get"].contains(&asked.method.as_str());
        let served = McpOperation {
            method: asked.method.clone(),
            name: name.filter(|_| is_named).map(str::to_owned),
            id: asked.id.to_string(),
            revision: revision.clone(),
            trace,
            took: Duration::ZERO,
            failure: Some(McpOperationFailure::Cancelled),
        };
        let observer = Arc::clone(&server_state.observer);
        Some(Self { observer, began: Instant::now(), served })
    }

    pub(crate) fn answered(mut self, answer: &MethodAnswer) {
        self.served.failure = match answer {
            Err(error) => Some(McpOperationFailure::Code(error.code.0.into())),
            Ok(result) => result.has_failed.then_some(McpOperationFailure::Tool),
        };
    }
}

impl Drop for McpOperationGuard {
    fn drop(&mut self) {
        self.served.took = self.began.elapsed();
        self.observer.served(&self.served);
    }
}
