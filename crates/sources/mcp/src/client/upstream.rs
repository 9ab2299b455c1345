//! One server as its callers see it: opened when it is needed, healed when it breaks.

mod connection_load;
mod health;
mod isolation;
mod lifecycle;
pub(crate) mod pool;
mod subscription_state;
mod subscriptions;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch as signal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolcrib_child::Permit;
use toolcrib_core::{CallContext, LogLevel};

use super::call::{self, outgoing::OutgoingRequest};
use super::connection::{CountGuard, McpConnection};
use super::fault::McpFault;
use super::inflight::{ServerLogs, ServerNotices};
use super::settings::ConnectionScope;
use crate::client::call::reply::ServerReply;
use crate::client::connection::connector::ServerConnector;
use crate::client::inflight::asking_habits::CallSubject;
use crate::protocol::levels::level;
use connection_load::ConnectionLoad;
use health::UpstreamHealth;
use subscription_state::UpstreamSubscriptions;

/// A pause before a start that a call sits out; for a longer one it is told when to come again.
const SAT_OUT: Duration = Duration::from_secs(1);

/// How long one for calls that cannot run beside others stays open that nobody uses.
const IDLE_APART: Duration = Duration::from_secs(30);

/// What is said of a connection that ended by itself.
const CLOSED: &str = "the server closed the connection";

type SharedOpening = Shared<BoxFuture<'static, Result<Arc<McpConnection>, Arc<McpFault>>>>;

/// The connection to a server, over all its lives.
pub(crate) struct Upstream {
    opener: Arc<ServerConnector>,
    current: ArcSwapOption<McpConnection>,
    /// One opening at a time, whoever waits for it.
    opening: Mutex<Option<SharedOpening>>,
    health: Mutex<UpstreamHealth>,
    pub(crate) news: Arc<ServerNotices>,
    /// The lowest level of log lines that anybody asked for.
    lowest: Mutex<Option<LogLevel>>,
    /// What is followed over it.
    pub(crate) followed: UpstreamSubscriptions,
    /// Counts how often the connection was lost.
    pub(crate) ends: signal::Sender<u64>,
    /// Calls that run, over this connection and those that were left, or that wait for one.
    calls: AtomicUsize,
    /// Milliseconds from `born` to the end of the last request.
    last_used: AtomicU64,
    born: Instant,
    stop: CancellationToken,
    /// No connection is opened any more, though the last may not have ended yet.
    is_over: AtomicBool,
    role: UpstreamRole,
    /// What runs on it and beside it, where questions do not say whose they are.
    apart: CallIsolation,
}

/// What an upstream is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UpstreamRole {
    /// It is asked for lists, and so follows their changes.
    Lists,
    Calls,
    /// For calls that cannot run beside those on another one.
    Apart,
}

/// What runs where, of one upstream and those that are open beside it.
#[derive(Default)]
struct CallIsolation {
    lanes: Mutex<IsolationState>,
    changed: Notify,
}

#[derive(Default)]
struct IsolationState {
    own: ConnectionLoad,
    beside: Vec<SideConnection>,
}

struct SideConnection {
    upstream: Arc<Upstream>,
    taken: ConnectionLoad,
}

impl CallIsolation {
    fn lanes(&self) -> MutexGuard<'_, IsolationState> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connections beside the first one.
    fn beside(&self) -> Vec<Arc<Upstream>> {
        self.lanes().beside.iter().map(|lane| Arc::clone(&lane.upstream)).collect()
    }
}

impl Upstream {
    /// `stop`: ends everything when it is cancelled.
    pub(crate) fn new(
        opener: Arc<ServerConnector>,
        stop: CancellationToken,
        lines: ServerLogs,
        role: UpstreamRole,
    ) -> Arc<Self> {
        let health = UpstreamHealth::new(opener.settings.restarts);
        Arc::new(Self {
            opener,
            current: ArcSwapOption::empty(),
            opening: Mutex::default(),
            health: Mutex::new(health),
            news: Arc::new(ServerNotices::with(lines)),
            lowest: Mutex::default(),
            followed: UpstreamSubscriptions::default(),
            ends: signal::Sender::new(0),
            calls: AtomicUsize::new(0),
            last_used: AtomicU64::new(0),
            born: Instant::now(),
            stop,
            is_over: AtomicBool::new(false),
            role,
            apart: CallIsolation::default(),
        })
    }

    /// Those that are open beside it, for calls that cannot run on this one.
    pub(crate) fn beside(&self) -> Vec<Arc<Self>> {
        self.apart.beside()
    }

    fn level(&self) -> MutexGuard<'_, Option<LogLevel>> {
        self.lowest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long it stays open that nobody uses.
    fn idle_stop(&self) -> Option<Duration> {
        let said = self.opener.settings.idle_stop;
        if self.role == UpstreamRole::Apart {
            return Some(said.map_or(IDLE_APART, |said| said.min(IDLE_APART)));
        }
        said
    }

