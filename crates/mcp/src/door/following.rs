//! What a client is told without asking: that lists changed, and that a resource it follows did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use rmcp::model::{
    ErrorData, ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerNotification,
};
use rmcp::service::{Peer, RoleServer, ServiceError, SubscriptionContext};
use tokio::task::AbortHandle;
use toolcrib_core::{Following, Kind, Visitor};

use super::desk::{Entrance, Room};
use super::house::House;
use super::telling::error_data;

/// Resources that one client may follow at the same time.
pub(super) const MOST: usize = 64;
/// How often a session that is told of changes is looked at whether it is still there.
const LOOK: Duration = Duration::from_secs(30);

/// A list of which changes are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Tools,
    Offers(Kind),
}

impl List {
    /// The list whose change is told by this.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the SDK's messages grow with every release"
    )]
    pub(super) fn of(told: &ServerNotification) -> Option<Self> {
        match told {
            ServerNotification::ToolListChangedNotification(_) => Some(Self::Tools),
            ServerNotification::PromptListChangedNotification(_) => {
                Some(Self::Offers(Kind::Prompt))
            }
            ServerNotification::ResourceListChangedNotification(_) => {
                Some(Self::Offers(Kind::Resource))
            }
            _ => None,
        }
    }
}

const LISTS: [List; 3] = [List::Tools, List::Offers(Kind::Prompt), List::Offers(Kind::Resource)];

fn changed(house: &Arc<dyn House>, list: List) -> BoxFuture<'static, List> {
    let changed = match list {
        List::Tools => house.changed(),
        List::Offers(kind) => house.offers_changed(kind),
    };
    changed.map(move |()| list).boxed()
}

/// Resolve when their list changes from now on.
pub(super) fn changes(house: &Arc<dyn House>) -> Vec<BoxFuture<'static, List>> {
    LISTS.iter().map(|list| changed(house, *list)).collect()
}

/// Whoever tells a session of an older client of changed lists; it ends with this.
#[derive(Default)]
pub(super) struct Telling(OnceLock<AbortHandle>);

impl Telling {
    /// `missed`: what it was not told yet, asked for after the beginning.
    pub(super) fn begin(
        &self,
        house: &Arc<dyn House>,
        peer: Peer<RoleServer>,
        missed: impl FnOnce() -> Vec<List>,
    ) {
        self.0.get_or_init(|| {
            let changes = changes(house).into_iter().collect();
            let telling = tell_lists(Arc::clone(house), peer, missed(), changes);
            tokio::spawn(telling).abort_handle()
        });
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        self.0.get().map(AbortHandle::abort);
    }
}

async fn tell_lists(
    house: Arc<dyn House>,
    peer: Peer<RoleServer>,
    missed: Vec<List>,
    mut changes: FuturesUnordered<BoxFuture<'static, List>>,
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
        changes.push(changed(&house, list));
        if tell(&peer, list).await.is_err() {
            return;
        }
    }
}

async fn tell(peer: &Peer<RoleServer>, list: List) -> Result<(), ServiceError> {
    match list {
        List::Tools => peer.notify_tool_list_changed().await,
        List::Offers(Kind::Prompt) => peer.notify_prompt_list_changed().await,
        List::Offers(_) => peer.notify_resource_list_changed().await,
    }
}

/// What the session of an older client follows.
#[derive(Default)]
pub(super) struct Followed(Mutex<HashMap<String, AbortHandle>>);

impl Followed {
    fn all(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn begin(
        &self,
        room: &Room,
        entrance: Entrance,
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
        let mut following = follow(&room.house, entrance, uri.clone()).await?;
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

    pub(super) fn count(&self) -> usize {
        self.all().len()
    }

    pub(super) fn end(&self, uri: &str) {
        if let Some(task) = self.all().remove(uri) {
            task.abort();
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.all().values().for_each(AbortHandle::abort);
    }
}

async fn follow(
    house: &Arc<dyn House>,
    entrance: Entrance,
    uri: String,
) -> Result<Following, ErrorData> {
    let Entrance { caller, profile, session, .. } = entrance;
    let visitor = Visitor { caller, session };
    let followed = house.follow(visitor, profile.as_deref(), uri).await;
    followed.map_err(|error| error_data(&error))
}

/// Tells a client of 2026-07-28 what it wants to hear, until it has heard enough.
pub(super) async fn listen(room: &Room, entrance: Entrance, subscription: SubscriptionContext) {
    let house = &room.house;
    let (accepted, sink) = (subscription.accepted(), subscription.sink());
    let wanted = |list: &&List| match list {
        List::Tools => accepted.tools_list_changed == Some(true),
        List::Offers(Kind::Prompt) => accepted.prompts_list_changed == Some(true),
        List::Offers(_) => accepted.resources_list_changed == Some(true),
    };
    let mut lists: FuturesUnordered<_> =
        LISTS.iter().filter(wanted).map(|list| changed(house, *list)).collect();
    let uris = accepted.resource_subscriptions.iter().flatten().take(MOST);
    // Of what it may not follow it hears nothing.
    let updates: FuturesUnordered<_> = uris
        .map(|uri| {
            let (entrance, uri) = (entrance.clone(), uri.clone());
            async move {
                let Ok(mut following) = follow(house, entrance, uri.clone()).await else { return };
                while following.next().await.is_some() {
                    if sink.notify_resource_updated(uri.as_str()).await.is_err() {
                        return;
                    }
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
        lists.push(changed(house, list));
        let told = match list {
            List::Tools => sink.notify_tool_list_changed().await,
            List::Offers(Kind::Prompt) => sink.notify_prompt_list_changed().await,
            List::Offers(_) => sink.notify_resource_list_changed().await,
        };
        if told.is_err() {
            return;
        }
    }
}
