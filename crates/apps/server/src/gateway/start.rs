//! A gateway from its file to its listeners, whoever starts it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Result;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use toolcrib_auth::SigningKey;
use toolcrib_config::{Environment, LiveConfig, SourceRegistry};
use toolcrib_engine::toolsets::ToolsetSplits;
use toolcrib_store::Store;

use super::follow::{WatchedFiles, WatchedTokens};
use super::listen_address::{HandedSocket, ListenAddress, ListenWishes};
use super::notices::Notices;
use super::page_listener::PageListener;
use super::serve_config::{self, ServeConfig};
use super::serving::HttpListeners;
use crate::config::record;
use crate::freeze::FreezeGuard;
use crate::http::gateway::gateway;
use crate::http::listen::accept::{HttpListener, most_connections};
use crate::http::listen::peers::PeerLimits;
use crate::http::page::door::ListenerKind;
use crate::http::pipeline::authentication::Authenticator;
use crate::http::pipeline::host_check::HostNames;
use crate::http::rest::sources::pins::LivePins;
use crate::http::state::{A2aServerSettings, GatewayParts, GatewayState};
use crate::telemetry::Telemetry;

/// Connections at the same time of a page that has a listener of its own.
const PAGE_CONNECTIONS: usize = 512;
/// How long children may take to end.
const LAST_WISHES: Duration = Duration::from_secs(10);
/// How long calls may still take whose sources have ended, and how often they are looked at.
const LAST_CALLS: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// What can be said of a server before anything of it begins: a file that cannot be served fails
/// here.
pub(crate) struct GatewayStart {
    pub(crate) file: ServeConfig,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) guard: Authenticator,
    wishes: ListenWishes,
    notices: Notices,
    listening: ListenAddress,
    page: Option<ListenAddress>,
    tls: Option<TlsAcceptor>,
    card_key: Option<SigningKey>,
    most: usize,
}

/// What stands behind a gateway.
pub(crate) struct GatewayBackend {
    pub(crate) store: Option<Store>,
    pub(crate) freezes: Arc<FreezeGuard>,
    pub(crate) pins: Arc<LivePins>,
    pub(crate) means: Environment,
    pub(crate) tokens: WatchedTokens,
    /// What a model is asked about toolsets.
    pub(crate) splits: Option<Arc<ToolsetSplits>>,
}

/// One that listens, and does not yet answer.
pub(crate) struct PreparedGateway {
    pub(crate) bound: SocketAddr,
    pub(crate) state: Arc<GatewayState>,
    pub(crate) listeners: HttpListeners,
    pub(crate) watched: WatchedFiles,
}

impl PreparedGateway {
    /// Where it is reached.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.listeners.doors.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.bound)
    }
}

impl GatewayStart {
    /// `handed`: the socket that whoever started us gave us to listen with. `scopes`: those of every
    /// caller of this machine.
    pub(crate) fn of(
        file: ServeConfig,
        wishes: ListenWishes,
        handed: Option<HandedSocket>,
        scopes: &[String],
        notices: Notices,
    ) -> Result<Self> {
        let front = &file.checked.front;
        let listening = ListenAddress::of(handed, &wishes, front)?;
        let page = ListenAddress::of_page(&wishes, front)?;
        let telemetry = Telemetry::open(&file.checked).map_err(|error| listening.beside(error))?;
        let tls = serve_config::tls(front, &notices)?;
        let card_key = serve_config::card_key(front, &notices)?;
        let most = most_connections(file.checked.bounds.connections)?;
        let guard = Authenticator::new(scopes, wishes.insecure_local);
        guard.admit(front.access.clone());
        let telemetry = Arc::new(telemetry);
        Ok(Self { file, telemetry, guard, wishes, notices, listening, page, tls, card_key, most })
    }

    /// What keeps a server from starting, which may be one that listens there already.
    pub(crate) fn beside(&self, error: anyhow::Error) -> anyhow::Error {
        self.listening.beside(error)
    }

    /// Listens. Nobody is answered before [`PreparedGateway`] is served.
    pub(crate) fn prepare(self, backend: GatewayBackend) -> Result<PreparedGateway> {
        let Self { file, telemetry, guard, wishes, notices, .. } = self;
        let GatewayBackend { store, freezes, pins, means, tokens, splits } = backend;
        let observer = Arc::<Telemetry>::clone(&telemetry);
        let means = Environment { observer: Some(observer), ..means };
        let live = Arc::new(LiveConfig::prepare(&file.checked, means)?);
        telemetry.secrets.keep(live.redactor(), Vec::new());
        let front = &file.checked.front;
        let listener = self.listening.begin()?;
        let bound = listener.local_addr()?;
        let page = PageListener::begin(&listener, self.page, &wishes, front)?;
        telemetry.watched.keep_for(page.keep(front));
        let (page, page_listener) = page.split();
        let names = HostNames::new(bound, &[&wishes.hosts[..], &front.hosts].concat());
        let a2a = A2aServerSettings { card_key: self.card_key, pushes: front.pushes.clone() };
        let cluster = record::cluster(&file.checked)?;
        let state = gateway(GatewayParts {
            live,
            names,
            guard,
            page,
            overlay: file.overlay_door(),
            freezes,
            bounds: file.checked.bounds.clone(),
            store,
            cluster,
            telemetry,
            pins,
            a2a,
        });
        state.is_encrypted.store(self.tls.is_some(), Ordering::Relaxed);
        let listeners = listeners((listener, page_listener), &file, self.tls, self.most);
        notices.warn(&state.agents.take(&file.checked));
        state.take_file(file.checked.clone());
        let watched = WatchedFiles { file, tokens, splits, notices };
        Ok(PreparedGateway { bound, state, listeners, watched })
    }
}

/// The listener of all doors, and that of the page if it has one of its own, which says whether it
/// is to be encrypted.
fn listeners(
    (doors, page): (TcpListener, Option<(TcpListener, bool)>),
    file: &ServeConfig,
    tls: Option<TlsAcceptor>,
    most: usize,
) -> HttpListeners {
    let peers = Arc::new(PeerLimits::new(file.checked.bounds.connections_per_peer, most));
    let proxies = file.checked.front.proxies.clone();
    let page = page.map(|(listener, takes_tls)| HttpListener {
        listener,
        kind: ListenerKind::Page,
        most: PAGE_CONNECTIONS.min(most),
        peers: Arc::clone(&peers),
        proxies: proxies.clone(),
        tls: tls.clone().filter(|_| takes_tls),
    });
    let kind = ListenerKind::Doors;
    HttpListeners { doors: HttpListener { listener: doors, kind, most, peers, proxies, tls }, page }
}

/// Ends the children, and waits for the calls that end with them and for the last rows of the
/// record.
pub(crate) async fn stop(sources: &SourceRegistry, telemetry: &Telemetry, store: Option<&Store>) {
    let _ = tokio::time::timeout(LAST_WISHES, sources.stop()).await;
    let calls = async {
        // Nobody waits for them any more; each says that it has ended once that is on record.
        while !telemetry.recent.running().is_empty() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    let _ = tokio::time::timeout(LAST_CALLS, calls).await;
    if let Some(store) = store {
        let _ = tokio::time::timeout(LAST_WISHES, store.flush()).await;
    }
}
