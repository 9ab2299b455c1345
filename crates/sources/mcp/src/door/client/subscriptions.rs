//! What a client is told without asking: that lists changed, and that a resource it follows did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _, pending, ready};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use rmcp::model::{
    ErrorData, ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerNotification,
    SubscriptionFilter,
};
use rmcp::service::{Peer, RoleServer, ServiceError, SubscriptionContext};
use tokio::task::AbortHandle;
use toolcrib_core::{BatchOptions, ClientSession, ResourceKind, UpdateStream};

use crate::door::call::report::error_data;
use crate::door::provider::CribProvider;
use crate::door::state::{McpRequestContext, McpServerState};

/// Resources that one client may follow at the same time.
pub(crate) const MOST: usize = 64;
/// How often a session that is told of changes is looked at whether it is still there.
const LOOK: Duration = Duration::from_secs(30);

/// A list of which changes are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotifiedList {
    Tools,
    Offers(ResourceKind),
}

impl NotifiedList {
    /// The list whose change is told by this.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the SDK's messages grow with every release"
    )]
    pub(crate) fn of(told: &ServerNotification) -> Option<Self> {
        match told {
            ServerNotification::ToolListChangedNotification(_) => Some(Self::Tools),
            ServerNotification::PromptListChangedNotification(_) => {
                Some(Self::Offers(ResourceKind::Prompt))
            }
            ServerNotification::ResourceListChangedNotification(_) => {
                Some(Self::Offers(ResourceKind::Resource))
            }
            _ => None,
        }
    }
}

const LISTS: [NotifiedList; 3] = [
    NotifiedList::Tools,
    NotifiedList::Offers(ResourceKind::Prompt),
    NotifiedList::Offers(ResourceKind::Resource),
];

/// A list of no profile changes for ever; who listens to all of them hears of those of a profile.
fn changed(cribs: &dyn CribProvider, list: NotifiedList) -> BoxFuture<'static, NotifiedList> {
    let changed = match (cribs.crib(None), list) {
        (None, _) => pending().boxed(),
        (Some(crib), NotifiedList::Tools) => crib.changed(),
        (Some(crib), NotifiedList::Offers(kind)) => crib.offers_changed(kind),
    };
    changed.map(move |()| list).boxed()
}

/// The same, and when the server for which a door stands says so of a list that is the same.
fn told(
    cribs: &dyn CribProvider,
    request_context: &McpRequestContext,
    list: NotifiedList,
) -> BoxFuture<'static, NotifiedList> {
    let kind = match list {
        NotifiedList::Tools => None,
        NotifiedList::Offers(kind) => Some(kind),
    };
    let announced = match cribs.crib(request_context.profile.as_deref()) {
        Some(crib) => crib.announced(kind),
        None => pending().boxed(),
    };
    let changed = changed(cribs, list);
    async move {
        tokio::select! {
            _ = changed => list,
            () = announced => list,
        }
    }
    .boxed()
}

/// Resolve when their list changes from now on.
pub(crate) fn changes(cribs: &dyn CribProvider) -> Vec<BoxFuture<'static, NotifiedList>> {
    LISTS.iter().map(|list| changed(cribs, *list)).collect()
}

/// Whoever tells a session of an older client of changed lists; it ends with this.
#[derive(Default)]
pub(crate) struct ListNotifier(OnceLock<AbortHandle>);

impl ListNotifier {
    /// `missed`: what it was not told yet, asked for after the beginning.
    pub(crate) fn begin(
        &self,
        cribs: &Arc<dyn CribProvider>,
        request_context: McpRequestContext,
        peer: Peer<RoleServer>,
        missed: impl FnOnce() -> Vec<NotifiedList>,
    ) {
        self.0.get_or_init(|| {
            let changes =
                LISTS.iter().map(|list| told(&**cribs, &request_context, *list)).collect();
            let cribs = Arc::clone(cribs);
            let telling = tell_lists(cribs, request_context, peer, missed(), changes);
            tokio::spawn(telling).abort_handle()
        });
    }
}

impl Drop for ListNotifier {
    fn drop(&mut self) {
        self.0.get().map(AbortHandle::abort);
    }
}

async fn tell_lists(
    cribs: Arc<dyn CribProvider>,
    request_context: McpRequestContext,
    peer: Peer<RoleServer>,
    missed: Vec<NotifiedList>,
    mut changes: FuturesUnordered<BoxFuture<'static, NotifiedList>>,
) {
    for list in missed {
        if tell(&peer, list).await.is_err() {
            return;
        }
    }
    while !peer.is_transport_closed() {
        let list = tokio::select! {
            Some(list) = changes.next() => list,
            // A session may end while nothing changes.
            () = tokio::time::sleep(LOOK) => continue,
        };
        changes.push(told(&*cribs, &request_context, list));
        if tell(&peer, list).await.is_err() {
            return;
        }
    }
}

async fn tell(peer: &Peer<RoleServer>, list: NotifiedList) -> Result<(), ServiceError> {
    match list {
        NotifiedList::Tools => peer.notify_tool_list_changed().await,
        NotifiedList::Offers(ResourceKind::Prompt) => peer.notify_prompt_list_changed().await,
        NotifiedList::Offers(_) => peer.notify_resource_list_changed().await,
    }
}

/// What the session of an older client follows.
#[derive(Default)]
pub(crate) struct SessionSubscriptions(Mutex<HashMap<String, AbortHandle>>);