    pub(crate) fn health(&self) -> MutexGuard<'_, UpstreamHealth> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The live connection, if there is one.
    pub(crate) fn current(&self) -> Option<Arc<McpConnection>> {
        self.current.load_full().filter(|connection| !connection.is_closed())
    }

    /// A live connection, opened if there is none.
    pub(crate) async fn connection(
        self: &Arc<Self>,
        context: Option<&CallContext>,
    ) -> Result<Arc<McpConnection>, McpFault> {
        let connection = match self.current.load_full() {
            Some(connection) if !connection.is_closed() => connection,
            gone => {
                if let Some(closed) = gone {
                    self.lose(&closed, &McpFault::broken(CLOSED));
                }
                self.opened(context).await?
            }
        };
        if let Some(context) = context {
            let session =
                context.session().filter(|_| self.opener.share() == ConnectionScope::Session);
            connection.calls.served.note(context.caller(), session);
        }
        Ok(connection)
    }

    async fn opened(
        self: &Arc<Self>,
        context: Option<&CallContext>,
    ) -> Result<Arc<McpConnection>, McpFault> {
        let opening = self.opening(context)?;
        let cancelled = async {
            match context {
                Some(context) => context.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            opened = opening => opened.map_err(|fault| fault.again()),
            () = cancelled => Err(McpFault::Withdrawn),
        }
    }

    /// Joins the opening under way, or begins one if that is allowed now.
    fn opening(self: &Arc<Self>, context: Option<&CallContext>) -> Result<SharedOpening, McpFault> {
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked at alone, one that nobody waited for to the end would seem to be under way for
        // ever.
        let is_under_way =
            |opening: &&SharedOpening| SharedOpening::clone(opening).now_or_never().is_none();
        if let Some(opening) = opening.as_ref().filter(is_under_way) {
            return Ok(opening.clone());
        }
        if let Some(connection) = self.current() {
            return Ok(std::future::ready(Ok(connection)).boxed().shared());
        }
        if self.stop.is_cancelled() || self.is_over.load(Ordering::Acquire) {
            return Err(McpFault::unreachable("the source was stopped"));
        }
        // Not within the match: its guard would be held there.
        let permit = self.health().permit();
        let pause = match permit {
            // It ran and was stopped by us, if it is said to run: nothing counts against it.
            Permit::Start | Permit::Running => Duration::ZERO,
            Permit::Wait(pause) if pause <= SAT_OUT => pause,
            Permit::Wait(pause) => return Err(self.health().not_before(pause, Some(pause))),
            // Nobody should sit that out.
            Permit::Open(pause) => return Err(self.health().not_before(pause, None)),
        };
        let begun = self.begin(pause, context.cloned());
        *opening = Some(begun.clone());
        Ok(begun)
    }

    fn begin(self: &Arc<Self>, pause: Duration, context: Option<CallContext>) -> SharedOpening {
        let upstream = Arc::clone(self);
        // On a task of its own: that one caller gives up must not take it from the others.
        let task = tokio::spawn(async move {
            let stop = upstream.stop.clone();
            let opening = async {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                    upstream.health().permit();
                }
                // Rare, and large.
                Box::pin(upstream.open(context.as_ref())).await
            };
            tokio::select! {
                opened = opening => opened,
                () = stop.cancelled() => Err(McpFault::unreachable("the source was stopped")),
            }
        });
        let ended = task.map(|ended| {
            let opened =
                ended.unwrap_or_else(|_| Err(McpFault::unreachable("something of ours broke")));
            opened.map_err(Arc::new)
        });
        ended.boxed().shared()
    }

