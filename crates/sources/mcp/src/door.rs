//! A crib served over MCP: to clients of 2026-07-28 and of the revisions before it, over HTTP and
//! over pipes.
//!
//! There is one way in: a message is read ([`protocol::rpc`](crate::protocol::rpc)), it is found out
//! who asks (`session::negotiation`), and `methods::dispatch` answers. What differs between the
//! transports is who hears what is said on the way: the pipe (`stdio`), the stream of a session's
//! request (`session`), or the reply to one request (`http`).
//!
//! Read in this order: [`CribProvider`] (what is served), `methods` (what is asked), `call` (one
//! call with its questions, its running, its report), `tasks` (a call that outlives its request),
//! `client` (what its client is told meanwhile), `session`, then `http` and `stdio`.
//!
//! Nothing is decided here: what a caller sees is the plan, and every call goes through the gate.

mod call;
mod client;
mod http;
mod methods;
mod persistence;
mod provider;
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
pub use http::{AuthenticatedCaller, McpHttpHandler};
use persistence::NamedHomes;
pub use persistence::{McpHomes, McpPersistence};
pub use provider::{CribProvider, McpObserver, McpOperation, McpOperationFailure};
use session::McpSessionRegistry;
pub use settings::McpServerSettings;
use state::McpServerState;
pub use stdio::StdioServerError;
use tasks::TaskRegistry;

/// Serves one crib. Cheap to clone; clones are the same door.
#[derive(Clone)]
pub struct McpServer {
    state: Arc<McpServerState>,
    /// Of the clients over HTTP.
    sessions: Arc<McpSessionRegistry>,
}

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
        Self::with_persistence(cribs, observer, settings, McpPersistence::default())
    }

    /// The same for one of several processes, one after the other or at the same time.
    pub fn with_persistence(
        cribs: Arc<dyn CribProvider>,
        observer: Arc<dyn McpObserver>,
        settings: McpServerSettings,
        persistence: McpPersistence,
    ) -> Self {
        let homes = NamedHomes::of(&persistence);
        let waiting = SuspendedCalls::new(settings.most_waiting, settings.patience, homes.clone());
        let tasks = TaskRegistry::new(&settings, homes);
        let sessions = McpSessionRegistry::new(Arc::clone(&observer), &settings, &persistence);
        let awaited = PendingApprovals::default();
        let state =
            McpServerState { cribs, observer, settings, persistence, waiting, awaited, tasks };
        Self { state: Arc::new(state), sessions }
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
        McpHttpHandler::new(Arc::clone(&self.state), Arc::clone(&self.sessions))
    }

    /// How many sessions of older clients are open.
    pub fn sessions(&self) -> usize {
        self.sessions.count()
    }

    /// Resolves once no call of a task runs any more: for an end without clients that could ask.
    pub async fn settle(&self) {
        self.state.tasks.settle().await;
    }

    /// Serves one client at a pair of pipes until it hangs up.
    pub async fn serve_stdio(
        &self,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        caller: Caller,
        profile: Option<&str>,
    ) -> Result<(), StdioServerError> {
        Box::pin(stdio::serve(Arc::clone(&self.state), (reader, writer), caller, profile)).await
    }
}
