//! Resources that are followed: one subscription for all who follow the same, renewed with the
//! connection.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{Stream, unfold};
use rmcp::model::SubscriptionFilter;
use rmcp::service::ServiceError;
use serde_json::{Map, Value};
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep, timeout};

use super::subscription_state::{SubscriptionState, UpstreamSubscription};
use super::{Upstream, UpstreamRole};
use crate::client::connection::{McpConnection, UpstreamTimeouts};
use crate::client::fault::{McpFault, McpTimeoutPhase};

/// Resources of one connection that are followed at the same time.
const MOST: usize = 256;
/// Pauses before a subscription is renewed.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);

/// Follows while it lives.
struct SubscriptionGuard {
    upstream: Arc<Upstream>,
    uri: String,
}

impl Upstream {
    /// Subscribes, and tells of the changes for as long as the stream is held.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        uri: &str,
        connection: &McpConnection,
    ) -> Result<impl Stream<Item = Map<String, Value>> + Send + use<>, McpFault> {
        let refused = |message: String| McpFault::Refused { code: -32601, message, data: None };
        if !connection.tells_updates() {
            return Err(refused("it tells nobody of changes of its resources".to_owned()));
        }
        let updates = self.news.updates.subscribe();
        let Some((follower, mut state)) = self.join(uri) else {
            return Err(refused(format!("{MOST} of its resources are followed already")));
        };
        let within = self.opener.settings.timeouts.call;
        let known = state.wait_for(|state| !matches!(state, SubscriptionState::Pending));
        match timeout(within, known).await.map(|known| known.map(|state| state.clone())) {
            Ok(Ok(SubscriptionState::Refused(fault))) => Err(fault.again()),
            Ok(Ok(SubscriptionState::Ready | SubscriptionState::Pending)) => {
                Ok(told(follower, updates))
            }
            Ok(Err(_)) => Err(McpFault::unreachable("the source was stopped")),
            Err(_) => Err(McpFault::TooLong(McpTimeoutPhase::Call, within)),
        }
    }

    /// `None`: too many are followed.
    fn join(
        self: &Arc<Self>,
        uri: &str,
    ) -> Option<(SubscriptionGuard, watch::Receiver<SubscriptionState>)> {
        let mut all = self.followed.all();
        if all.len() >= MOST && !all.contains_key(uri) {
            return None;
        }
        let one = all.entry(uri.to_owned()).or_insert_with(|| {
            let (tell, state) = watch::channel(SubscriptionState::Pending);
            let keeping = keep(Arc::clone(self), uri.to_owned(), tell);
            UpstreamSubscription { followers: 0, state, task: tokio::spawn(keeping).abort_handle() }
        });
        one.followers += 1;
        let follower = SubscriptionGuard { upstream: Arc::clone(self), uri: uri.to_owned() };
        Some((follower, one.state.clone()))
    }
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        let mut all = self.upstream.followed.all();
        let Some(one) = all.get_mut(&self.uri) else { return };
        one.followers -= 1;
        if one.followers > 0 {
            return;
        }
        one.task.abort();
        all.remove(&self.uri);
        let Some(connection) = self.upstream.current() else { return };
        let runtime = tokio::runtime::Handle::try_current();
        if let (Ok(runtime), false) = (runtime, connection.facts.is_modern) {
            let (uri, within) = (self.uri.clone(), self.upstream.opener.settings.timeouts.call);
            // What a server makes of it changes nothing for us.
            runtime.spawn(async move {
                let _ = ask(&connection, "resources/unsubscribe", &uri, within).await;
            });
        }
    }
}

fn told(
    follower: SubscriptionGuard,
    updates: broadcast::Receiver<Arc<Map<String, Value>>>,
) -> impl Stream<Item = Map<String, Value>> + Send + 'static {
    unfold((follower, updates), |(follower, mut updates)| async {
        loop {
            let update = tokio::select! {
                () = follower.upstream.stop.cancelled() => return None,
                update = updates.recv() => update,
            };
            let params = match update {
                Ok(params) => params,
                // What was missed may have been about this one.
                Err(broadcast::error::RecvError::Lagged(_)) => Arc::new(of(&follower.uri)),
                Err(broadcast::error::RecvError::Closed) => return None,
            };
            let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default();
            // It may be of something within the one that is followed.
            if uri.starts_with(&follower.uri) {
                return Some((Arc::unwrap_or_clone(params), (follower, updates)));
            }
        }
    })
}

fn of(uri: &str) -> Map<String, Value> {
    Map::from_iter([("uri".to_owned(), Value::from(uri))])
}

async fn ask(
    connection: &McpConnection,
    method: &'static str,
    uri: &str,
    within: Duration,
) -> Result<(), McpFault> {
    let until = Instant::now() + within;
    let waits = UpstreamTimeouts {
        idle: (McpTimeoutPhase::Call, within),
        until: (McpTimeoutPhase::Call, until, within),
        subject: None,
    };
    connection.request(method, &of(uri).into(), None, &waits).await.map(|_| ())
}

/// Holds one subscription until the task is aborted or the server refuses it.
async fn keep(upstream: Arc<Upstream>, uri: String, tell: watch::Sender<SubscriptionState>) {
    let mut pause = SHORTEST;
    let mut is_first = true;
    loop {
        // A connection of one caller is opened by that caller's calls alone.
        let connection = match upstream.current() {
            None if upstream.role == UpstreamRole::Lists => upstream.connection(None).await.ok(),
            current => current,
        };
        if let Some(connection) = connection {
            match subscribe(&upstream, &connection, &uri, &tell, is_first).await {
                Ok(()) => (is_first, pause) = (false, SHORTEST),
                Err(fault) if is_first => {
                    tell.send_replace(SubscriptionState::Refused(Arc::new(fault)));
                    return;
                }
                Err(_) => {}
            }
        }
        tokio::select! {
            () = upstream.stop.cancelled() => return,
            () = sleep(pause) => pause = (pause * 2).min(LONGEST),
        }
    }
}

/// Subscribes, and waits until that is over.
async fn subscribe(
    upstream: &Upstream,
    connection: &McpConnection,
    uri: &str,
    tell: &watch::Sender<SubscriptionState>,
    is_first: bool,
) -> Result<(), McpFault> {
    // One that was left goes on for its calls alone.
    let mut left = upstream.ends.subscribe();
    let ready = || {
        tell.send_replace(SubscriptionState::Ready);
        if !is_first {
            // What changed while nobody listened was not told.
            let _ = upstream.news.updates.send(Arc::new(of(uri)));
        }
    };
    if !connection.facts.is_modern {
        ask(connection, "resources/subscribe", uri, upstream.opener.settings.timeouts.call).await?;
        ready();
        tokio::select! {
            () = connection.calls.closed.cancelled() => {}
            _ = left.changed() => {}
        }
        return Ok(());
    }
    let filter = SubscriptionFilter::builder().resource_subscription(uri).build();
    let mut subscription = connection.peer.listen(filter).await.map_err(|error| {
        if let ServiceError::McpError(error) = error {
            let (message, data) = (error.message.into_owned(), error.data);
            return McpFault::Refused { code: error.code.0, message, data };
        }
        McpFault::broken("the subscription failed").because(error)
    })?;
    if subscription.acknowledged().resource_subscriptions.is_none() {
        let message = "it does not tell of changes of this resource".to_owned();
        return Err(McpFault::Refused { code: -32602, message, data: None });
    }
    ready();
    tokio::select! {
        () = async { while let Ok(Some(_)) = subscription.next().await {} } => {}
        _ = left.changed() => {}
    }
    Ok(())
}
