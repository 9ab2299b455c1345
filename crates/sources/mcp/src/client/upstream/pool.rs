//! Which connection a call runs on: one for all, or one for each caller or conversation.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use toolcrib_child::StderrTail;
use toolcrib_core::{CallContext, JsonFields, QuestionKind, QuestionTiming, SourceId};

use super::{Upstream, UpstreamRole};
use crate::client::connection::connector::ServerConnector;
use crate::client::fault::McpFault;
use crate::client::inflight::ServerLogs;
use crate::client::settings::ConnectionScope;
use crate::client::source::status::ConnectionPhase;
use crate::protocol::mirrored_headers::MirroredArguments;

/// How long a program may take to say whether it speaks as 2026-07-28 does.
const PROBE: Duration = Duration::from_secs(5);
/// Connections of one source beside the one that lists its tools, unless more conversations are
/// expected.
const MOST: usize = 64;

/// Whose connection it is, and in which way the server is spoken to.
#[derive(Clone, PartialEq, Eq, Hash)]
struct PoolKey {
    /// Tenant, subject, and session where sessions are told apart; `None`: it is everybody's.
    of: Option<(String, String, Option<Arc<str>>)>,
    way: PoolRevision,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum PoolRevision {
    /// The one that the server is first taken for.
    Usual,
    Older,
    Newer,
}

/// Whether a program that is spoken to in the older way has the newer one too.
#[derive(Default)]
struct NewerRevisionProbe {
    /// Whoever does not know waits for who finds out.
    finds_out: tokio::sync::Mutex<()>,
    found: OnceLock<bool>,
}

/// The connections of one source.
pub(crate) struct UpstreamPool {
    pub(crate) id: SourceId,
    opener: Arc<ServerConnector>,
    /// For clients that are asked in the older way, where the server may speak both.
    older: Option<Arc<ServerConnector>>,
    /// For clients of 2026-07-28, where a program may speak both: another of its programs.
    newer: Option<Arc<ServerConnector>>,
    both: NewerRevisionProbe,
    /// Lists the tools; if all share one connection, it is this one.
    pub(crate) listing: Arc<Upstream>,
    keyed: Mutex<HashMap<PoolKey, Arc<Upstream>>>,
    most: AtomicUsize,
    /// By the method of a list, how long it may be kept: as the server said last.
    hints: Mutex<JsonFields>,
    /// By the method of a list, what is wrong with it as a whole.
    notes: Mutex<BTreeMap<&'static str, Vec<String>>>,
    /// Lines of log that belong to no call, of every connection.
    pub(crate) lines: ServerLogs,
    stop: CancellationToken,
}

impl UpstreamPool {
    pub(crate) fn new(id: SourceId, opener: ServerConnector) -> Self {
        let (older, newer) = (opener.older().map(Arc::new), opener.newer().map(Arc::new));
        let opener = Arc::new(opener);
        let (stop, lines) = (CancellationToken::new(), ServerLogs::default());
        let (own, of) = (Arc::clone(&opener), stop.child_token());
        let listing = Upstream::new(own, of, lines.clone(), UpstreamRole::Lists);
        let (keyed, hints, notes) = (Mutex::default(), Mutex::default(), Mutex::default());
        let both = NewerRevisionProbe::default();
        let most = AtomicUsize::new(MOST);
        Self { id, opener, older, newer, both, listing, keyed, most, hints, notes, lines, stop }
    }

    /// What the program said that lists the tools; where none came up, the one that was tried last.
    pub(crate) fn said(&self) -> Option<StderrTail> {
        let health = self.listing.health();
        let is_up = health.phase == ConnectionPhase::Ready;
        let known = health.stderr.clone();
        drop(health);
        let newest = || self.opener.last_said();
        if is_up { known.or_else(newest) } else { newest().or(known) }
    }

    /// The connection that this call belongs on.
    pub(crate) async fn upstream(&self, context: &CallContext) -> Result<Arc<Upstream>, McpFault> {
        if let Some(newer) = self
            .newer
            .as_ref()
            .filter(|_| context.question_timing() == Some(QuestionTiming::BetweenCalls))
            && let Some(upstream) = Box::pin(self.newer_for(context, newer)).await?
        {
            return Ok(upstream);
        }
        if let Some(older) = self.older_for(context) {
            let upstream = self.upstream_of(context, Some((PoolRevision::Older, older)))?;
            // A server that has given the older way up is asked in the one that it has.
            if Box::pin(upstream.connection(Some(context))).await.is_ok() {
                return Ok(upstream);
            }
        }
        self.upstream_of(context, None)
    }

    /// The connection in the older way of a server that is spoken to in the newer one and may have
    /// both: it may offer more in the other.
    pub(crate) fn older(&self, context: &CallContext) -> Option<Result<Arc<Upstream>, McpFault>> {
        let older = self.older.as_ref()?;
        let is_modern = self.listing.current().is_some_and(|live| live.facts.is_modern);
        is_modern.then(|| self.upstream_of(context, Some((PoolRevision::Older, older))))
    }

