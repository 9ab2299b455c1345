//! What all requests share.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use toolcrib::config::{Bounds, Live};
use toolcrib::mcp::{Door, DoorSettings};
use toolcrib::store::Store;

use super::mcp::Shown;
use crate::http::listen::overload::Why;
use crate::http::pipeline::authentication::Guard;
use crate::http::pipeline::concurrency::Busy;
use crate::http::pipeline::host_check::Names;
use crate::http::rest::batch::active_batches::Running;
use crate::http::rest::batch::idempotency::Replies;
use crate::http::rest::plan_store::Plans;
use crate::telemetry::Telemetry;

/// For so long after a peer was turned away others had better go elsewhere.
const FULL: Duration = Duration::from_secs(1);

pub(crate) struct House {
    pub(crate) live: Arc<Live>,
    /// The door of the Model Context Protocol; sessions of older clients live in it.
    pub(crate) mcp: toolcrib::mcp::Porch,
    pub(crate) door: Door,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) names: Names,
    /// What is taken from whoever comes.
    pub(crate) bounds: Bounds,
    pub(crate) guard: Guard,
    pub(crate) busy: Arc<Busy>,
    pub(crate) plans: Plans,
    pub(crate) running: Arc<Running>,
    pub(crate) replies: Replies,
    /// What outlives the process; `None`: nothing does.
    pub(crate) store: Option<Store>,
    /// When a peer found no room the last time.
    no_room: Mutex<Option<Instant>>,
    /// Every source had its first chance.
    pub(crate) started: AtomicBool,
    /// Cancelled when no more is to be begun.
    pub(crate) stop: CancellationToken,
}

impl House {
    pub(crate) fn new(
        live: Arc<Live>,
        (names, guard): (Names, Guard),
        bounds: Bounds,
        store: Option<Store>,
        telemetry: Arc<Telemetry>,
    ) -> Self {
        let settings = DoorSettings {
            hosts: names.hosts().to_vec(),
            origins: names.origins(),
            request: bounds.json(),
            most_sessions: bounds.sessions,
            sessions_per_caller: bounds.sessions_per_caller,
            session_life: bounds.session_life,
            longest_session: bounds.longest_session,
            most_waiting: bounds.waiting,
            patience: bounds.patience,
            most_tasks: bounds.tasks,
            task_after: bounds.task_after,
            task_life: bounds.task_life,
            ..DoorSettings::default()
        };
        let shown = Shown { live: Arc::clone(&live), telemetry: Arc::clone(&telemetry) };
        let door = Door::new(Arc::new(shown), settings);
        let replies = Replies(live.crib().clone());
        Self {
            live,
            mcp: door.porch(),
            door,
            telemetry,
            names,
            guard,
            busy: Arc::new(Busy::new(&bounds)),
            bounds,
            no_room: Mutex::default(),
            plans: Plans::default(),
            running: Arc::default(),
            replies,
            store,
            started: AtomicBool::new(false),
            stop: CancellationToken::new(),
        }
    }

    /// Notes that a peer found no room; one that has enough of it does not mean that there is none.
    pub(crate) fn turned_away(&self, why: Why) {
        if matches!(why, Why::TooMany) {
            return;
        }
        *self.no_room.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether a peer found no room just now.
    pub(crate) fn is_full(&self) -> bool {
        let last = *self.no_room.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| last.elapsed() < FULL)
    }
}
