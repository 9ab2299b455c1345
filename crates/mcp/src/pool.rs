//! Which connection a call runs on: one for all, or one for each caller or conversation.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use toolcrib_core::{CallContext, Fields, SourceId};

use crate::calls::Lines;
use crate::fault::Fault;
use crate::http::parameters::Mirrors;
use crate::open::Opener;
use crate::settings::Share;
use crate::upstream::{Role, Upstream};

/// Connections of one source beside the one that lists its tools.
const MOST: usize = 64;

/// Whose connection it is, and in which way the server is spoken to.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// Tenant, subject, and session where sessions are told apart; `None`: it is everybody's.
    of: Option<(String, String, Option<Arc<str>>)>,
    is_older: bool,
}

/// The connections of one source.
pub(crate) struct Pool {
    pub(crate) id: SourceId,
    opener: Arc<Opener>,
    /// For clients that are asked in the older way, where the server may speak both.
    older: Option<Arc<Opener>>,
    /// Lists the tools; if all share one connection, it is this one.
    pub(crate) listing: Arc<Upstream>,
    keyed: Mutex<HashMap<Key, Arc<Upstream>>>,
    /// By the method of a list, how long it may be kept: as the server said last.
    hints: Mutex<Fields>,
    /// By the method of a list, what is wrong with it as a whole.
    notes: Mutex<BTreeMap<&'static str, Vec<String>>>,
    /// Lines of log that belong to no call, of every connection.
    pub(crate) lines: Lines,
    stop: CancellationToken,
}

impl Pool {
    pub(crate) fn new(id: SourceId, opener: Opener) -> Self {
        let older = opener.older().map(Arc::new);
        let opener = Arc::new(opener);
        let (stop, lines) = (CancellationToken::new(), Lines::default());
        let (own, of) = (Arc::clone(&opener), stop.child_token());
        let listing = Upstream::new(own, of, lines.clone(), Role::Lists);
        let (keyed, hints, notes) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { id, opener, older, listing, keyed, hints, notes, lines, stop }
    }

    /// The connection that this call belongs on.
    pub(crate) async fn upstream(&self, context: &CallContext) -> Result<Arc<Upstream>, Fault> {
        if let Some(older) = self.older_for(context) {
            let upstream = self.upstream_of(context, Some(older))?;
            // A server that has given the older way up is asked in the one that it has.
            if Box::pin(upstream.connection(Some(context))).await.is_ok() {
                return Ok(upstream);
            }
        }
        self.upstream_of(context, None)
    }

    /// The connection in the older way of a server that is spoken to in the newer one and may have
    /// both: it may offer more in the other.
    pub(crate) fn older(&self, context: &CallContext) -> Option<Result<Arc<Upstream>, Fault>> {
        let older = self.older.as_ref()?;
        let is_modern = self.listing.current().is_some_and(|live| live.facts.is_modern);
        is_modern.then(|| self.upstream_of(context, Some(older)))
    }

    /// The way to be asked in that a server of 2026-07-28 may have too.
    fn older_for(&self, context: &CallContext) -> Option<&Arc<Opener>> {
        let older = self.older.as_ref().filter(|_| context.is_asked_in_older_way())?;
        self.listing.current().filter(|live| live.facts.is_modern).map(|_| older)
    }

    /// `older`: in the older way, by this one.
    fn upstream_of(
        &self,
        context: &CallContext,
        older: Option<&Arc<Opener>>,
    ) -> Result<Arc<Upstream>, Fault> {
        let caller = context.caller();
        let of = |session| Some((caller.tenant.clone(), caller.subject.clone(), session));
        let of = match (self.opener.share(), older) {
            (Share::Shared, None) => return Ok(Arc::clone(&self.listing)),
            (Share::Shared, Some(_)) => None,
            (Share::Caller, _) => of(None),
            (Share::Session, _) => of(context.session().map(Arc::from)),
        };
        let key = Key { of, is_older: older.is_some() };
        let mut keyed = self.keyed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(upstream) = keyed.get(&key) {
            return Ok(Arc::clone(upstream));
        }
        if keyed.len() >= MOST {
            make_room(&mut keyed)?;
        }
        let opener = Arc::clone(older.unwrap_or(&self.opener));
        let (stop, lines) = (self.stop.child_token(), self.lines.clone());
        let upstream = Upstream::new(opener, stop, lines, Role::Calls);
        keyed.insert(key, Arc::clone(&upstream));
        Ok(upstream)
    }

