//! Sessions of older clients over HTTP, of which those that are idle sleep.
//!
//! The SDK serves a session by three tasks and seven channels: some 60 KiB, whether anything is
//! said or not. A session of which nothing is awaited is let go of but for its greeting. The next
//! request that the SDK has to hear of finds it asleep, and the SDK greets it in its client's place
//! before it goes on.

mod activity;
mod calls;
mod manager;
mod request_ids;
pub(crate) mod token;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use foldhash::fast::RandomState;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{SessionId, SessionManager as _};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolcrib_core::{Caller, LogLevel};

use super::provider::{CribProvider, McpObserver};
use super::settings::McpServerSettings;
use crate::door::client::features::ClientFeatures;
use crate::door::client::subscriptions::{self, NotifiedList};
use activity::{SessionActivity, SessionStreamGuard};
use calls::SessionCall;
pub(super) use calls::SessionCallGuard;

/// For so long a session stays awake with nothing to do, so that one of which much is asked is not
/// greeted each time.
const REST: Duration = Duration::from_secs(10);
/// How often it is looked which of them may sleep, and which are forgotten.
const LOOK: Duration = Duration::from_secs(1);
/// How long a session may take to fall asleep.
const FALL: Duration = Duration::from_secs(6);

pub(super) struct McpSessionRegistry {
    local: LocalSessionManager,
    cribs: Arc<dyn CribProvider>,
    observer: Arc<dyn McpObserver>,
    /// So many stay awake with nothing to do.
    most_awake: usize,
    /// For so long one lives of which nothing is heard.
    life: Duration,
    /// For so long one lives whatever is heard of it.
    longest: Duration,
    all: Mutex<SessionTable>,
    is_swept: AtomicBool,
    own: Weak<Self>,
}

#[derive(Default)]
struct SessionTable {
    known: HashMap<SessionId, McpSession, RandomState>,
    /// Of those that are awake.
    activities: HashMap<SessionId, Arc<SessionActivity>, RandomState>,
}

#[derive(Default)]
struct McpSession {
    /// The parameters of `initialize`, as JSON; empty until they were answered.
    greeting: Box<str>,
    began: Option<Instant>,
    /// Whose it is; `None`: it begins just now.
    owner: Option<Arc<Caller>>,
    /// Who began it; `None`: that has not said yet that it is ready.
    client: Option<Box<ClientFeatures>>,
    /// Its calls that the SDK does not know of, and when the last one ended.
    calls: Vec<SessionCall>,
    called: Option<Instant>,
    /// Its requests that are on their way to the SDK.
    coming: Vec<RequestId>,
    /// Cancelled when it is over, and not while it only sleeps.
    over: CancellationToken,
    level: Option<LogLevel>,
    /// Its client asked for lines of log, and may have them.
    hears: bool,
    state: SleepState,
    /// Of one that sleeps or has just woken: the lists whose change its client was not told of.
    untold: Vec<NotifiedList>,
    /// Of one that sleeps or has just woken: resolve when a list changes after it fell asleep.
    changes: Vec<BoxFuture<'static, NotifiedList>>,
}

#[derive(Default)]
enum SleepState {
    #[default]
    Awake,
    /// Since it was used last. Whoever waits for it to sleep is told.
    Falling(Instant, Arc<Notify>),
    Asleep(Instant),
}

impl McpSessionRegistry {
    pub(super) fn new(
        cribs: Arc<dyn CribProvider>,
        observer: Arc<dyn McpObserver>,
        settings: &McpServerSettings,
    ) -> Arc<Self> {
        let mut local = LocalSessionManager::default();
        // It hears neither of the calls that are answered without it nor of whoever only listens.
        local.session_config.keep_alive = None;
        Arc::new_cyclic(|own| Self {
            local,
            cribs,
            observer,
            most_awake: settings.most_awake,
            life: settings.session_life,
            longest: settings.longest_session,
            all: Mutex::default(),
            is_swept: AtomicBool::new(false),
            own: own.clone(),
        })
    }

    fn all(&self) -> MutexGuard<'_, SessionTable> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many are open.
    pub(super) fn count(&self) -> usize {
        self.all().known.len()
    }

    /// How many of them are open that this caller began.
    pub(super) fn of(&self, caller: &Caller) -> usize {
        let is_theirs =
            |session: &&McpSession| session.owner.as_ref().is_some_and(|own| own.is(caller));
        self.all().known.values().filter(is_theirs).count()
    }

