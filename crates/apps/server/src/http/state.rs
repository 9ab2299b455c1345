//! What all requests share.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio_util::sync::CancellationToken;
use toolcrib_auth::SigningKey;
use toolcrib_config::{ClusterSettings, Config, LiveConfig, ServerLimits};
use toolcrib_core::RunLedger;
use toolcrib_egress::Network;
use toolcrib_engine::ledger::MemoryRuns;
use toolcrib_mcp::McpServer;
use toolcrib_store::Store;

use crate::freeze::FreezeGuard;
use crate::http::a2a::push::registry::PushRegistry;
use crate::http::agents::live::LiveRuns;
use crate::http::agents::registry::AgentRegistry;
use crate::http::changes::overlay_door::OverlayDoor;
use crate::http::listen::overload::OverloadReason;
use crate::http::page::door::PageDoor;
use crate::http::pipeline::authentication::Authenticator;
use crate::http::pipeline::concurrency::ConcurrencyLimit;
use crate::http::pipeline::host_check::HostNames;
use crate::http::rest::batch::active_batches::ActiveBatches;
use crate::http::rest::batch::idempotency::ReplyStore;
use crate::http::rest::plan::plan_store::PlanStore;
use crate::http::rest::sources::pins::LivePins;
use crate::telemetry::Telemetry;

/// For so long after a peer was turned away others had better go elsewhere.
const FULL: Duration = Duration::from_secs(1);

pub(crate) struct GatewayState {
    pub(crate) live: Arc<LiveConfig>,
    /// The door of the Model Context Protocol; sessions of older clients live in it.
    pub(crate) mcp: toolcrib_mcp::McpHttpHandler,
    pub(crate) door: McpServer,
    /// What `/v1/openapi.json` says to everybody, made when it is asked for.
    pub(crate) document: LazyLock<Bytes>,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) names: HostNames,
    /// The web page, and who is signed in on it.
    pub(crate) page: PageDoor,
    /// What is changed over the file.
    pub(crate) overlay: OverlayDoor,
    pub(crate) freezes: Arc<FreezeGuard>,
    /// What is taken from whoever comes.
    pub(crate) bounds: ServerLimits,
    pub(crate) guard: Authenticator,
    /// Signs the cards of agents; `None`: nothing does.
    pub(crate) card_key: Option<SigningKey>,
    pub(crate) busy: Arc<ConcurrencyLimit>,
    pub(crate) plans: PlanStore,
    pub(crate) running: Arc<ActiveBatches>,
    pub(crate) replies: ReplyStore,
    /// The agents of the file, and their runs.
    pub(crate) agents: AgentRegistry,
    pub(crate) runs: LiveRuns,
    /// Who is told of tasks, at addresses that callers name.
    pub(crate) pushes: PushRegistry,
    /// What outlives the process; `None`: nothing does.
    pub(crate) store: Option<Store>,
    /// The file that is in force; `None`: whoever serves has not said.
    file: Mutex<Option<Arc<Config>>>,
    /// The accepted tools.
    pub(crate) pins: Arc<LivePins>,
    /// Why the file as it is now is not in force.
    refused_file: Mutex<Vec<String>>,
    /// When a peer found no room the last time.
    no_room: Mutex<Option<Instant>>,
    /// Whether connections are encrypted here, and not by a proxy.
    pub(crate) is_encrypted: AtomicBool,
    /// Every source had its first chance.
    pub(crate) started: AtomicBool,
    /// Cancelled when it is told to stop; what comes is taken until `stop`.
    pub(crate) leaves: CancellationToken,
    /// Cancelled when no more is to be begun.
    pub(crate) stop: CancellationToken,
}

/// What the agents of A2A need besides.
#[derive(Default)]
pub(crate) struct A2aServerSettings {
    /// What cards are signed with; `None`: they are not.
    pub(crate) card_key: Option<SigningKey>,
    /// Where push notifications may go.
    pub(crate) pushes: Network,
}

/// What a gateway is made of.
pub(crate) struct GatewayParts {
    pub(crate) live: Arc<LiveConfig>,
    pub(crate) names: HostNames,
    pub(crate) guard: Authenticator,
    pub(crate) page: PageDoor,
    pub(crate) overlay: OverlayDoor,
    pub(crate) freezes: Arc<FreezeGuard>,
    pub(crate) bounds: ServerLimits,
    pub(crate) store: Option<Store>,
    /// What makes it one of several.
    pub(crate) cluster: Option<ClusterSettings>,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) pins: Arc<LivePins>,
    pub(crate) a2a: A2aServerSettings,
}

impl GatewayState {
    /// Says that it stops; unless it is to linger, nothing more begins from here on.
    pub(crate) fn announce_stop(&self) {
        self.leaves.cancel();
        if self.bounds.linger.is_zero() {
            self.stop.cancel();
        }
    }

    /// Says that it stops, and begins no more once whoever shares the work out had time to hear it.
    pub(crate) async fn leave(&self) {
        self.announce_stop();
        let heard = tokio::time::sleep(self.bounds.linger);
        if self.stop.run_until_cancelled(heard).await.is_some() {
            self.stop.cancel();
        }
    }

    pub(crate) fn new(parts: GatewayParts, door: McpServer, document: LazyLock<Bytes>) -> Self {
        let GatewayParts {
            live,
            names,
            guard,
            page,
            overlay,
            freezes,
            bounds,
            store,
            telemetry,
            pins,
            a2a: A2aServerSettings { card_key, pushes },
            ..
        } = parts;
        let replies = ReplyStore(live.crib().clone());
        let stop = CancellationToken::new();
        let keys_for = store.as_ref().map_or(Duration::from_hours(24), Store::keys_for);
        let runs: Arc<dyn RunLedger> = match &store {
            Some(store) => Arc::new(store.clone()),
            None => Arc::new(MemoryRuns::default()),
        };
        Self {
            live,
            mcp: door.http_handler(),
            door,
            document,
            telemetry,
            names,
            page,
            overlay,
            freezes,
            guard,
            card_key,
            busy: Arc::new(ConcurrencyLimit::new(&bounds)),
            bounds,
            file: Mutex::default(),
            pins,
            refused_file: Mutex::default(),
            no_room: Mutex::default(),
            plans: PlanStore::default(),
            running: Arc::default(),
            replies,
            agents: AgentRegistry::default(),
            runs: LiveRuns::new(runs, keys_for, stop.clone()),
            pushes: PushRegistry::new(pushes),
            store,
            is_encrypted: AtomicBool::new(false),
            started: AtomicBool::new(false),
            leaves: CancellationToken::new(),
            stop,
        }
    }

    /// Notes which file is in force.
    pub(crate) fn take_file(&self, file: Config) {
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(file));
    }

    pub(crate) fn file(&self) -> Option<Arc<Config>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes why the file is not in force; nothing: it is.
    pub(crate) fn refuse_file(&self, why: Vec<String>) {
        self.telemetry.feed.config(&why);
        *self.refused_file.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Why the file as it is now is not in force.
    pub(crate) fn refused_file(&self) -> Vec<String> {
        self.refused_file.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that a peer found no room; one that has enough of it does not mean that there is none.
    pub(crate) fn turned_away(&self, why: OverloadReason) {
        if matches!(why, OverloadReason::TooMany) {
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
