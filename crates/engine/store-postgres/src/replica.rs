//! What this process is among those that share a record: its number, and the lease that it renews.
//!
//! A thread of its own renews it, whatever the one that writes waits for. It also takes those for
//! dead whose leases are over, and puts in order what they left.

pub(crate) mod keeper;
pub(crate) mod tokens;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_core::{Fingerprint, ResultHandle, Secret};
use toolcrib_store::writes::shared::WriterShared;
use toolcrib_store::{Fleet, StoreError};

use crate::address::DatabaseAddress;
use crate::group::{apart, runtime};
use crate::session::{Answer, Session};
use crate::statements::replicas::fleet::{self, MOST_SAID};
use crate::statements::replicas::{self, NewReplica};
use crate::statements::schema;

/// How much sooner than the others a replica takes its lease for over.
const MARGIN: Duration = Duration::from_secs(1);

/// Numbers of this process whose late ends are still heard.
const MOST_FORMER: usize = 64;

/// What one of several that share a record is told, and tells.
#[derive(Debug, Clone)]
pub struct ReplicaSettings {
    /// The same at all of them: one with another is refused.
    pub secret: Secret,
    /// Another one that it opens as well, while one takes the place of the other.
    pub opens: Option<Secret>,
    /// Where the others reach this one.
    pub address: Option<String>,
    /// How long it counts as alive after it was last heard of.
    pub lease: Duration,
    /// Of this program.
    pub version: String,
    /// What else the others and whoever runs them may know.
    pub said: Value,
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
        let ReplicaSettings { address, lease, version, .. } = &self.settings;
        let opens = self.opens();
        let name = ResultHandle::unguessable().0;
        let new = NewReplica {
            name: &name,
            version,
            address: address.as_deref(),
            opens: &opens,
            said: &self.said(),
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

    /// What it says of itself, as JSON. What would be more than the others read is left out.
    pub(crate) fn said(&self) -> String {
        let form = json!({ "reads": schema::newest(), "writes": schema::newest() });
        let plain = json!({ "form": form, "opens": self.opens() });
        let mut said = plain.clone();
        let now = Value::Object(self.shared.lease.report());
        for told in [&self.settings.said, &now] {
            let (Value::Object(said), Value::Object(told)) = (&mut said, told) else { continue };
            said.extend(told.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        let text = said.to_string();
        if text.len() <= MOST_SAID { text } else { plain.to_string() }
    }

    /// The digests of the secrets by which it opens; by the first it seals.
    fn opens(&self) -> Vec<String> {
        let ReplicaSettings { secret, opens, .. } = &self.settings;
        [Some(secret), opens.as_ref()].into_iter().flatten().map(digest).collect()
    }

    /// The lease was asked for then.
    fn hold(&self, sent: Instant) {
        let until = sent + self.settings.lease.saturating_sub(MARGIN);
        self.shared.lease.hold(until);
    }

    fn refused(&self, why: Option<StoreError>) {
        self.shared.lease.refuse(why);
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

/// Looks at those that share a database, from outside.
pub(crate) fn look(address: &Arc<DatabaseAddress>, older: Duration) -> Result<Fleet, StoreError> {
    let (place, address) = (address.place.clone(), Arc::clone(address));
    apart(&place, move || {
        let looked = runtime(&address.place)?.block_on(async {
            let session = Session::open_brief(&address).await?;
            session.batch("SET default_transaction_read_only = on").await?;
            fleet::fleet(&session, older).await
        });
        looked.map_err(|error| error.at(&address.place))
    })
}
