//! A gateway that serves.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::task::JoinHandle;
use toolcrib_config::SourceRegistry;
use toolcrib_core::Secret;
use toolcrib_engine::Crib;
use toolcrib_store::Store;

use super::page_listener::sign_in_link;
use super::service::GatewayService;
use super::serving::{self, ServeSignals};
use super::start::{self, PreparedGateway};
use crate::http::listen::workers::Workers;
use crate::http::state::GatewayState;
use crate::telemetry::Telemetry;

/// A gateway that serves. It stops when it is dropped; [`Gateway::shutdown`] also waits for the last
/// answers, and ends what its sources have started.
///
/// A process may have several. It is not made one that keeps its secrets from core dumps, and no log
/// is begun on its standard error: both are for the program to decide.
pub struct Gateway {
    address: SocketAddr,
    url: String,
    state: Arc<GatewayState>,
    signals: ServeSignals,
    serving: Option<JoinHandle<()>>,
}

impl Gateway {
    pub(super) fn serve(
        prepared: PreparedGateway,
        workers: Workers,
        (sources, telemetry, store): (Arc<SourceRegistry>, Arc<Telemetry>, Option<Store>),
    ) -> Self {
        let (url, signals) = (prepared.url(), ServeSignals::default());
        let PreparedGateway { bound, state, listeners, watched } = prepared;
        let (served, heard) = (Arc::clone(&state), signals.clone());
        let serving = tokio::spawn(async move {
            let own = workers.clone();
            serving::serve(listeners, served, own, watched, heard).await;
            start::stop(&sources, &telemetry, store.as_ref()).await;
            // Kept until the sources have ended: what a connection began may hold one of theirs.
            drop(workers);
            // The last records are written where nobody waits for a disk.
            let _ = tokio::task::spawn_blocking(move || telemetry.close()).await;
        });
        Self { address: bound, url, state, signals, serving: Some(serving) }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same as an address that clients take: `/mcp`, `/v1` and the rest are below it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where the page is, with a code that signs one browser in, once and for ten minutes, as the
    /// caller of a token; `None`: there is no page.
    pub fn page_link(&self, token: &Secret) -> Option<String> {
        sign_in_link(&self.state.page, token)
    }

    /// The tools that it serves, for calls of the program itself.
    pub fn crib(&self) -> &Crib {
        self.state.live.crib()
    }

    /// Waits until every source has given its tools, or failed once; also ends with the gateway.
    pub async fn ready(&self) {
        self.signals.ready.cancelled().await;
    }

    /// The gateway as a function of requests, for a listener or a router of the program.
    pub fn service(&self) -> GatewayService {
        let ServeSignals { now, requests, .. } = self.signals.clone();
        GatewayService { state: Arc::clone(&self.state), now, requests }
    }

    /// Says that it stops, takes what comes for a while yet if the file says so (`linger`), begins
    /// nothing more then, and waits for what runs, as long as the file permits it (`drain`), for the
    /// sources to end and for the last rows of the record.
    pub async fn shutdown(self) {
        self.state.leave().await;
        self.over().await;
    }

    async fn over(mut self) {
        if let Some(serving) = self.serving.take() {
            // It ends by itself, and a panic of it is told where it was.
            let _ = serving.await;
        }
    }

    /// The same at once: without a wait for the answers that are under way.
    pub async fn shutdown_now(self) {
        self.signals.now.cancel();
        self.state.stop.cancel();
        self.over().await;
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.state.stop.cancel();
        // Nobody waits for it any more, unless `shutdown` did.
        self.signals.now.cancel();
    }
}
