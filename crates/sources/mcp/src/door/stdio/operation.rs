//! What a client at a pipe asks for as one operation, of which the observer is told when it is over.
//! Over HTTP whoever serves the requests sees them, and what comes of them, by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rmcp::model::{ClientRequest, ErrorData, Extensions, ServerResult};
use rmcp::service::{RequestContext, RoleServer};
use toolcrib_core::Trace;

use crate::door::provider::McpObserver;
use crate::door::state::McpServerState;

/// An operation that is over.
pub struct McpOperation {
    pub method: String,
    /// Of the tool or prompt that it is about.
    pub name: Option<String>,
    /// The request's own.
    pub id: String,
    pub revision: Option<String>,
    /// Its place in a trace; `None`: nobody collects any.
    pub trace: Option<Trace>,
    pub took: Duration,
    pub failure: Option<McpOperationFailure>,
}

/// Why an operation came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpOperationFailure {
    /// The error of JSON-RPC.
    Code(i64),
    /// The result says so.
    Tool,
    /// Its client did not want the answer any more.
    Cancelled,
}

/// One under way. It is over when it is dropped.
pub(crate) struct McpOperationGuard {
    observer: Arc<dyn McpObserver>,
    began: Instant,
    served: McpOperation,
    mark: McpOperationMark,
}

/// Goes with the request to the handler.
#[derive(Clone)]
pub(crate) struct McpOperationMark {
    pub(crate) trace: Option<Trace>,
    has_failed: Arc<AtomicBool>,
}

impl McpOperationGuard {
    /// `None`: it listens, which has no end to wait for.
    pub(crate) fn begin(
        server_state: &McpServerState,
        request: &ClientRequest,
        context: &mut RequestContext<RoleServer>,
    ) -> Option<Self> {
        if matches!(request, ClientRequest::SubscriptionsListenRequest(_)) {
            return None;
        }
        let said = context.meta.get_traceparent().and_then(Trace::parse);
        let trace = || said.map_or_else(Trace::root, Trace::child);
        let trace = server_state.settings.traced.then(trace);
        let mark = McpOperationMark { trace, has_failed: Arc::default() };
        context.extensions.insert(mark.clone());
        let served = McpOperation {
            method: request.method().to_owned(),
            name: name(request).map(str::to_owned),
            id: context.id.to_string(),
            revision: context.protocol_version().map(|own| own.to_string()),
            trace,
            took: Duration::ZERO,
            failure: Some(McpOperationFailure::Cancelled),
        };
        Some(Self {
            observer: Arc::clone(&server_state.observer),
            began: Instant::now(),
            served,
            mark,
        })
    }

    pub(crate) fn answered(mut self, answer: &Result<ServerResult, ErrorData>) {
        self.served.failure = match answer {
            Err(error) => Some(McpOperationFailure::Code(error.code.0.into())),
            Ok(_) => {
                self.mark.has_failed.load(Ordering::Relaxed).then_some(McpOperationFailure::Tool)
            }
        };
    }
}

impl Drop for McpOperationGuard {
    fn drop(&mut self) {
        self.served.took = self.began.elapsed();
        self.observer.served(&self.served);
    }
}

impl McpOperationMark {
    pub(crate) fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get()
    }

    /// The result of the request says that it failed.
    pub(crate) fn fails(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK's messages grow with every release")]
fn name(request: &ClientRequest) -> Option<&str> {
    match request {
        ClientRequest::CallToolRequest(asked) => Some(&asked.params.name),
        ClientRequest::GetPromptRequest(asked) => Some(&asked.params.name),
        _ => None,
    }
}
