//! A way in to a `toolcrib mcp` beside its client: the routes of a server at a port of this
//! machine, for whoever can read the files of this user. There the person decides about calls whose
//! client can ask nobody.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolcrib_auth::LOCAL;
use toolcrib_config::{Config, LiveConfig, LogLevel};
use toolcrib_core::Secret;
use toolcrib_store::Store;

use crate::cli::args::GlobalArgs;
use crate::config::mcp_instances;
use crate::config::registry::RegistryEntry;
use crate::config::tokens::{self, CallerToken, TokenScan};
use crate::freeze::FreezeGuard;
use crate::http::changes::overlay_door::OverlayDoor;
use crate::http::gateway::gateway;
use crate::http::listen::accept::{self, HttpListener};
use crate::http::listen::peers::PeerLimits;
use crate::http::listen::workers::Workers;
use crate::http::page::door::{ListenerKind, PageDoor};
use crate::http::pipeline::authentication::Authenticator;
use crate::http::pipeline::host_check::HostNames;
use crate::http::rest::sources::pins::LivePins;
use crate::http::state::{A2aServerSettings, GatewayParts};
use crate::telemetry::{Telemetry, log};

/// Connections at the same time: one person's commands.
const MOST: usize = 16;
/// How long what is asked for may take once the client has hung up.
const LAST_ANSWERS: Duration = Duration::from_secs(3);

pub(crate) struct ControlListener {
    file: RegistryEntry,
    stop: CancellationToken,
    now: CancellationToken,
    serving: JoinHandle<()>,
}

/// What stands behind it.
pub(crate) struct ControlBackend {
    pub(crate) live: Arc<LiveConfig>,
    pub(crate) file: Config,
    pub(crate) pins: Arc<LivePins>,
    pub(crate) store: Option<Store>,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) freezes: Arc<FreezeGuard>,
}

impl ControlListener {
    /// `None`: there is none, and the log says why; the client is served all the same.
    pub(crate) async fn open(global: &GlobalArgs, inside: ControlBackend) -> Option<Self> {
        let opened = Self::try_open(global, inside).await;
        opened.inspect_err(|error| tell(&format!("{error:#}"))).ok()
    }

    async fn try_open(global: &GlobalArgs, inside: ControlBackend) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.context("cannot listen on this machine")?;
        let address = listener.local_addr()?;
        let token = Secret::new(tokens::random());
        let guard = Authenticator::new(&global.scopes, false);
        let file = mcp_instances::name(address.port(), &token)?;
        let keys = vec![CallerToken { name: LOCAL.to_owned(), token }];
        guard.take(&TokenScan { keys, problems: Vec::new(), is_partial: false });
        let ControlBackend { live, file: checked, pins, store, telemetry, freezes } = inside;
        let names = HostNames::new(address, &[]);
        let gateway = gateway(GatewayParts {
            live,
            names,
            guard,
            page: PageDoor::new(None),
            overlay: OverlayDoor::off(UNFOLLOWED),
            freezes,
            bounds: checked.bounds.clone(),
            store,
            cluster: None,
            telemetry,
            pins,
            a2a: A2aServerSettings::default(),
        });
        gateway.take_file(checked);
        gateway.started.store(true, Ordering::Relaxed);
        let (stop, now) = (gateway.stop.clone(), CancellationToken::new());
        let ends = (stop.clone(), now.clone());
        let peers = Arc::new(PeerLimits::new(None, MOST));
        let kind = ListenerKind::Doors;
        let door =
            HttpListener { listener, kind, most: MOST, peers, proxies: Vec::new(), tls: None };
        let serving = tokio::spawn(async move {
            accept::serve(door, gateway, &mut Workers::here(), ends, tell).await;
        });
        Ok(Self { file, stop, now, serving })
    }

    /// Nobody finds it any more; what was asked is still answered, for a moment.
    pub(crate) async fn close(self) {
        let Self { file, stop, now, mut serving } = self;
        drop(file);
        stop.cancel();
        if tokio::time::timeout(LAST_ANSWERS, &mut serving).await.is_err() {
            now.cancel();
        }
    }
}

/// Why nothing is changed by way of it.
const UNFOLLOWED: &str = "`toolcrib mcp` reads its file at its start alone: change it with `toolcrib overlay`, and start it anew";

fn tell(trouble: &str) {
    let message = "`toolcrib tickets` may not reach this process";
    let fields = json!({ "message": message, "cause": trouble });
    log::line(LogLevel::Warn, "mcp", fields);
}
