//! The prompts and resources of a server.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::sleep;
use toolcrib_core::{
    BoxFuture, CallContext, ClientSession, ErrorKind, FormFallback, JsonFields, ResourceKind,
    ResourceList, ResourceOperation, ResourceRequest, Resources, ServerInfo, SourceError,
    ToolError, UpdateStream,
};

use super::list;
use super::list_notice::{SameListNotice, next};
use crate::client::call::outgoing::OutgoingRequest;
use crate::client::connection::server_info::hints;
use crate::client::fault::McpFault;
use crate::client::list_kind::{PROMPTS, RESOURCES, TEMPLATES};
use crate::client::upstream::pool::UpstreamPool;
use crate::protocol::frame;
use crate::protocol::json::strict_object;
use crate::protocol::methods;

/// Largest definition, in bytes of JSON.
const LARGEST: usize = 64 * 1024;
const METHOD_NOT_FOUND: i32 = -32601;

pub(crate) struct McpResources {
    pool: Arc<UpstreamPool>,
    /// How many changes and ends had been told when it was listed.
    told: std::sync::Mutex<(u64, u64)>,
    prompts: SameListNotice,
    resources: SameListNotice,
}

impl McpResources {
    pub(crate) fn new(pool: Arc<UpstreamPool>) -> Self {
        let (prompts, resources) = (SameListNotice::default(), SameListNotice::default());
        Self { pool, told: std::sync::Mutex::default(), prompts, resources }
    }

    fn now(&self) -> (u64, u64) {
        let listing = &self.pool.listing;
        (*listing.news.library.borrow(), *listing.ends.borrow())
    }

    fn told(&self) -> std::sync::MutexGuard<'_, (u64, u64)> {
        self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn fetch(&self) -> Result<ResourceList, McpFault> {
        let timeouts = self.pool.settings().timeouts;
        let connection = self.pool.listing.connection(None).await?;
        let mut said = ServerInfo::clone(&connection.facts.said);
        said.hints.extend(self.pool.hints());
        let mut lists = Vec::new();
        for kind in [PROMPTS, RESOURCES, TEMPLATES] {
            let listed = match list::all(&connection, kind, timeouts.list).await {
                // It has resources, and no templates of them.
                Err(McpFault::Refused { code: METHOD_NOT_FOUND, .. }) => {
                    list::FetchedList::default()
                }
                listed => listed?,
            };
            said.hints.insert(kind.method.to_owned(), hints(listed.besides));
            let mut notes: Vec<_> = listed.note.into_iter().collect();
            let depth = connection.calls.bounds.depth;
            let mut taken = Vec::new();
            for (place, entry) in listed.entries.iter().enumerate() {
                match definition(entry, depth) {
                    Ok(definition) => taken.push(definition),
                    Err(why) => {
                        let (words, place) = (kind.words, place + 1);
                        notes.push(format!("number {place} of its {words} is left out: {why}"));
                    }
                }
            }
            self.pool.note(kind.method, notes);
            lists.push(taken);
        }
        self.pool.listing.touch();
        let mut lists = lists.into_iter();
        let mut list = || lists.next().unwrap_or_default();
        Ok(ResourceList {
            stem: String::new(),
            prompts: list(),
            resources: list(),
            templates: list(),
            // Our own times end an answer first, and say which of them it was.
            timeout: Some(timeouts.connect + timeouts.longest_call),
            said: Arc::new(said),
        })
    }

    async fn poll(&self) {
        let Some(pause) = self.pool.settings().poll else {
            return std::future::pending().await;
        };
        loop {
            sleep(pause).await;
            // A server that was stopped because nobody needs it is not started to be asked.
            if self.pool.listing.current().is_some_and(|live| !live.tells_of_library()) {
                return;
            }
        }
    }

    async fn ask(
        &self,
        inquiry: ResourceRequest,
        context: &CallContext,
    ) -> Result<JsonFields, McpFault> {
        let upstream = self.pool.upstream(context).await?;
        if inquiry.about == ResourceOperation::Level {
            return upstream.hear_from(inquiry.params, context).await;
        }
        let ResourceRequest { about, mut params } = inquiry;
        if let ResourceOperation::Notice(method) = &about {
            let connection = upstream.connection(Some(context)).await?;
            connection.notify(method, params).await?;
            return Ok(JsonFields::new());
        }
        if about == ResourceOperation::Prompt {
            params.entry("arguments").or_insert_with(|| json!({}));
        }
        let asked = OutgoingRequest {
            method: methods::of_operation(&about).to_owned().into(),
            params: params.into(),
            as_task: false,
            is_harmless: !matches!(about, ResourceOperation::Method(_)),
        };
        upstream.call(asked, context).await?.fields()
    }
}

