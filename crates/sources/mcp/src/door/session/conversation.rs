//! What is kept of a client between its requests: of an older one, and of one at a pipe.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::greeting::WrittenGreeting;
use super::open_requests::OpenRequests;
use crate::door::client::features::ClientFeatures;
use crate::door::client::logs::{LogForwarder, LogListener};
use crate::door::client::outbound::PendingQuestions;
use crate::door::client::subscriptions::SessionSubscriptions;
use crate::protocol::revisions::GREETED;

/// Notifications of one client that are passed on at the same time; those beyond are lost.
const MOST_NOTICES: usize = 64;

pub(crate) struct Conversation {
    greeting: Mutex<Option<Greeting>>,
    pub(crate) open: Arc<OpenRequests>,
    pub(crate) questions: Arc<PendingQuestions>,
    pub(crate) logs: LogForwarder,
    pub(crate) followed: SessionSubscriptions,
    /// Where goes what belongs to no request.
    pub(crate) unrelated: Arc<dyn LogListener>,
    /// Is cancelled with its end, and its requests with it.
    pub(crate) over: CancellationToken,
    /// For notifications that are passed on.
    pub(crate) notices: Arc<Semaphore>,
    /// Whether there is more to know of its client than was written down.
    has_changed: AtomicBool,
}

struct Greeting {
    revision: &'static str,
    /// The one that it asked for.
    wanted: Box<str>,
    features: ClientFeatures,
}

impl Conversation {
    pub(crate) fn new(unrelated: Arc<dyn LogListener>) -> Self {
        Self {
            greeting: Mutex::default(),
            open: Arc::default(),
            questions: Arc::default(),
            logs: LogForwarder::default(),
            followed: SessionSubscriptions::default(),
            unrelated,
            over: CancellationToken::new(),
            notices: Arc::new(Semaphore::new(MOST_NOTICES)),
            has_changed: AtomicBool::new(false),
        }
    }

    fn greeting(&self) -> MutexGuard<'_, Option<Greeting>> {
        self.greeting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn greets(&self, revision: &'static str, wanted: &str, features: ClientFeatures) {
        // A revision is a date; what is longer is none, and is not kept.
        let wanted = wanted.chars().take(32).collect::<String>().into();
        *self.greeting() = Some(Greeting { revision, wanted, features });
    }

    /// From now on another process has to know more of its client.
    pub(crate) fn changes(&self) {
        self.has_changed.store(true, Ordering::Release);
    }

    /// Whether that is so since it was asked last.
    pub(super) fn has_changed(&self) -> bool {
        self.has_changed.swap(false, Ordering::AcqRel)
    }

    /// What another process has to know of its client; `None`: it has not greeted.
    pub(super) fn written(&self) -> Option<String> {
        let written = {
            let greeting = self.greeting();
            let Greeting { wanted, features, .. } = greeting.as_ref()?;
            WrittenGreeting::of(wanted, features, &self.logs)
        };
        Some(written.text(self.followed.uris()))
    }

    /// Goes on with what another process wrote.
    pub(super) fn restore(&self, written: WrittenGreeting) {
        self.greets(written.revision(), &written.protocol_version, written.features());
        self.logs.restore(written.lowest(), written.hears_lines);
        self.followed.restore(written.followed);
        self.questions.resume();
    }

    /// The revision that its client asked for; `None`: it has not greeted.
    pub(crate) fn wanted(&self) -> Option<String> {
        self.greeting().as_ref().map(|greeting| greeting.wanted.to_string())
    }

    /// Who asks, as the greeting says. `None`: there was none.
    pub(super) fn greeted(&self) -> Option<(&'static str, ClientFeatures)> {
        let greeting = self.greeting();
        let Greeting { revision, features, .. } = greeting.as_ref()?;
        let mut features = features.clone();
        features.hears = Some(self.logs.lowest());
        Some((revision, features))
    }

    /// Whether its client knows events that say nothing but their name: who has one may come back
    /// for what is behind it.
    pub(crate) fn primes(&self) -> bool {
        self.greeting().as_ref().is_some_and(|greeting| greeting.revision >= GREETED)
    }

    /// Whether its client may say several things at once.
    pub(crate) fn has_batches(&self) -> bool {
        self.greeting().as_ref().is_some_and(|greeting| greeting.features.has_batches())
    }
}
