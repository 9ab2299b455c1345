//! One request, answered by its method.

use std::sync::Arc;

use http::HeaderMap;
use rmcp::model::ErrorCode;
use serde_json::{Map, Value, json};
use toolcrib_core::{ResourceKind, ResourceOperation, ResourceRequest, Trace};

use super::parameters::{self, is_there, misfit, no_method, optional_text, resumed, text};
use super::resources::{self, ResourceRequestHandler, pass_on};
use super::{initialize, tools_list};
use crate::door::call::answer::{MethodAnswer, MethodResult};
use crate::door::call::idempotency;
use crate::door::call::tool_call::{self, ToolCallMetadata, traced};
use crate::door::client::channel::ClientChannel;
use crate::door::client::features::ClientFeatures;
use crate::door::client::outbound::Outbound;
use crate::door::client::subscriptions::{self, SUBSCRIPTION, SubscriptionFilter};
use crate::door::persistence::elsewhere;
use crate::door::session::conversation::Conversation;
use crate::door::state::{McpRequestContext, McpServerState};
use crate::door::tasks;
use crate::protocol::levels::{level, named};
use crate::protocol::methods::is_defined;
use crate::protocol::revisions::agreed;
use crate::protocol::rpc::RpcNotification;

/// A request of which it is known who asks, and where to answer.
pub(crate) struct MethodRequest {
    pub(crate) server_state: Arc<McpServerState>,
    /// Of an older client, or of one at a pipe.
    pub(crate) conversation: Option<Arc<Conversation>>,
    pub(crate) request_context: McpRequestContext,
    pub(crate) channel: ClientChannel,
    /// Those of a request whose revision has some arguments repeated in them.
    pub(crate) headers: Option<HeaderMap>,
}

impl MethodRequest {
    pub(crate) async fn answer(self, method: &str, params: Map<String, Value>) -> MethodAnswer {
        let is_modern = self.channel.client.is_modern;
        let answered = self.of_method(method, params).await;
        answered.map_err(|mut error| {
            // The revisions before have a code of their own for it.
            if is_modern && error.code == ErrorCode::RESOURCE_NOT_FOUND {
                error.code = ErrorCode::INVALID_PARAMS;
            }
            error
        })
    }

    async fn of_method(self, method: &str, mut params: Map<String, Value>) -> MethodAnswer {
        let client = &self.channel.client;
        if !is_there(method, client.is_modern) {
            return if is_defined(method) || SKILLS.contains(&method) {
                Err(no_method(method))
            } else {
                self.extension(method, params).await
            };
        }
        match method {
            "tools/call" => Box::pin(self.call(params)).await,
            "tools/list" => {
                let cursor = optional_text(method, &mut params, "cursor")?;
                let (state, context) = (&self.server_state, &self.request_context);
                let list = tools_list::tools(state, context, client, cursor.as_deref())?;
                Ok(MethodResult { text: list, has_failed: false })
            }
            "prompts/list" => self.list(method, ResourceKind::Prompt, params),
            "resources/list" => self.list(method, ResourceKind::Resource, params),
            "resources/templates/list" => self.list(method, ResourceKind::Template, params),
            "prompts/get" | "resources/read" | "completion/complete" => {
                Box::pin(self.read(method, params)).await
            }
            "server/discover" => {
                Ok(initialize::discover(&self.server_state, &self.request_context))
            }
            "subscriptions/listen" => Box::pin(self.listen(method, params)).await,
            "tasks/get" | "tasks/update" | "tasks/cancel" => self.task(method, params).await,
            "initialize" => self.initialize(method, params),
            "logging/setLevel" => Box::pin(self.set_level(method, params)).await,
            "resources/subscribe" | "resources/unsubscribe" => {
                Box::pin(self.follow(method, params)).await
            }
            // `ping` alone is left.
            _ => Ok(MethodResult::empty()),
        }
    }

    async fn call(self, mut params: Map<String, Value>) -> MethodAnswer {
        let method = "tools/call";
        let tool = text(method, &mut params, "name")?;
        let arguments = parameters::optional_object(method, &mut params, "arguments")?;
        let (state, answers) = resumed(method, &mut params)?;
        let Self { server_state, mut request_context, channel, headers, .. } = self;
        let proposed = params.shift_remove(idempotency::PROPOSED);
        request_context.key = proposed.map(Arc::new);
        let meta = params.get("_meta").and_then(Value::as_object);
        let said = |key: &str| meta.and_then(|meta| meta.get(key));
        let marks = ToolCallMetadata {
            trace: said("traceparent").and_then(Value::as_str),
            key: said(idempotency::KEY),
            again: said(idempotency::AGAIN),
            headers: headers.as_ref(),
        };
        let asked = (tool, arguments.map(Value::Object), state.map(|state| (state, answers)));
        tool_call::answer(&server_state, request_context, channel, marks, asked).await
    }