impl Resources for McpResources {
    fn load(&self) -> BoxFuture<'_, Result<ResourceList, SourceError>> {
        Box::pin(async {
            let (now, news) = (self.now(), &self.pool.listing.news);
            let said = (news.announced(PROMPTS), news.announced(RESOURCES));
            let fetched = self.fetch().await;
            if let Ok(ResourceList { prompts, resources, templates, .. }) = &fetched {
                self.prompts.look(said.0, &[prompts]);
                self.resources.look(said.1, &[resources, templates]);
            }
            // Also of a list that failed: it is asked for again at its own pace.
            *self.told() = now;
            fetched.map_err(|fault| fault.into_source_error(self.pool.id.as_str()))
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let (changes, ends) = *self.told();
            let listing = &self.pool.listing;
            let (mut lists, mut ended) =
                (listing.news.library.subscribe(), listing.ends.subscribe());
            tokio::select! {
                _ = lists.wait_for(|count| *count != changes) => {}
                _ = ended.wait_for(|count| *count != ends) => {}
                () = self.poll() => {}
            }
        })
    }

    fn change_announced(&self, kind: ResourceKind) -> BoxFuture<'static, ()> {
        next(match kind {
            ResourceKind::Prompt => &self.prompts.told,
            ResourceKind::Resource | ResourceKind::Template => &self.resources.told,
        })
    }

    fn lines(&self, visitor: ClientSession) -> Option<UpdateStream> {
        Some(UpdateStream::new(self.pool.lines.to(visitor)))
    }

    fn is_open(&self) -> bool {
        true
    }

    fn answer<'a>(
        &'a self,
        inquiry: ResourceRequest,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<JsonFields, ToolError>> {
        Box::pin(async move {
            let is_completion = inquiry.about == ResourceOperation::Completion;
            let reads = !matches!(
                inquiry.about,
                ResourceOperation::Method(_) | ResourceOperation::Notice(_)
            );
            let alone = match self.pool.settings().questions {
                FormFallback::PutAway => Some(context.asking_host_alone()),
                FormFallback::Ticket | FormFallback::Refused => None,
            };
            let context = alone.as_ref().unwrap_or(context);
            let answered = self.ask(inquiry, context).await;
            let mut result = match answered {
                // A server that completes nothing has no value to offer.
                Err(McpFault::Refused { code: METHOD_NOT_FOUND, .. }) if is_completion => {
                    JsonFields::from_iter([("completion".to_owned(), json!({ "values": [] }))])
                }
                answered => {
                    answered.map_err(|fault| fault.into_tool_error(self.pool.id.as_str(), reads))?
                }
            };
            if result.get("resultType").is_some_and(|kind| kind == "complete") {
                result.shift_remove("resultType");
            }
            Ok(result)
        })
    }

    fn follow<'a>(
        &'a self,
        uri: &'a str,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<UpdateStream, ToolError>> {
        Box::pin(async move {
            let followed = async {
                let mut upstream = self.pool.upstream(context).await?;
                let mut connection = upstream.connection(Some(context)).await?;
                if !connection.tells_updates()
                    && let Some(other) = self.pool.older(context)
                {
                    let older = other?;
                    // Many have no older way: then it is refused in the words of the newer.
                    if let Ok(other) = Box::pin(older.connection(Some(context))).await {
                        (upstream, connection) = (older, other);
                    }
                }
                upstream.follow(uri, &connection).await
            };
            followed.await.map(UpdateStream::new).map_err(|fault| {
                let mut error = fault.into_tool_error(self.pool.id.as_str(), true);
                if error.kind == ErrorKind::Internal {
                    error.kind = ErrorKind::Tool;
                }
                error
            })
        })
    }
}

fn size(fields: &JsonFields) -> usize {
    serde_json::to_vec(fields).map_or(usize::MAX, |bytes| bytes.len())
}

/// One entry of a list, or why it is left out.
fn definition(entry: &RawValue, depth: usize) -> Result<Arc<JsonFields>, String> {
    let read = frame::read_entry(entry, depth).map_err(|why| why.words().to_owned())?;
    let Value::Object(mut fields) = read else { return Err("it is no object".to_owned()) };
    if size(&fields) > LARGEST {
        return Err(format!("it is larger than {LARGEST} bytes"));
    }
    strict_object::empty_as_objects(&mut fields, &["annotations", "_meta"]);
    Ok(Arc::new(fields))
}
