//! Answers, and does what goes on beside the answers, until it is told to stop.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::follow::{self, WatchedFiles};
use crate::http::a2a::push;
use crate::http::agents::live::recovery;
use crate::http::listen::accept::{self, HttpListener};
use crate::http::listen::workers::Workers;
use crate::http::state::GatewayState;
use crate::telemetry::export;

/// How long a collector may take for the last messages.
pub(crate) const LAST_SPANS: Duration = Duration::from_secs(3);

/// Where it is asked.
pub(crate) struct HttpListeners {
    pub(crate) doors: HttpListener,
    /// That of the page, if it has one of its own.
    pub(crate) page: Option<HttpListener>,
}

/// How a server and whoever runs it hear of each other.
#[derive(Clone, Default)]
pub(crate) struct ServeSignals {
    /// Cancelled, the last answers are not waited for any more.
    pub(crate) now: CancellationToken,
    /// Is cancelled when every source had its first chance.
    pub(crate) ready: CancellationToken,
    /// Those that came in by a listener of the program, until they are answered.
    pub(crate) requests: TaskTracker,
}

/// Serves until the gateway stops and the last answer is out.
pub(crate) async fn serve(
    HttpListeners { doors, page }: HttpListeners,
    gateway: Arc<GatewayState>,
    mut workers: Workers,
    watched: WatchedFiles,
    signals: ServeSignals,
) {
    let ServeSignals { now, ready, requests } = signals;
    let (sender, redeemed) = tokio::sync::mpsc::unbounded_channel();
    let _ = gateway.telemetry.redeemed.set(sender);
    let starting = tokio::spawn({
        let gateway = Arc::clone(&gateway);
        // Also cancels it where this panics or is aborted: somebody may wait for it.
        let ready = ready.clone().drop_guard();
        async move {
            gateway.live.crib().start().await;
            gateway.started.store(true, Ordering::Relaxed);
            drop(ready);
            push::resume(&gateway).await;
            recovery::follow(gateway, redeemed).await;
        }
    });
    let sent = CancellationToken::new();
    let (telemetry, figures) = (Arc::clone(&gateway.telemetry), Some(Arc::clone(&gateway)));
    let sending = tokio::spawn(export::export(telemetry, figures, sent.clone()));
    let notices = watched.notices.clone();
    let following = tokio::spawn(follow::follow(watched, Arc::clone(&gateway)));
    let ends = (gateway.stop.clone(), now);
    let tell = |trouble: &str| notices.note(trouble);
    let of_page = async {
        if let Some(page) = page {
            let (gateway, ends) = (Arc::clone(&gateway), ends.clone());
            accept::serve(page, gateway, &mut Workers::here(), ends, tell).await;
        }
    };
    let serving = accept::serve(doors, Arc::clone(&gateway), &mut workers, ends.clone(), tell);
    let of_program = settle(&requests, &gateway, &ends.1, tell);
    futures_util::future::join3(serving, of_page, of_program).await;
    following.abort();
    starting.abort();
    ready.cancel();
    sent.cancel();
    let _ = tokio::time::timeout(LAST_SPANS, sending).await;
}

/// Once the gateway stops, waits for the answers to these requests, as long as for those of its own
/// listeners; `now` ends that wait.
async fn settle(
    requests: &TaskTracker,
    gateway: &GatewayState,
    now: &CancellationToken,
    tell: impl Fn(&str),
) {
    gateway.stop.cancelled().await;
    requests.close();
    let answered = now.run_until_cancelled(requests.wait());
    if tokio::time::timeout(gateway.bounds.drain, answered).await.is_err() {
        tell("some answers of a listener of the program were not done in time");
        now.cancel();
    }
}
