//! What a client is told without asking: that lists changed, and that a resource it follows did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _, pending, ready};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use rmcp::model::{ErrorData, RequestId};
use serde_json::{Map, Value, json};
use tokio::task::AbortHandle;
use toolcrib_core::{BatchOptions, ClientSession, ResourceKind, UpdateStream};

use super::outbound::{Outbound, OutboundKind};
use crate::door::call::report::error_data;
use crate::door::provider::CribProvider;
use crate::door::state::{McpRequestContext, McpServerState};
use crate::protocol::rpc::call;

/// Resources that one client may follow at the same time.
const MOST: usize = 64;

const UPDATED: &str = "notifications/resources/updated";

/// A list of which changes are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotifiedList {
    Tools,
    Offers(ResourceKind),
}

impl NotifiedList {
    /// The notification that it has changed.
    fn method(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Offers(ResourceKind::Prompt) => "notifications/prompts/list_changed",
            Self::Offers(_) => "notifications/resources/list_changed",
        }
    }

    /// The capability of a server that has such a list.
    fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Offers(ResourceKind::Prompt) => "prompts",
            Self::Offers(_) => "resources",
        }
    }

    /// The field of a wish for its changes, in 2026-07-28.
    fn field(self) -> &'static str {
        match self {
            Self::Tools => "toolsListChanged",
            Self::Offers(ResourceKind::Prompt) => "promptsListChanged",
            Self::Offers(_) => "resourcesListChanged",
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

/// The changes of lists that an older client is told of. Those that happen while nobody looks are
/// there for whoever looks next, each list once.
pub(crate) struct ListChanges {
    cribs: Arc<dyn CribProvider>,
    request_context: McpRequestContext,
    waiting: FuturesUnordered<BoxFuture<'static, NotifiedList>>,
}

impl ListChanges {
    pub(crate) fn begin(
        cribs: &Arc<dyn CribProvider>,
        request_context: &McpRequestContext,
    ) -> Self {
        let waiting = LISTS.iter().map(|list| told(&**cribs, request_context, *list)).collect();
        Self { cribs: Arc::clone(cribs), request_context: request_context.clone(), waiting }
    }

    /// The same for one that another process told before: nobody knows what it had not told yet, so
    /// that each list counts as changed.
    pub(crate) fn resume(
        cribs: &Arc<dyn CribProvider>,
        request_context: &McpRequestContext,
    ) -> Self {
        let sole = request_context.sole();
        let has = |list: &NotifiedList| {
            sole.as_ref().is_none_or(|sole| sole.capabilities.contains_key(list.capability()))
        };
        let waiting = LISTS.iter().filter(|list| has(list)).map(|list| ready(*list).boxed());
        let others = LISTS.iter().filter(|list| !has(list));
        let others = others.map(|list| told(&**cribs, request_context, *list));
        let waiting = waiting.chain(others).collect();
        Self { cribs: Arc::clone(cribs), request_context: request_context.clone(), waiting }
    }

    /// The notification of the next change. Dropping it loses none.
    pub(crate) async fn next(&mut self) -> Vec<u8> {
        match self.waiting.next().await {
            Some(list) => {
                self.waiting.push(told(&*self.cribs, &self.request_context, list));
                call(None, list.method(), &Value::Null)
            }
            None => pending().await,
        }
    }
}

/// What the session of an older client follows. Without a task: what it followed in another process,
/// and nobody listens yet.
#[derive(Default)]
pub(crate) struct SessionSubscriptions(Mutex<HashMap<String, Option<AbortHandle>>>);

impl SessionSubscriptions {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Option<AbortHandle>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn begin(
        &self,
        request_context: McpRequestContext,
        uri: String,
        out: Arc<dyn Outbound>,
    ) -> Result<(), ErrorData> {
        let (known, count) = {
            let all = self.all();
            (all.get(&uri).map(Option::is_some), all.len())
        };
        match known {
            Some(true) => return Ok(()),
            None if count >= MOST => {
                let told = format!("this client follows {MOST} resources already: end one first");
                return Err(ErrorData::invalid_request(told, None));
            }
            Some(false) | None => {}
        }
        let mut following = follow(request_context, uri.clone()).await?;
        let task = tokio::spawn(async move {
            while let Some(params) = following.next().await {
                let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default();
                let told = call(None, UPDATED, &json!({ "uri": uri }));
                if !out.send(told, OutboundKind::Notification).await {
                    break;
                }
            }
        });
        if let Some(Some(before)) = self.all().insert(uri, Some(task.abort_handle())) {
            before.abort();
        }
        Ok(())
    }

    pub(crate) fn end(&self, uri: &str) {
        if let Some(Some(task)) = self.all().remove(uri) {
            task.abort();
        }
    }

    /// What it follows, or followed in another process.
    pub(crate) fn uris(&self) -> Vec<String> {
        self.all().keys().cloned().collect()
    }

    /// What it followed in another process.
    pub(crate) fn restore(&self, uris: Vec<String>) {
        self.all().extend(uris.into_iter().take(MOST).map(|uri| (uri, None)));
    }

    /// Of these what is not followed here yet.
    pub(crate) fn waiting(&self) -> Vec<String> {
        let all = self.all();
        all.iter().filter(|(_, task)| task.is_none()).map(|(uri, _)| uri.clone()).collect()
    }
}

impl Drop for SessionSubscriptions {
    fn drop(&mut self) {
        self.all().values().flatten().for_each(AbortHandle::abort);
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

/// What a client of 2026-07-28 wants to hear of.
pub(crate) struct SubscriptionFilter {
    lists: Vec<NotifiedList>,
    resources: Option<Vec<String>>,
}

impl SubscriptionFilter {
    /// `None`: it has another shape.
    pub(crate) fn read(wanted: &Map<String, Value>) -> Option<Self> {
        let mut lists = Vec::new();
        for list in LISTS {
            match wanted.get(list.field()) {
                Some(Value::Bool(true)) => lists.push(list),
                None | Some(Value::Bool(false) | Value::Null) => {}
                Some(_) => return None,
            }
        }
        let resources = match wanted.get("resourceSubscriptions") {
            None | Some(Value::Null) => None,
            Some(Value::Array(uris)) => {
                let uris = uris.iter().map(|uri| uri.as_str().map(str::to_owned));
                Some(uris.collect::<Option<Vec<_>>>()?.into_iter().take(MOST).collect())
            }
            Some(_) => return None,
        };
        Some(Self { lists, resources })
    }

    /// As its client is told what it will hear of.
    fn accepted(&self) -> Value {
        let lists = self.lists.iter().map(|list| (list.field().to_owned(), json!(true)));
        let mut accepted: Map<String, Value> = lists.collect();
        let resources = self.resources.as_ref().map(|uris| json!(uris));
        accepted.extend(resources.map(|uris| ("resourceSubscriptions".to_owned(), uris)));
        Value::Object(accepted)
    }
}

/// What is followed for a client of 2026-07-28, begun before it hears that it is.
struct PreparedSubscription {
    lists: FuturesUnordered<BoxFuture<'static, NotifiedList>>,
    followed: Vec<(String, UpdateStream)>,
    /// Their sources take their time.
    late: Vec<LateSubscription>,
}

impl PreparedSubscription {
    async fn begin(
        server_state: &McpServerState,
        request_context: &McpRequestContext,
        wanted: &SubscriptionFilter,
    ) -> Self {
        let cribs = &*server_state.cribs;
        let lists = wanted.lists.iter().map(|list| told(cribs, request_context, *list)).collect();
        let uris = wanted.resources.iter().flatten();
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
        Self { lists, followed, late: beginning.into_iter().collect() }
    }
}

/// Tells a client of 2026-07-28 what it wants to hear, until it has heard enough.
pub(crate) async fn listen(
    server_state: &McpServerState,
    request_context: &McpRequestContext,
    (id, out): (&RequestId, &Arc<dyn Outbound>),
    wanted: SubscriptionFilter,
) {
    let ahead = PreparedSubscription::begin(server_state, request_context, &wanted).await;
    let said = json!({ SUBSCRIPTION: id });
    let acknowledged = json!({ "_meta": said, "notifications": wanted.accepted() });
    let acknowledged = call(None, "notifications/subscriptions/acknowledged", &acknowledged);
    if !out.send(acknowledged, OutboundKind::Awaited).await {
        return;
    }
    let PreparedSubscription { mut lists, followed, late } = ahead;
    let in_time =
        followed.into_iter().map(|(uri, following)| ready((uri, Some(following))).boxed());
    let updates: FuturesUnordered<_> = in_time
        .chain(late)
        .map(|begun| async {
            let (uri, Some(mut following)) = begun.await else { return };
            while following.next().await.is_some() {
                let told = json!({ "_meta": said, "uri": uri });
                if !out.send(call(None, UPDATED, &told), OutboundKind::Notification).await {
                    return;
                }
            }
        })
        .collect();
    let told_updates = async {
        updates.collect::<()>().await;
        pending::<()>().await;
    };
    let mut told_updates = std::pin::pin!(told_updates);
    loop {
        let list = tokio::select! {
            () = &mut told_updates => return,
            Some(list) = lists.next(), if !lists.is_empty() => list,
        };
        lists.push(told(&*server_state.cribs, request_context, list));
        let changed = call(None, list.method(), &json!({ "_meta": said }));
        // The updates may stand before it where there is no room: they are to go on.
        tokio::select! {
            () = &mut told_updates => return,
            sent = out.send(changed, OutboundKind::Notification) => if !sent { return },
        }
    }
}

/// Under this key of `_meta` stands the request that something is told by.
pub(crate) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
