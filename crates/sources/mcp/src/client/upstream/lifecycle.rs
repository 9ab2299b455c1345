//! What happens beside the calls of a connection: its end, its idleness, its list changes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use rmcp::service::ServiceError;
use serde_json::{Map, json};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};
use toolcrib_core::LogLevel;

use super::pool::LOOK_AGAIN;
use super::{CLOSED, Upstream, UpstreamRole};
use crate::client::connection::{McpConnection, UpstreamTimeouts};
use crate::client::fault::{McpFault, McpTimeoutPhase};

/// Pauses between attempts to subscribe.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);

/// Watches until the connection has ended or its upstream is gone.
pub(super) fn over(upstream: &Arc<Upstream>, connection: &Arc<McpConnection>) {
    tokio::spawn(end(Arc::downgrade(upstream), Arc::clone(connection)));
    tell_level(upstream, connection);
    if let Some(idle) = upstream.idle_stop() {
        tokio::spawn(idleness(Arc::downgrade(upstream), Arc::downgrade(connection), idle));
    }
    if upstream.role == UpstreamRole::Lists && connection.facts.is_modern && tells(connection) {
        tokio::spawn(subscription(Arc::downgrade(upstream), Arc::clone(connection)));
    }
}

/// Tells a server of before 2026-07-28 from which level on its log is wanted, if that was said.
pub(super) fn tell_level(upstream: &Upstream, connection: &Arc<McpConnection>) {
    if let (Some(level), false) = (*upstream.level(), connection.facts.is_modern) {
        let within = upstream.opener.settings.timeouts.call;
        tokio::spawn(log_from(Arc::clone(connection), level, within));
    }
}

/// Tells a server that was started again from which level on its log is wanted.
async fn log_from(connection: Arc<McpConnection>, level: LogLevel, within: Duration) {
    let until = Instant::now() + within;
    let waits = UpstreamTimeouts {
        idle: (McpTimeoutPhase::Call, within),
        until: (McpTimeoutPhase::Call, until, within),
        subject: None,
    };
    let params = Map::from_iter([("level".to_owned(), json!(level))]).into();
    let _ = connection.request("logging/setLevel", &params, None, &waits).await;
}

async fn end(upstream: std::sync::Weak<Upstream>, connection: Arc<McpConnection>) {
    let stop = upstream.upgrade().map(|upstream| upstream.stop.clone());
    let over = || async {
        tokio::select! {
            () = connection.calls.closed.cancelled() => {}
            () = connection.stop.cancelled() => {}
            // The source is gone: so is its server.
            () = async { if let Some(stop) = &stop { stop.cancelled().await } } => {}
        }
    };
    let is_deaf = tokio::select! {
        biased;
        () = over() => false,
        () = connection.calls.deaf.cancelled() => true,
    };
    // One that was stopped on purpose has ended before.
    let stopped = connection.was_stopped.load(Ordering::Acquire);
    if let Some(upstream) = upstream.upgrade() {
        upstream.lose(&connection, &McpFault::broken(CLOSED));
    }
    if is_deaf {
        // What it said before may still come in.
        over().await;
    }
    let words = connection.last_words().await;
    if let (Some(upstream), Some(words), false) = (upstream.upgrade(), words, stopped) {
        upstream.health().note(&words);
    }
    connection.close().await;
}

/// Ends a connection on which nothing is begun any more. Over HTTP each answer comes on a line of
/// its own, and a program that hears nothing more may have said its answers already: those under
/// way are waited for, within the time of the `longest` call. Else what breaks a pipe breaks it for
/// all.
pub(super) fn leave(connection: &Arc<McpConnection>, longest: Duration) {
    let may_answer = connection.program.is_none() || !connection.is_over();
    let runtime = Handle::try_current().ok().filter(|_| may_answer && connection.is_busy());
    let Some(runtime) = runtime else {
        connection.stop.cancel();
        return;
    };
    let connection = Arc::clone(connection);
    runtime.spawn(async move {
        let ended = async {
            while connection.is_busy() && !connection.is_over() {
                sleep(LOOK_AGAIN).await;
            }
        };
        let _ = timeout(longest, ended).await;
        connection.stop.cancel();
    });
}

/// Stops a server that nobody uses; the next call starts it again.
async fn idleness(
    upstream: std::sync::Weak<Upstream>,
    connection: std::sync::Weak<McpConnection>,
    most: Duration,
) {
    let mut wait = most;
    loop {
        sleep(wait).await;
        let (Some(upstream), Some(connection)) = (upstream.upgrade(), connection.upgrade()) else {
            return;
        };
        if connection.is_closed() {
            return;
        }
        let idle = upstream.idle();
        let is_followed = !upstream.followed.is_empty();
        if is_followed || connection.is_busy() {
            wait = most;
        } else if idle >= most {
            upstream.stop().await;
            return;
        } else {
            wait = most.saturating_sub(idle).max(Duration::from_millis(1));
        }
    }
}

/// The lists of which it tells changes.
fn filter(connection: &McpConnection) -> SubscriptionFilter {
    let tells = |capability| connection.facts.can(capability, "listChanged").then_some(true);
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = tells("tools");
    filter.prompts_list_changed = tells("prompts");
    filter.resources_list_changed = tells("resources");
    filter
}

fn tells(connection: &McpConnection) -> bool {
    filter(connection) != SubscriptionFilter::new()
}

/// Holds a subscription to changes of the list for as long as the connection lives. The changes
/// themselves are counted where messages come in.
async fn subscription(upstream: std::sync::Weak<Upstream>, connection: Arc<McpConnection>) {
    let mut pause = SHORTEST;
    while !connection.is_closed() {
        let filter = filter(&connection);
        tokio::select! {
            () = connection.calls.closed.cancelled() => return,
            () = connection.stop.cancelled() => return,
            subscribed = connection.peer.listen(filter) => {
                match subscribed {
                    Ok(mut subscription) => {
                        pause = SHORTEST;
                        tokio::select! {
                            () = async { while let Ok(Some(_)) = subscription.next().await {} } => {}
                            () = connection.stop.cancelled() => return,
                        }
                    }
                    // It says that it tells, and does not: then it has to be asked.
                    Err(ServiceError::McpError(_)) => {
                        connection.is_mute.store(true, Ordering::Release);
                        return;
                    }
                    Err(_) => {}
                }
            }
        }
        let _ = timeout(pause, connection.calls.closed.cancelled()).await;
        pause = (pause * 2).min(LONGEST);
        // What changed while nobody listened was not told.
        let Some(upstream) = upstream.upgrade() else {
            return;
        };
        upstream.news.tools.send_modify(|count| *count += 1);
        upstream.news.library.send_modify(|count| *count += 1);
    }
}
