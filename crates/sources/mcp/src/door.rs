//! A crib served over MCP: to clients of 2026-07-28 and of the revisions before it, over HTTP and
//! over pipes.
//!
//! Read in this order: [`CribProvider`] (what is served), `methods` (what is asked, but for calls),
//! `call` (one call with its questions, its running, its report), `tasks` (a call that outlives its
//! request), `client` (what its client is told meanwhile), `session`, `sdk` (the handler of the
//! SDK), then the ways in: `http`, with a fast path for the plainest calls, and `stdio`.
//!
//! Nothing is decided here: what a caller sees is the plan, and every call goes through the gate.

mod call;
mod client;
mod http;
mod messages;
mod methods;
mod provider;
mod sdk;
mod session;
mod settings;
mod state;
mod stdio;
mod tasks;

use std::sync::Arc;

use axum::Router;
use tokio::io::{AsyncRead, AsyncWrite};
use toolcrib_core::Caller;

use call::pending_approvals::PendingApprovals;
use call::suspended_calls::SuspendedCalls;
#[cfg(feature = "fuzz")]
pub(crate) use http::fast_request::means_one_thing;
pub use http::{AuthenticatedCaller, McpHttpHandler};
pub use provider::{CribProvider, McpObserver};
use sdk::passthrough_cache::PassthroughCache;
use session::McpSessionRegistry;
pub use settings::McpServerSettings;
use state::McpServerState;
pub use stdio::StdioServerError;
pub use stdio::operation::{McpOperation, McpOperationFailure};
use tasks::TaskRegistry;

/// Serves one crib. Cheap to clone; clones are the same door.
#[derive(Clone)]
pub struct McpServer(Arc<McpServerState>);

impl McpServer {
    pub fn new(cribs: Arc<dyn CribProvider>, settings: McpServerSettings) -> Self {
        Self::observed(cribs, Arc::new(()), settings)
    }

    /// The same; `observer` hears of what was served.
    pub fn observed(
        cribs: Arc<dyn CribProvider>,
        observer: Arc<dyn McpObserver>,
        settings: McpServerSettings,
    ) -> Self {
        let waiting = SuspendedCalls::new(settings.most_waiting, settings.patience);
        let tasks = TaskRegistry::new(&settings);
        let sessions =
            McpSessionRegistry::new(Arc::clone(&cribs), Arc::clone(&observer), &settings);
        let whole = PassthroughCache::default();
        let awaited = PendingApprovals::default();
        Self(Arc::new(McpServerState {
            cribs,
            observer,
            settings,
            waiting,
            awaited,
            tasks,
            whole,
            sessions,
        }))
    }

    /// The routes `/mcp` and `/mcp/{profile}`. Whoever authenticates puts a `Caller` into the
    /// extensions of the request; a request without one is refused with 401.
    ///
    /// Sessions of older clients belong to this router: make it once.
    pub fn router(&self) -> Router {
        self.http_handler().router()
    }

    /// The same for a server that has routes of its own. Sessions belong to this handler.
    pub fn http_handler(&self) -> McpHttpHandler {
        McpHttpHandler::new(Arc::clone(&self.0))
    }

    /// How many sessions of older clients are open.
    pub fn sessions(&self) -> usize {
        self.0.sessions.count()
    }

    /// How many of them are awake: something is asked of them, or was just now.
    pub fn awake(&self) -> usize {
        self.0.sessions.awake()
    }

    /// Resolves once no call of a task runs any more: for an end without clients that could ask.
    pub async fn settle(&self) {
        self.0.tasks.settle().await;
    }

    /// Serves one client at a pair of pipes until it hangs up.
    pub async fn serve_stdio(
        &self,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        caller: Caller,
        profile: Option<&str>,
    ) -> Result<(), StdioServerError> {
        Box::pin(stdio::serve(Arc::clone(&self.0), (reader, writer), caller, profile)).await
    }
}