impl SessionSubscriptions {
    fn all(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn begin(
        &self,
        request_context: McpRequestContext,
        uri: String,
        peer: Peer<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.all().len() >= MOST {
            let told = format!("this client follows {MOST} resources already: end one first");
            return Err(ErrorData::invalid_request(told, None));
        }
        if self.all().contains_key(&uri) {
            return Ok(());
        }
        let mut following = follow(request_context, uri.clone()).await?;
        let task = tokio::spawn(async move {
            while let Some(params) = following.next().await {
                let uri = params.get("uri").and_then(serde_json::Value::as_str).unwrap_or_default();
                let update = ResourceUpdatedNotificationParam::new(uri);
                let update = ResourceUpdatedNotification::new(update);
                if peer.send_notification(update.into()).await.is_err() {
                    break;
                }
            }
        });
        if let Some(before) = self.all().insert(uri, task.abort_handle()) {
            before.abort();
        }
        Ok(())
    }

    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }

    pub(crate) fn end(&self, uri: &str) {
        if let Some(task) = self.all().remove(uri) {
            task.abort();
        }
    }
}

impl Drop for SessionSubscriptions {
    fn drop(&mut self) {
        self.all().values().for_each(AbortHandle::abort);
    }
}

async fn follow(
    request_context: McpRequestContext,
    uri: String,
) -> Result<UpdateStream, ErrorData> {
    let McpRequestContext { caller, crib, session, .. } = request_context;
    let visitor = ClientSession { caller, session };
    let followed = crib.follow(&visitor, uri, BatchOptions::default()).await;
    followed.map_err(|error| error_data(&error))
}

/// How long a client waits for the acknowledgement while what it wants is begun to be followed;
/// what takes longer is followed later.
const PATIENCE: Duration = Duration::from_secs(10);

type LateSubscription = BoxFuture<'static, (String, Option<UpdateStream>)>;

/// What is followed for a client of 2026-07-28, begun before it hears that it is.
pub(crate) struct PreparedSubscription {
    request_context: McpRequestContext,
    lists: Vec<(NotifiedList, BoxFuture<'static, NotifiedList>)>,
    followed: Vec<(String, UpdateStream)>,
    /// Their sources take their time.
    late: Vec<LateSubscription>,
}

impl PreparedSubscription {
    pub(crate) async fn begin(
        server_state: &McpServerState,
        request_context: &McpRequestContext,
        wanted: &SubscriptionFilter,
    ) -> Self {
        let cribs = &*server_state.cribs;
        let lists = LISTS.iter().filter(|list| wants(wanted, **list));
        let lists = lists.map(|list| (*list, told(cribs, request_context, *list))).collect();
        let uris = wanted.resource_subscriptions.iter().flatten().take(MOST);
        let mut beginning: FuturesUnordered<LateSubscription> = uris
            .map(|uri| {
                let (request_context, uri) = (request_context.clone(), uri.clone());
                let begun = async move {
                    let following = follow(request_context, uri.clone()).await;
                    (uri, following.ok())
                };
                begun.boxed()
            })
            .collect();
        let mut followed = Vec::new();
        let all = async {
            while let Some((uri, following)) = beginning.next().await {
                // Of what it may not follow it hears nothing.
                followed.extend(following.map(|following| (uri, following)));
            }
        };
        let _ = tokio::time::timeout(PATIENCE, all).await;
        let (request_context, late) = (request_context.clone(), beginning.into_iter().collect());
        Self { request_context, lists, followed, late }
    }
}

fn wants(filter: &SubscriptionFilter, list: NotifiedList) -> bool {
    let wanted = match list {
        NotifiedList::Tools => filter.tools_list_changed,
        NotifiedList::Offers(ResourceKind::Prompt) => filter.prompts_list_changed,
        NotifiedList::Offers(_) => filter.resources_list_changed,
    };
    wanted == Some(true)
}

/// Tells a client of 2026-07-28 what it wants to hear, until it has heard enough.
pub(crate) async fn listen(
    server_state: &McpServerState,
    ahead: PreparedSubscription,
    subscription: SubscriptionContext,
) {
    let cribs = &*server_state.cribs;
    let (accepted, sink) = (subscription.accepted(), subscription.sink());
    let PreparedSubscription { request_context, lists, followed, late } = ahead;
    let is_accepted = |uri: &String| {
        accepted.resource_subscriptions.as_ref().is_some_and(|accepted| accepted.contains(uri))
    };
    let lists = lists.into_iter().filter(|(list, _)| wants(accepted, *list));
    let mut lists: FuturesUnordered<_> = lists.map(|(_, change)| change).collect();
    let in_time = followed.into_iter().filter(|(uri, _)| is_accepted(uri));
    let in_time = in_time.map(|(uri, following)| ready((uri, Some(following))).boxed());
    let updates: FuturesUnordered<_> = in_time
        .chain(late)
        .map(|begun| async move {
            let (uri, Some(mut following)) = begun.await else { return };
            while following.next().await.is_some() {
                if sink.notify_resource_updated(uri.as_str()).await.is_err() {
                    return;
                }
            }
        })
        .collect();
    let told_updates = async {
        updates.collect::<()>().await;
        std::future::pending::<()>().await;
    };
    let mut told_updates = std::pin::pin!(told_updates);
    loop {
        let list = tokio::select! {
            () = subscription.cancelled() => return,
            () = &mut told_updates => return,
            Some(list) = lists.next(), if !lists.is_empty() => list,
        };
        lists.push(told(cribs, &request_context, list));
        let sent = match list {
            NotifiedList::Tools => sink.notify_tool_list_changed().await,
            NotifiedList::Offers(ResourceKind::Prompt) => sink.notify_prompt_list_changed().await,
            NotifiedList::Offers(_) => sink.notify_resource_list_changed().await,
        };
        if sent.is_err() {
            return;
        }
    }
}
