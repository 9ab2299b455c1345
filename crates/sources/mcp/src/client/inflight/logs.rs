//! Lines of log that belong to no call, and whom they may be told: the caller that a connection has
//! served, where that was one alone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use futures_util::stream::{Stream, unfold};
use serde_json::{Map, Value};
use tokio::sync::broadcast;
use toolcrib_core::{Caller, ClientSession};

/// Lines that whoever hears them may lag behind.
const BACKLOG: usize = 64;
/// Largest line that is told, in bytes of JSON: so many are kept for those who lag.
const LARGEST: usize = 64 * 1024;

/// Whom a connection has served.
#[derive(Default)]
pub(crate) struct ServedUsers {
    first: OnceLock<ConnectionUser>,
    /// Somebody else as well.
    others: AtomicBool,
}

#[derive(Clone)]
pub(crate) struct ConnectionUser {
    /// With what its token opened: one that opens less hears nothing of what needs more.
    caller: Caller,
    /// Where the connection is one of a conversation alone.
    session: Option<Arc<str>>,
}

/// Tells the lines of all connections of one source.
#[derive(Clone)]
pub(crate) struct ServerLogs(broadcast::Sender<Arc<ServerLogLine>>);

struct ServerLogLine {
    of: ConnectionUser,
    params: Map<String, Value>,
}

impl ServedUsers {
    /// It is about to serve this one. `session`: of a connection for a conversation alone.
    pub(crate) fn note(&self, caller: &Caller, session: Option<&str>) {
        if self.others.load(Ordering::Acquire) {
            return;
        }
        let first = self.first.get_or_init(|| {
            let (caller, session) = (caller.clone(), session.map(Arc::from));
            ConnectionUser { caller, session }
        });
        if first.caller != *caller {
            self.others.store(true, Ordering::Release);
        }
    }

    pub(super) fn only(&self) -> Option<&ConnectionUser> {
        self.first.get().filter(|_| !self.others.load(Ordering::Acquire))
    }
}

impl ConnectionUser {
    fn is(&self, visitor: &ClientSession) -> bool {
        let is_theirs = self.session.is_none() || self.session == visitor.session;
        is_theirs && self.caller == *visitor.caller
    }
}

impl Default for ServerLogs {
    fn default() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }
}

impl ServerLogs {
    /// `params`: of the notification.
    pub(super) fn tell(&self, of: &ConnectionUser, params: Map<String, Value>) {
        let is_small = || serde_json::to_vec(&params).is_ok_and(|written| written.len() <= LARGEST);
        if self.0.receiver_count() > 0 && is_small() {
            // Whoever listened has gone meanwhile.
            let _ = self.0.send(Arc::new(ServerLogLine { of: of.clone(), params }));
        }
    }

    /// Those that are for this one, as long as there is the source.
    pub(crate) fn to(
        &self,
        visitor: ClientSession,
    ) -> impl Stream<Item = Map<String, Value>> + Send + use<> {
        unfold((self.0.subscribe(), visitor), |(mut lines, visitor)| async {
            loop {
                match lines.recv().await {
                    Ok(line) if line.of.is(&visitor) => {
                        return Some((line.params.clone(), (lines, visitor)));
                    }
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        })
    }
}