    pub(super) fn belongs(&self, id: &str, caller: &Arc<Caller>) {
        if let Some(session) = self.all().known.get_mut(id) {
            session.owner.get_or_insert_with(|| Arc::clone(caller));
        }
    }

    pub(super) fn awake(&self) -> usize {
        self.all().activities.len()
    }

    /// Is cancelled when a session is over. One that is not there is over.
    pub(super) fn over(&self, id: &str) -> CancellationToken {
        let over = self.all().known.get(id).map(|session| session.over.clone());
        over.unwrap_or_else(|| {
            let over = CancellationToken::new();
            over.cancel();
            over
        })
    }

    /// Keeps what a session is to come back with.
    pub(super) fn set_level(&self, id: &str, level: LogLevel) {
        if let Some(session) = self.all().known.get_mut(id) {
            session.level = Some(level);
        }
    }

    pub(super) fn level(&self, id: &str) -> Option<LogLevel> {
        self.all().known.get(id)?.level
    }

    /// Its client may have the lines of log for which it asked.
    pub(super) fn hears(&self, id: &str) {
        if let Some(session) = self.all().known.get_mut(id) {
            session.hears = true;
        }
    }

    pub(super) fn may_hear(&self, id: &str) -> bool {
        self.all().known.get(id).is_some_and(|session| session.hears)
    }

    /// Whether its client has a stream open on which it listens.
    pub(super) fn listens(&self, id: &str) -> bool {
        self.activity(id).is_some_and(|activity| activity.listens())
    }

    /// A session that follows resources does not sleep.
    pub(super) fn follows(&self, id: &str, resources: usize) {
        if let Some(activity) = self.activity(id) {
            activity.follows(resources);
        }
    }

    /// The lists that changed while it slept, or before and nobody listened: whoever asks is about
    /// to tell its client.
    pub(super) fn missed(&self, id: &str) -> Vec<NotifiedList> {
        let SessionTable { known, activities } = &mut *self.all();
        let (Some(session), Some(activity)) = (known.get_mut(id), activities.get(id)) else {
            return Vec::new();
        };
        let mut missed = std::mem::take(&mut session.untold);
        let changes = std::mem::take(&mut session.changes);
        for list in changes.into_iter().filter_map(FutureExt::now_or_never) {
            if !missed.contains(&list) {
                missed.push(list);
            }
        }
        activity.owe(missed.clone());
        missed
    }

    fn activity(&self, id: &str) -> Option<Arc<SessionActivity>> {
        self.all().activities.get(id).map(Arc::clone)
    }

    fn streaming(&self, id: &str, listens: bool) -> Option<SessionStreamGuard> {
        let activity = self.activity(id)?;
        let streaming = activity.stream(listens);
        activity.arrived();
        Some(streaming)
    }

    /// Lets those sleep that have rested for [`REST`]; `make_room`: also those that have rested
    /// longest, where there are too many of them.
    fn let_sleep(&self, make_room: bool) {
        let mut falling = Vec::new();
        {
            let SessionTable { known, activities } = &mut *self.all();
            let now = Instant::now();
            let idle = activities.iter().filter_map(|(id, activity)| {
                let greeted = known.get(id).is_some_and(|session| !session.greeting.is_empty());
                Some((activity.idle_since().filter(|_| greeted)?, Arc::clone(id)))
            });
            let mut idle: Vec<_> = idle.collect();
            idle.sort_unstable();
            let more = if make_room { idle.len().saturating_sub(self.most_awake) } else { 0 };
            for (place, (since, id)) in idle.into_iter().enumerate() {
                let rested = place < more || now.duration_since(since) > REST;
                if rested
                    && let (Some(session), Some(activity)) =
                        (known.get_mut(&id), activities.remove(&id))
                {
                    session.state = SleepState::Falling(since, Arc::default());
                    session.untold.extend(activity.untold());
                    if session.changes.is_empty() {
                        session.changes = subscriptions::changes(&*self.cribs);
                    }
                    falling.push(id);
                }
            }
        }
        let Some(sessions) = self.own.upgrade().filter(|_| !falling.is_empty()) else { return };
        // Not by whoever greets, who may go away meanwhile: what is half asleep would never wake.
        tokio::spawn(async move {
            for id in falling {
                // It may have ended by itself meanwhile.
                let _ = sessions.local.close_session(&id).await;
            }
        });
    }