    async fn open(
        self: &Arc<Self>,
        context: Option<&CallContext>,
    ) -> Result<Arc<McpConnection>, McpFault> {
        self.health().starts();
        match self.opener.open(context, &self.news).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                if self.is_over.load(Ordering::Acquire) {
                    connection.close().await;
                    return Err(McpFault::unreachable("the source was stopped"));
                }
                self.touch();
                self.health().is_ready(&connection);
                self.current.store(Some(Arc::clone(&connection)));
                lifecycle::over(self, &connection);
                Ok(connection)
            }
            Err(fault) => {
                self.health().failed(&fault);
                Err(fault)
            }
        }
    }

    /// Runs one call on this connection. What never left is sent once more over a new one.
    async fn call_here(
        self: &Arc<Self>,
        asked: (&OutgoingRequest, Option<&CallSubject>),
        context: &CallContext,
    ) -> Result<ServerReply, McpFault> {
        let timeouts = self.opener.settings.timeouts;
        let mut heals = true;
        let _called = CountGuard::new(&self.calls);
        loop {
            let connection = self.connection(Some(context)).await?;
            let _attended = self.opener.attended_by(context);
            // Between its requests, while a person answers, a call needs its connection too.
            let counted = CountGuard::new(&connection.in_flight);
            let ended = call::run(&connection, asked, context, timeouts).await;
            drop(counted);
            self.touch();
            match ended {
                Err(fault) if std::mem::take(&mut heals) && helps(&connection, &fault) => {
                    self.lose(&connection, &fault);
                }
                Err(fault) => {
                    self.health().tell(&fault);
                    return Err(fault);
                }
                Ok(result) => return Ok(result),
            }
        }
    }

    /// Passes on from which level on somebody wants to hear log lines; a server of 2026-07-28 is
    /// told with each request. The lowest of all counts, since a connection may have several.
    pub(crate) async fn hear_from(
        self: &Arc<Self>,
        params: Map<String, Value>,
        context: &CallContext,
    ) -> Result<Map<String, Value>, McpFault> {
        let connection = self.connection(Some(context)).await?;
        let named = params.get("level").and_then(Value::as_str).unwrap_or_default();
        let Some(level) = level(named) else {
            return Err(McpFault::Refused {
                code: -32602,
                message: "there is no such level".to_owned(),
                data: None,
            });
        };
        let is_lower = {
            let mut lowest = self.level();
            let is_lower = lowest.is_none_or(|lowest| level < lowest);
            if is_lower {
                *lowest = Some(level);
            }
            is_lower
        };
        if connection.facts.is_modern || !is_lower {
            return Ok(Map::new());
        }
        for beside in self.beside() {
            *beside.level() = Some(level);
            beside.current().inspect(|live| lifecycle::tell_level(&beside, live));
        }
        let asked = OutgoingRequest {
            method: "logging/setLevel".into(),
            params: params.into(),
            as_task: false,
            is_harmless: true,
        };
        // Here, whatever runs on it: it is about this connection.
        self.call_here((&asked, None), context).await?.fields()
    }

    /// Drops a connection that is of no use any more; `false` if it was dropped before.
    pub(crate) fn lose(&self, connection: &Arc<McpConnection>, fault: &McpFault) -> bool {
        let before = self.current.compare_and_swap(connection, None);
        let is_lost = before.as_ref().is_some_and(|before| Arc::ptr_eq(before, connection));
        if is_lost {
            self.health().lost(connection, fault);
            lifecycle::leave(connection, self.opener.settings.timeouts.longest_call);
            self.ends.send_modify(|count| *count += 1);
        }
        is_lost
    }

    pub(crate) fn touch(&self) {
        let since = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_used.store(since, Ordering::Release);
    }

    /// How long nothing was asked of it.
    pub(crate) fn idle(&self) -> Duration {
        let used = Duration::from_millis(self.last_used.load(Ordering::Acquire));
        self.born.elapsed().saturating_sub(used)
    }

    /// Calls that run now.
    pub(crate) fn in_flight(&self) -> usize {
        self.calls.load(Ordering::Acquire)
    }

    /// Whether anything runs, lists too.
    pub(crate) fn is_busy(&self) -> bool {
        let is_busy = |connection: Arc<McpConnection>| connection.is_busy();
        self.in_flight() > 0 || self.current().is_some_and(is_busy) || self.is_busy_beside()
    }

    /// Whether anything runs on a connection beside this one.
    fn is_busy_beside(&self) -> bool {
        self.apart.beside().iter().any(|upstream| upstream.calls.load(Ordering::Acquire) > 0)
    }

    /// Ends it for good. Whoever wants a connection while the last one ends gets none: its program
    /// would outlive us.
    pub(crate) async fn retire(&self) {
        self.is_over.store(true, Ordering::Release);
        for beside in self.beside() {
            beside.is_over.store(true, Ordering::Release);
            beside.stop().await;
        }
        self.stop().await;
        self.stop.cancel();
    }

    /// Ends a connection on which nothing runs but what was given up; the next call opens another.
    fn leave_abandoned(&self) {
        if self.current().is_none_or(|live| !live.calls.has_abandoned()) {
            return;
        }
        let (Some(connection), Ok(runtime)) = (self.current.swap(None), Handle::try_current())
        else {
            return;
        };
        self.health().is_idle();
        runtime.spawn(async move { connection.close().await });
    }

    /// Ends the connection and waits for its program to be gone.
    pub(crate) async fn stop(&self) {
        let Some(connection) = self.current.swap(None) else {
            return;
        };
        self.health().is_idle();
        connection.close().await;
    }
}

/// Whether another connection may do what this one did not.
fn helps(connection: &McpConnection, fault: &McpFault) -> bool {
    // Some servers of the old era say 400 of a session that they have forgotten.
    let forgotten = matches!(fault, McpFault::Http { status: 400 | 404, .. });
    fault.never_sent() || (forgotten && !connection.facts.is_modern)
}
