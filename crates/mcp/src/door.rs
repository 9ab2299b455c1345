//! A crib served over MCP: to clients of 2026-07-28 and of the revisions before it, over HTTP and
//! over pipes.
//!
//! Read in this order: [`House`] (what is served), `desk` (the methods), `listing`, `calling` (one
//! call with its questions), `running`, `waiting` and `tasks` (a call that outlives its request),
//! `telling`, `result` and `whole` (how nothing of it is lost on the way), then the ways in: `http`,
//! with `plain`, `short` and `early` for the plainest calls, and `stdio`.
//!
//! Nothing is decided here: what a caller sees is the plan, and every call goes through the gate.

mod approval;
mod attentive;
mod awaited;
mod batch;
mod calling;
mod client;
mod desk;
mod early;
mod extension;
mod following;
mod greeting;
mod hearing;
mod host;
mod hosts;
mod house;
mod http;
mod line;
mod listing;
mod message;
mod once;
mod outgoing;
mod plain;
mod reading;
mod result;
mod room;
mod running;
mod screen;
mod seal;
mod served;
mod sessions;
mod settings;
mod short;
mod stdio;
mod tasks;
mod telling;
mod unanswered;
mod waiting;
mod whole;

use std::sync::Arc;

use axum::Router;
use tokio::io::{AsyncRead, AsyncWrite};
use toolcrib_core::Caller;

use awaited::Awaited;
pub use house::{Asking, Claim, House};
pub use http::{Guest, Porch};
#[cfg(feature = "fuzz")]
pub(crate) use plain::means_one_thing;
use room::Room;
pub use served::{Served, Unserved};
use sessions::Sessions;
pub use settings::DoorSettings;
pub use stdio::StdioError;
use tasks::Tasks;
use waiting::Waiting;
use whole::Whole;

/// Serves one crib. Cheap to clone; clones are the same door.
#[derive(Clone)]
pub struct Door(Arc<Room>);

impl Door {
    pub fn new(house: Arc<dyn House>, settings: DoorSettings) -> Self {
        let waiting = Waiting::new(settings.most_waiting, settings.patience);
        let tasks = Tasks::new(&settings);
        let sessions = Sessions::new(Arc::clone(&house), &settings);
        let whole = Whole::default();
        let awaited = Awaited::default();
        Self(Arc::new(Room { house, settings, waiting, awaited, tasks, whole, sessions }))
    }

    /// The routes `/mcp` and `/mcp/{profile}`. Whoever authenticates puts a `Caller` into the
    /// extensions of the request; a request without one is refused with 401.
    ///
    /// Sessions of older clients belong to this router: make it once.
    pub fn router(&self) -> Router {
        self.porch().router()
    }

    /// The same for a server that has routes of its own. Sessions belong to this porch.
    pub fn porch(&self) -> Porch {
        Porch::new(Arc::clone(&self.0))
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
    ) -> Result<(), StdioError> {
        Box::pin(stdio::serve(Arc::clone(&self.0), (reader, writer), caller, profile)).await
    }
}