    fn list(
        &self,
        method: &str,
        kind: ResourceKind,
        mut params: Map<String, Value>,
    ) -> MethodAnswer {
        let cursor = optional_text(method, &mut params, "cursor")?;
        let (state, client) = (&self.server_state, &self.channel.client);
        resources::list(state, client, &self.request_context, kind, cursor.as_deref())
    }

    async fn read(self, method: &str, params: Map<String, Value>) -> MethodAnswer {
        let text = |place: &str| params.get(place).is_some_and(Value::is_string);
        let at = |place: &str, key: &str| {
            params.get(place).and_then(|place| place.get(key)).and_then(Value::as_str)
        };
        let (about, fits) = match method {
            "prompts/get" => {
                let arguments = params.get("arguments");
                let fits = arguments.is_none_or(|all| all.is_object() || all.is_null());
                (ResourceOperation::Prompt, text("name") && fits)
            }
            "resources/read" => (ResourceOperation::Resource, text("uri")),
            _ => {
                let named = match at("ref", "type") {
                    Some("ref/prompt") => at("ref", "name"),
                    Some("ref/resource") => at("ref", "uri"),
                    _ => None,
                };
                let argument = ["name", "value"].map(|key| at("argument", key).is_some());
                (ResourceOperation::Completion, named.is_some() && argument == [true; 2])
            }
        };
        if fits { self.inquire(method, about, params).await } else { Err(misfit(method)) }
    }

    /// A method that the protocol does not define: where a door stands for one server, it is that
    /// server's to answer.
    async fn extension(self, method: &str, params: Map<String, Value>) -> MethodAnswer {
        Box::pin(self.inquire(method, ResourceOperation::Method(Arc::from(method)), params)).await
    }

    async fn inquire(
        self,
        method: &str,
        about: ResourceOperation,
        mut params: Map<String, Value>,
    ) -> MethodAnswer {
        let Self { server_state, mut request_context, channel, .. } = self;
        let meta = params.shift_remove("_meta").unwrap_or_default();
        let said = meta.get("traceparent").and_then(Value::as_str);
        request_context.trace = request_context.trace.map(|own: Trace| traced(own, said));
        let back = if channel.client.is_modern {
            resumed(method, &mut params)?
        } else {
            Default::default()
        };
        let inquiry = ResourceRequest { about, params };
        ResourceRequestHandler::new(&server_state, &channel, request_context, inquiry)
            .answer(back)
            .await
    }

    async fn task(&self, method: &str, mut params: Map<String, Value>) -> MethodAnswer {
        if !self.channel.client.takes_tasks {
            return Err(tasks::undeclared());
        }
        let id = text(method, &mut params, "taskId")?;
        let McpRequestContext { caller, profile, .. } = &self.request_context;
        let (tasks, profile) = (&self.server_state.tasks, profile.as_deref());
        if tasks.is_elsewhere(&id).await {
            return Err(elsewhere());
        }
        match method {
            "tasks/get" => return Ok(MethodResult::of(&tasks.state(&id, (caller, profile))?)),
            "tasks/update" => {
                let answers = parameters::optional_object(method, &mut params, "inputResponses")?;
                let answers = answers.ok_or_else(|| misfit(method))?;
                tasks.answer(&id, (caller, profile), answers.into_iter().collect())?;
            }
            _ => tasks.cancel(&id, (caller, profile))?,
        }
        Ok(MethodResult::of(&json!({ "resultType": "complete" })))
    }

    async fn listen(self, method: &str, params: Map<String, Value>) -> MethodAnswer {
        let wanted = params.get("notifications").and_then(Value::as_object);
        let wanted = wanted.and_then(SubscriptionFilter::read).ok_or_else(|| misfit(method))?;
        let Self { server_state, request_context, channel, .. } = &self;
        if let Some(out) = &channel.out {
            subscriptions::listen(server_state, request_context, (&channel.id, out), wanted).await;
        }
        let meta = json!({
            SUBSCRIPTION: channel.id, "io.modelcontextprotocol/serverInfo": initialize::own_name(),
        });
        Ok(MethodResult::of(&json!({ "resultType": "complete", "_meta": meta })))
    }

