//! The server behind the gateway: one of ours, which remembers what it was asked.
//!
//! It speaks both revisions on one port, over HTTP and, behind the relay, over a pipe. Read in this
//! order: `state` (what it remembers), `http` and `pipe` (how messages come and go), `request` and `answers` (what
//! it says to a method), `tools` (what its tools do) and `library` (its resources and prompts).

mod answers;
mod http;
mod library;
mod pipe;
mod request;
mod state;
mod tools;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinHandle};

pub(super) use library::{PROMPT, RESOURCE, TEMPLATE, contents, said};
pub(super) use request::REVISION_KEY;
pub(super) use state::SeenMessage;
pub(super) use tools::{NAMES, TALL, parts, question, spec};

use state::FixtureState;

/// The server of a run. What a check looks up here it marks with a word of its own.
pub(super) struct FixtureUpstream {
    state: Arc<FixtureState>,
    address: SocketAddr,
    /// What accepts connections, and the connections.
    running: Mutex<Option<FixtureRunning>>,
}

struct FixtureRunning {
    accepting: JoinHandle<()>,
    connections: Arc<Mutex<Vec<AbortHandle>>>,
}

impl FixtureUpstream {
    /// Listens at an address.
    pub(super) async fn listen(address: &str) -> Result<Self, String> {
        let told = |error: std::io::Error| format!("cannot listen at `{address}`: {error}");
        let listener = TcpListener::bind(address).await.map_err(told)?;
        let address = listener.local_addr().map_err(told)?;
        let upstream = Self { state: Arc::default(), address, running: Mutex::default() };
        upstream.accept(listener);
        Ok(upstream)
    }

    fn accept(&self, listener: TcpListener) {
        let connections: Arc<Mutex<Vec<AbortHandle>>> = Arc::default();
        let (state, own) = (Arc::clone(&self.state), Arc::clone(&connections));
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&state);
                let talk = tokio::spawn(async move { http::converse(stream, state).await });
                let mut open = own.lock().unwrap_or_else(PoisonError::into_inner);
                open.retain(|connection| !connection.is_finished());
                open.push(talk.abort_handle());
            }
        });
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(FixtureRunning { accepting, connections });
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Goes away: nobody listens, every connection is closed, and sessions are forgotten.
    pub(super) async fn leave(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(FixtureRunning { accepting, connections }) = running {
            accepting.abort();
            // The port is free once the task is gone.
            let _ = accepting.await;
            for connection in connections.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                connection.abort();
            }
        }
        self.state.forget();
    }

    /// Comes back at the same address.
    pub(super) async fn come_back(&self) -> Result<(), String> {
        let listener = TcpListener::bind(self.address).await.map_err(|error| error.to_string())?;
        self.accept(listener);
        Ok(())
    }

    /// What it received so far.
    pub(super) fn seen(&self) -> Vec<SeenMessage> {
        self.state.seen()
    }

    /// The calls of tools with this mark among their arguments, one for each request. A request that
    /// brings answers of a client is the same call, and is among them.
    pub(super) fn calls(&self, mark: &str) -> Vec<SeenMessage> {
        let is_marked = |seen: &SeenMessage| {
            seen.message["method"] == "tools/call"
                && seen.message["params"]["arguments"]["mark"] == mark
        };
        self.seen().into_iter().filter(is_marked).collect()
    }

    /// Lets a call go on that waits under this mark.
    pub(super) fn release(&self, mark: &str) {
        self.state.release(mark);
    }

    /// How many times the call with this mark was given up, as far as was told here.
    pub(super) fn cancellations(&self, mark: &str) -> usize {
        self.state.cancellations(mark)
    }

    /// Tells everybody who listens.
    pub(super) fn tell(&self, method: &str, params: &Value) {
        self.state.tell(method, params);
    }

    /// Has one tool, one prompt and one resource more, or not, and says so.
    pub(super) fn grow(&self, has_more: bool) {
        self.state.grow(has_more);
        for list in ["tools", "prompts", "resources"] {
            self.tell(&format!("notifications/{list}/list_changed"), &json!({}));
        }
    }

    /// Whether its last connection was a pipe.
    pub(super) fn is_piped(&self) -> bool {
        self.seen().last().is_some_and(|seen| seen.place.starts_with("pipe-"))
    }

    /// Forgets the sessions that it gave.
    pub(super) fn forget(&self) {
        self.state.forget();
    }
}