    pub(crate) fn all(&self) -> Vec<Arc<Upstream>> {
        let keyed = self.keyed.lock().unwrap_or_else(PoisonError::into_inner);
        keyed.values().chain([&self.listing]).map(Arc::clone).collect()
    }

    /// Those that are open beside them, for calls that cannot run on the same.
    pub(crate) fn beside(&self) -> Vec<Arc<Upstream>> {
        self.all().iter().flat_map(|upstream| upstream.beside()).collect()
    }

    /// Takes in what calls must know of the tools of a list.
    pub(crate) fn learn(&self, mirrored: Mirrors) {
        self.opener.learn(mirrored);
    }

    pub(crate) fn hints(&self) -> Fields {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes in the hints of a list that the library does not ask for itself.
    pub(crate) fn hint(&self, method: &str, hint: serde_json::Value) {
        let before = self.hints();
        let mut hints = self.hints.lock().unwrap_or_else(PoisonError::into_inner);
        hints.insert(method.to_owned(), hint);
        if *hints != before {
            self.listing.news.library.send_modify(|count| *count += 1);
        }
    }

    /// What is wrong with its last lists.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.values().flatten().cloned().collect()
    }

    /// Takes in what is wrong with a list, in the place of what was the last time.
    pub(crate) fn note(&self, method: &'static str, told: Vec<String>) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.insert(method, told);
    }

    pub(crate) fn settings(&self) -> &crate::settings::ServerSettings {
        &self.opener.settings
    }

    /// Ends every connection once no call runs on it, and within the time of the longest call.
    pub(crate) fn retire(self: &Arc<Self>) {
        let is_busy = |pool: &Self| pool.all().iter().any(|upstream| upstream.is_busy());
        let Some(runtime) = Handle::try_current().ok().filter(|_| is_busy(self)) else {
            self.stop.cancel();
            return;
        };
        let pool = Arc::clone(self);
        runtime.spawn(async move {
            let ended = async {
                while is_busy(&pool) {
                    sleep(LOOK_AGAIN).await;
                }
            };
            let _ = timeout(pool.settings().timeouts.longest_call, ended).await;
            pool.stop.cancel();
        });
    }

    /// Ends every connection and opens none any more.
    pub(crate) async fn stop(&self) {
        let stopping: Vec<_> = self.all();
        futures_util::future::join_all(stopping.iter().map(|upstream| upstream.retire())).await;
        self.stop.cancel();
    }
}

/// Stops the connection that has been idle longest.
fn make_room(keyed: &mut HashMap<Key, Arc<Upstream>>) -> Result<(), Fault> {
    let idle = keyed.iter().filter(|(_, upstream)| is_idle(upstream));
    let oldest = idle.max_by_key(|(_, upstream)| upstream.idle()).map(|(key, _)| key.clone());
    let Some(upstream) = oldest.and_then(|key| keyed.remove(&key)) else {
        return Err(Fault::unreachable(format!("all of its {MOST} connections are in use")));
    };
    tokio::spawn(async move { upstream.retire().await });
    Ok(())
}

/// Nobody but the pool holds it, so that no call can be about to begin on it.
fn is_idle(upstream: &Arc<Upstream>) -> bool {
    Arc::strong_count(upstream) == 1 && !upstream.is_busy()
}

/// How often it is looked whether the last call has ended.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The last tool is gone, and with it whoever could call.
impl Drop for Pool {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