    /// Another program of the same server, which is spoken to as a client of 2026-07-28 speaks.
    /// `None`: it speaks in the older way alone, or is spoken to in the newer one already.
    async fn newer_for(
        &self,
        context: &CallContext,
        newer: &Arc<ServerConnector>,
    ) -> Result<Option<Arc<Upstream>>, McpFault> {
        if self.both.found.get() == Some(&false) {
            return Ok(None);
        }
        let live = self.listing.connection(None).await?;
        // One that answers with another revision does not know what came after that.
        let may_have = live.facts.revision == ProtocolVersion::LATEST_WITH_INITIALIZE.as_str();
        if live.facts.is_modern || !may_have {
            return Ok(None);
        }
        let _turn = match self.both.found.get() {
            Some(_) => None,
            None => Some(self.both.finds_out.lock().await),
        };
        if self.both.found.get() == Some(&false) {
            return Ok(None);
        }
        let upstream = self.upstream_of(context, Some((PoolRevision::Newer, newer)))?;
        if self.both.found.get().is_some() {
            return Ok(Some(upstream));
        }
        let opening = timeout(PROBE, upstream.connection(Some(context)));
        let has = matches!(opening.await, Ok(Ok(live)) if live.facts.is_modern);
        if context.is_cancelled() {
            return Err(McpFault::Withdrawn);
        }
        if *self.both.found.get_or_init(|| has) {
            return Ok(Some(upstream));
        }
        let mut keyed = self.keyed.lock().unwrap_or_else(PoisonError::into_inner);
        keyed.retain(|key, _| key.way != PoolRevision::Newer);
        drop(keyed);
        tokio::spawn(async move { upstream.retire().await });
        Ok(None)
    }

    /// The way to be asked in that a server of 2026-07-28 may have too.
    fn older_for(&self, context: &CallContext) -> Option<&Arc<ServerConnector>> {
        // Its handlers may know no other way than to ask while they run. It costs twice as much, so
        // that it is for who can be asked: a form that waits under a ticket is put to somebody else.
        let is_older = context.question_timing() == Some(QuestionTiming::DuringCall);
        let of_ticket = |question| context.asks_by_ticket() && question == QuestionKind::Form;
        let can_answer = || context.answers().iter().any(|question| !of_ticket(*question));
        let older = self.older.as_ref().filter(|_| is_older && can_answer())?;
        self.listing.current().filter(|live| live.facts.is_modern).map(|_| older)
    }

    /// `other`: in another way than the usual, by this one.
    fn upstream_of(
        &self,
        context: &CallContext,
        other: Option<(PoolRevision, &Arc<ServerConnector>)>,
    ) -> Result<Arc<Upstream>, McpFault> {
        let caller = context.caller();
        let of = |session| Some((caller.tenant.clone(), caller.subject.clone(), session));
        let of = match (self.opener.share(), other) {
            (ConnectionScope::Shared, None) => return Ok(Arc::clone(&self.listing)),
            (ConnectionScope::Shared, Some(_)) => None,
            (ConnectionScope::Caller, _) => of(None),
            (ConnectionScope::Session, _) => of(context.session().map(Arc::from)),
        };
        let (way, opener) = other.unwrap_or((PoolRevision::Usual, &self.opener));
        let key = PoolKey { of, way };
        let mut keyed = self.keyed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(upstream) = keyed.get(&key) {
            return Ok(Arc::clone(upstream));
        }
        let most = self.most.load(Ordering::Relaxed);
        if keyed.len() >= most {
            make_room(&mut keyed, most)?;
        }
        let opener = Arc::clone(opener);
        let (stop, lines) = (self.stop.child_token(), self.lines.clone());
        let upstream = Upstream::new(opener, stop, lines, UpstreamRole::Calls);
        keyed.insert(key, Arc::clone(&upstream));
        Ok(upstream)
    }

    /// So many conversations go on at the same time, and none is to lose what its server knows.
    pub(crate) fn expect(&self, conversations: usize) {
        self.most.fetch_max(conversations, Ordering::Relaxed);
    }

    /// Ends what a conversation had for itself alone.
    pub(crate) async fn end_session(&self, session: &str) {
        let is_of_it = |key: &PoolKey| {
            key.of.as_ref().is_some_and(|(.., own)| own.as_deref() == Some(session))
        };
        let own: Vec<_> = {
            let mut keyed = self.keyed.lock().unwrap_or_else(PoisonError::into_inner);
            keyed.extract_if(|key, _| is_of_it(key)).map(|(_, upstream)| upstream).collect()
        };
        for upstream in own {
            upstream.retire().await;
        }
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
    pub(crate) fn learn(&self, mirrored: MirroredArguments) {
        self.opener.learn(mirrored);
    }

    pub(crate) fn hints(&self) -> JsonFields {
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

    pub(crate) fn settings(&self) -> &crate::client::settings::McpSourceSettings {
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
fn make_room(keyed: &mut HashMap<PoolKey, Arc<Upstream>>, most: usize) -> Result<(), McpFault> {
    let idle = keyed.iter().filter(|(_, upstream)| is_idle(upstream));
    let oldest = idle.max_by_key(|(_, upstream)| upstream.idle()).map(|(key, _)| key.clone());
    let Some(upstream) = oldest.and_then(|key| keyed.remove(&key)) else {
        return Err(McpFault::unreachable(format!("all of its {most} connections are in use")));
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
impl Drop for UpstreamPool {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
