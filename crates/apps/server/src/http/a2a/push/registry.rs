//! Who is told of a task now, and the way out to them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;
use toolcrib_egress::{Egress, EgressError, Network};
use url::Url;

/// Configurations that are told something at the same time.
const MOST_SENDERS: usize = 1_000;

/// A task and the id of a configuration of it.
type PushKey = (String, String);

pub(crate) struct PushRegistry {
    /// Callers name the addresses. `None`: there is no TLS here, and thus no way out.
    egress: Option<Egress>,
    senders: Mutex<HashMap<PushKey, CancellationToken>>,
}

impl PushRegistry {
    /// `network`: what is open of the private addresses.
    pub(crate) fn new(network: Network) -> Self {
        Self { egress: Egress::open([], network).ok(), senders: Mutex::default() }
    }

    /// Whether an address may be reached, as far as can be told without a lookup; it is judged
    /// again whenever something is sent.
    pub(super) fn judge(&self, url: &str) -> Result<(), String> {
        let url = Url::parse(url).map_err(|error| format!("it is no address ({error})"))?;
        let Some(egress) = &self.egress else {
            return Err("this server reaches nobody".to_owned());
        };
        egress.check(&url).map_err(|error: EgressError| error.message().to_owned())
    }

    pub(super) fn egress(&self) -> Option<&Egress> {
        self.egress.as_ref()
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<PushKey, CancellationToken>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one that is to be told, which ends the one before it; `None`: there is no room.
    pub(super) fn begin(&self, task: &str, config: &str) -> Option<CancellationToken> {
        let key = (task.to_owned(), config.to_owned());
        let mut senders = self.locked();
        if let Some(before) = senders.remove(&key) {
            before.cancel();
        }
        if senders.len() >= MOST_SENDERS {
            return None;
        }
        let stop = CancellationToken::new();
        senders.insert(key, stop.clone());
        Some(stop)
    }

    pub(super) fn stop(&self, task: &str, config: &str) {
        if let Some(stop) = self.locked().remove(&(task.to_owned(), config.to_owned())) {
            stop.cancel();
        }
    }

    /// Gives the place back, unless somebody has taken it.
    pub(super) fn end(&self, task: &str, config: &str, own: &CancellationToken) {
        let mut senders = self.locked();
        if !own.is_cancelled() {
            senders.remove(&(task.to_owned(), config.to_owned()));
        }
    }
}
