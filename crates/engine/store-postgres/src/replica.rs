//! What this process is among those that share a record: its number, and the lease that it renews.
//!
//! A thread of its own renews it, whatever the one that writes waits for. It also takes those for
//! dead whose leases are over, and puts in order what they left.

pub(crate) mod keeper;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use toolcrib_core::{Fingerprint, ResultHandle, Secret};
use toolcrib_store::StoreError;
use toolcrib_store::writes::shared::WriterShared;

use crate::session::{Answer, Session};
use crate::statements::replicas::{self, NewReplica};

/// How much sooner than the others a replica takes its lease for over.
const MARGIN: Duration = Duration::from_secs(1);

/// Numbers of this process whose late ends are still heard.
const MOST_FORMER: usize = 64;

/// What one of several that share a record is told, and tells.
#[derive(Debug, Clone)]
pub struct ReplicaSettings {
    /// The same at all of them: one with another is refused.
    pub secret: Secret,
    /// Where the others reach this one.
    pub address: Option<String>,
    /// How long it counts as alive after it was last heard of.
    pub lease: Duration,
    /// Of this program.
    pub version: String,
    /// What else the others and whoever runs them may know.
    pub said: serde_json::Value,
}

/// A number of this process, and the name that tells it from the same number of another database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Incarnation {
    pub(crate) id: i64,
    pub(crate) name: String,
}

/// What the threads of a replica know of it.
pub(crate) struct ReplicaLife {
    settings: ReplicaSettings,
    shared: Arc<WriterShared>,
    /// The one that it is, before those that it was.
    known: Mutex<Vec<Incarnation>>,
}

impl ReplicaLife {
    pub(crate) fn of(settings: ReplicaSettings, shared: Arc<WriterShared>) -> Self {
        Self { settings, shared, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Vec<Incarnation>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that it is; `None` before it is any.
    pub(crate) fn current(&self) -> Option<Incarnation> {
        self.known().first().cloned()
    }

    /// Its numbers, the newest first.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        self.known().iter().map(|one| one.id).collect()
    }

    /// Becomes another one.
    pub(crate) async fn register(&self, session: &Session) -> Answer<Incarnation> {
        let sent = Instant::now();
        let ReplicaSettings { secret, address, lease, version, said } = &self.settings;
        let name = ResultHandle::unguessable().0;
        let new = NewReplica {
            name: &name,
            version,
            address: address.as_deref(),
            secret: &digest(secret),
            said: &said.to_string(),
            lease: *lease,
        };
        let id = replicas::register(session, &new).await?;
        let one = Incarnation { id, name };
        let mut known = self.known();
        known.insert(0, one.clone());
        known.truncate(MOST_FORMER);
        drop(known);
        self.shared.lease.is_named(&one.name);
        self.hold(sent);
        Ok(one)
    }

    /// The lease was asked for then.
    fn hold(&self, sent: Instant) {
        let until = sent + self.settings.lease.saturating_sub(MARGIN);
        self.shared.lease.hold(until);
    }

    fn break_off(&self, error: StoreError) {
        self.shared.lease.break_off(error);
    }

    fn place(&self) -> &PathBuf {
        &self.shared.path
    }
}

/// What all replicas can compare, and what tells nothing of the secret.
fn digest(secret: &Secret) -> String {
    Fingerprint::of(&json!(["the secret of a cluster", secret.expose()])).to_string()
}