    fn initialize(&self, method: &str, mut params: Map<String, Value>) -> MethodAnswer {
        let wanted = text(method, &mut params, "protocolVersion")?;
        let can = parameters::optional_object(method, &mut params, "capabilities")?;
        let (Some(can), Some(conversation)) = (can, &self.conversation) else {
            return Err(misfit(method));
        };
        let named = |key| params.get("clientInfo").is_some_and(|it| it[key].is_string());
        if !(named("name") && named("version")) {
            return Err(misfit(method));
        }
        let revision = agreed(&wanted);
        let features = ClientFeatures::of(revision, &Value::Object(can));
        conversation.greets(revision, &wanted, features);
        Ok(initialize::initialize(&self.server_state, &self.request_context, &wanted))
    }

    async fn set_level(self, method: &str, params: Map<String, Value>) -> MethodAnswer {
        let lowest = params.get("level").and_then(Value::as_str).and_then(level);
        let (Some(lowest), Some(conversation)) = (lowest, &self.conversation) else {
            return Err(misfit(method));
        };
        conversation.logs.set(lowest);
        hear_lines(&self.server_state, &self.request_context, conversation).await;
        conversation.changes();
        Ok(MethodResult::empty())
    }

    async fn follow(self, method: &str, mut params: Map<String, Value>) -> MethodAnswer {
        let uri = text(method, &mut params, "uri")?;
        let conversation = self.conversation.ok_or_else(|| no_method(method))?;
        if method == "resources/unsubscribe" {
            conversation.followed.end(&uri);
        } else {
            let out = Arc::clone(&conversation.unrelated);
            conversation.followed.begin(self.request_context, uri, out).await?;
        }
        conversation.changes();
        Ok(MethodResult::empty())
    }
}

/// Has the only server behind this door tell lines of no call, at the level that is set.
async fn hear_lines(
    server_state: &Arc<McpServerState>,
    request_context: &McpRequestContext,
    conversation: &Conversation,
) {
    if request_context.sole().is_none() {
        return;
    }
    let level = json!(named(conversation.logs.lowest()));
    let level = Map::from_iter([("level".to_owned(), level)]);
    // A server without levels loses nothing: lines are sorted out here as well.
    if pass_on(request_context, ResourceOperation::Level, level).await {
        let listener = Arc::clone(&conversation.unrelated);
        conversation.logs.begin(server_state, request_context.clone(), listener);
    }
}

/// Has a client that begins to listen here hear what it heard in another process: it knows nothing
/// of processes, and will not ask for it again.
pub(crate) fn hear_again(
    server_state: &Arc<McpServerState>,
    request_context: &McpRequestContext,
    conversation: &Arc<Conversation>,
) {
    let waiting = conversation.followed.waiting();
    if waiting.is_empty() && !conversation.logs.waits() {
        return;
    }
    let (server_state, request_context) = (Arc::clone(server_state), request_context.clone());
    let conversation = Arc::clone(conversation);
    tokio::spawn(async move {
        let hearing = async {
            if conversation.logs.waits() {
                hear_lines(&server_state, &request_context, &conversation).await;
            }
            for uri in waiting {
                let out = Arc::clone(&conversation.unrelated) as Arc<dyn Outbound>;
                // What cannot be followed now is, once its client listens anew.
                let _ = conversation.followed.begin(request_context.clone(), uri, out).await;
            }
        };
        tokio::select! {
            () = conversation.over.cancelled() => {}
            () = hearing => {}
        }
    });
}

/// Of an extension that this door has not, whoever is behind it.
const SKILLS: [&str; 3] = ["skills/list", "skills/get", "resources/directory/read"];

/// Takes in what a client says without asking. `conversation`: the one that it belongs to.
pub(crate) fn hear(
    conversation: &Conversation,
    request_context: &McpRequestContext,
    notification: RpcNotification,
) {
    let RpcNotification { method, mut params } = notification;
    if method == "notifications/cancelled" {
        conversation.open.cancel(params.get("requestId"));
    }
    if is_defined(&method) || request_context.sole().is_none() {
        return;
    }
    let Ok(place) = Arc::clone(&conversation.notices).try_acquire_owned() else { return };
    params.shift_remove("_meta");
    let (over, request_context) = (conversation.over.clone(), request_context.clone());
    // Nobody can be asked about it, and nobody hears what became of it but the record. It may take
    // its time, and what its client says next is not to wait for that.
    tokio::spawn(async move {
        let _place = place;
        let about = ResourceOperation::Notice(Arc::from(method));
        tokio::select! {
            () = over.cancelled() => {}
            _ = pass_on(&request_context, about, params) => {}
        }
    });
}