    /// Has somebody look after them for as long as there are any.
    fn look_after(&self) {
        if self.is_swept.swap(true, Ordering::AcqRel) {
            return;
        }
        let sessions = Weak::clone(&self.own);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(sessions) = sessions.upgrade() else { return };
                sessions.let_sleep(false);
                if sessions.forget().await {
                    return;
                }
            }
        });
    }

    /// Forgets those that nobody came back to, and those that are too old; `true`: there are none
    /// any more.
    async fn forget(&self) -> bool {
        let (over, awake) = {
            let SessionTable { known, activities } = &mut *self.all();
            let over = known.extract_if(|id, session| {
                let activity = activities.get(id);
                let heard = session.heard_of(activity);
                heard.is_some_and(|heard| heard.elapsed() >= self.life)
                    || (session.is_older(self.longest) && !session.works(activity))
            });
            let (ids, over): (Vec<_>, Vec<_>) = over.unzip();
            let awake = ids.into_iter().filter(|id| activities.remove(id).is_some());
            (over, awake.collect::<Vec<SessionId>>())
        };
        self.tell(over);
        for id in awake {
            // It may have ended by itself meanwhile.
            let _ = self.local.close_session(&id).await;
        }
        let mut all = self.all();
        let is_over = all.known.is_empty();
        if is_over {
            *all = SessionTable::default();
            // With the lock held: the next one to begin has somebody look again.
            self.is_swept.store(false, Ordering::Release);
        }
        is_over
    }

    /// What the SDK says when a session is over, by itself or by its client; `true`: it sleeps.
    fn ended(&self, id: &str) -> bool {
        let mut all = self.all();
        let Some(session) = all.known.get_mut(id) else { return false };
        match &session.state {
            SleepState::Falling(used, fell) => {
                let (used, fell) = (*used, Arc::clone(fell));
                session.state = SleepState::Asleep(used);
                fell.notify_waiters();
                true
            }
            SleepState::Asleep(_) => true,
            SleepState::Awake => {
                let over = all.remove(id);
                drop(all);
                self.tell(over);
                false
            }
        }
    }

    /// Tells the observer of those that are over: after the lock is given back, as others wait for it.
    fn tell(&self, over: impl IntoIterator<Item = McpSession>) {
        for session in over {
            if let Some((revision, began)) = session.revision().zip(session.began) {
                self.observer.session_ended(&revision, began.elapsed());
            }
        }
    }

    /// Takes in one that begins, or that wakes.
    fn wakes(&self, id: &SessionId, coming: usize) -> Arc<SessionActivity> {
        let activity = SessionActivity::new(coming);
        let mut all = self.all();
        let session = all.known.entry(Arc::clone(id)).or_default();
        session.state = SleepState::Awake;
        session.began.get_or_insert_with(Instant::now);
        all.activities.insert(Arc::clone(id), Arc::clone(&activity));
        activity
    }
}

impl SessionTable {
    fn remove(&mut self, id: &str) -> Option<McpSession> {
        self.activities.remove(id);
        self.known.remove(id)
    }
}

impl McpSession {
    /// Which one its client asked for; `None`: it was not greeted yet.
    fn revision(&self) -> Option<String> {
        let greeting: Value = serde_json::from_str(&self.greeting).ok()?;
        Some(greeting.get("protocolVersion")?.as_str()?.to_owned())
    }

    /// When something was heard of it last; `None`: somebody is there.
    fn heard_of(&self, activity: Option<&Arc<SessionActivity>>) -> Option<Instant> {
        let used = match self.state {
            SleepState::Asleep(used) => used,
            SleepState::Falling(..) => return None,
            SleepState::Awake => activity?.left_since()?,
        };
        self.calls.is_empty().then(|| self.called.map_or(used, |called| called.max(used)))
    }

    fn is_older(&self, than: Duration) -> bool {
        self.began.is_some_and(|began| began.elapsed() >= than)
    }

    /// Whether a call of it runs, or it is on its way to sleep: that ends soon.
    fn works(&self, activity: Option<&Arc<SessionActivity>>) -> bool {
        let is_falling = matches!(self.state, SleepState::Falling(..));
        is_falling || !self.calls.is_empty() || activity.is_some_and(|activity| activity.works())
    }
}
