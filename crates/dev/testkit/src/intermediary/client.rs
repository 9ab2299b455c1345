//! A client before the gateway, of either revision, which remembers what it was told.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use toolcrib_egress::{Egress, EgressRoute, StreamedResponse};

use super::events::{ClientEvent, EventReader, MOST_BYTES};
use super::upstream::REVISION_KEY;
use super::words::IntermediaryRevision;

/// How often a condition is looked at that comes about by itself.
const LOOK: Duration = Duration::from_millis(5);

/// What came of a request so far.
#[derive(Debug, Clone, Default)]
pub(super) struct ClientExchange {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) events: Vec<ClientEvent>,
    /// The body, where it is neither JSON nor events.
    pub(super) text: String,
    /// Why nothing more was read.
    pub(super) fault: Option<String>,
    pub(super) is_over: bool,
}

impl ClientExchange {
    pub(super) fn messages(&self) -> impl Iterator<Item = &Value> {
        self.events.iter().filter_map(|event| event.message.as_ref())
    }

    /// Results and errors, which should be one.
    pub(super) fn ends(&self) -> Vec<&Value> {
        self.messages().filter(|message| message.get("method").is_none()).collect()
    }

    /// The parameters of the notifications of a method.
    pub(super) fn notes(&self, method: &str) -> Vec<&Value> {
        let own = self.messages().filter(|message| message["method"] == method);
        own.map(|message| &message["params"]).collect()
    }

    /// The result, where there is one end and it is that.
    pub(super) fn result(&self) -> Result<&Value, String> {
        let end = self.end()?;
        end.get("result").ok_or_else(|| format!("it is refused: {}", shown(end)))
    }

    pub(super) fn error(&self) -> Result<&Value, String> {
        let end = self.end()?;
        end.get("error").ok_or_else(|| format!("it is not refused: {}", shown(end)))
    }

    pub(super) fn end(&self) -> Result<&Value, String> {
        match self.ends().as_slice() {
            [end] => Ok(end),
            [] => {
                let fault = self.fault.as_deref().unwrap_or("nothing more came");
                let text: String = self.text.chars().take(200).collect();
                Err(format!("no answer came: HTTP {}, {fault} {text}", self.status))
            }
            more => Err(format!("{} answers came to one request", more.len())),
        }
    }

    /// The text of the first part of the result.
    pub(super) fn said(&self) -> Result<&str, String> {
        let result = self.result()?;
        let said = result["content"][0]["text"].as_str();
        said.ok_or_else(|| format!("its result has no text: {}", shown(result)))
    }
}

/// A value in an error.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    let short: String = text.chars().take(300).collect();
    if short.len() < text.len() { format!("{short}..") } else { short }
}

/// A request under way; dropped, it is not read any more.
pub(super) struct LiveRequest {
    pub(super) id: Value,
    exchange: Arc<Mutex<ClientExchange>>,
    task: JoinHandle<()>,
}

impl LiveRequest {
    /// What came so far.
    pub(super) fn so_far(&self) -> ClientExchange {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All that comes within this time.
    pub(super) async fn finish(mut self, patience: Duration) -> ClientExchange {
        if timeout(patience, &mut self.task).await.is_err() {
            let mut exchange = self.so_far();
            exchange.fault = Some(format!("nothing more came within {patience:?}"));
            return exchange;
        }
        self.so_far()
    }

    /// Waits until what came so far is so.
    pub(super) async fn until(
        &self,
        patience: Duration,
        is_so: impl Fn(&ClientExchange) -> bool,
    ) -> bool {
        until(patience, || is_so(&self.so_far())).await
    }
}

impl Drop for LiveRequest {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Waits for what comes about by itself; whether it did.
pub(super) async fn until(patience: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + patience;
    while !is_so() {
        if Instant::now() > end {
            return false;
        }
        sleep(LOOK).await;
    }
    true
}

/// Where a client is and who it is.
#[derive(Clone)]
pub(super) struct ClientPlace {
    pub(super) egress: Egress,
    pub(super) route: EgressRoute,
    pub(super) own: HeaderMap,
    pub(super) revision: IntermediaryRevision,
    pub(super) patience: Duration,
}

/// What the server asked of the client, and what it is answered by method.
#[derive(Default)]
struct ClientTalk {
    asked: Vec<Value>,
    answers: BTreeMap<String, Value>,
}

#[derive(Clone)]
pub(super) struct GatewayClient {
    pub(super) place: ClientPlace,
    pub(super) session: Option<String>,
    pub(super) capabilities: Value,
    /// What it was greeted with.
    pub(super) greeting: Value,
    /// Of each request of 2026-07-28.
    pub(super) level: Option<&'static str>,
    next: Arc<AtomicU64>,
    talk: Arc<Mutex<ClientTalk>>,
}

impl GatewayClient {
    /// One that has not greeted yet.
    pub(super) fn silent(place: ClientPlace, capabilities: Value) -> Self {
        Self {
            place,
            session: None,
            capabilities,
            greeting: Value::Null,
            level: None,
            next: Arc::default(),
            talk: Arc::default(),
        }
    }

    pub(super) async fn connect(place: ClientPlace, capabilities: Value) -> Result<Self, String> {
        let mut client = Self::silent(place, capabilities);
        if client.is_modern() {
            let hello = client.ask("server/discover", json!({})).await;
            client.greeting = hello.result()?.clone();
            return Ok(client);
        }
        let hello = client.ask("initialize", client.hello()).await;
        client.greeting = hello.result()?.clone();
        let session = hello.headers.get("mcp-session-id").and_then(|id| id.to_str().ok());
        client.session = session.map(str::to_owned);
        client.notify("notifications/initialized", json!({})).await?;
        Ok(client)
    }

    pub(super) fn hello(&self) -> Value {
        json!({
            "protocolVersion": self.place.revision.word(), "capabilities": self.capabilities,
            "clientInfo": { "name": "mcp-intermediary-suite", "version": "1" },
        })
    }

    pub(super) fn is_modern(&self) -> bool {
        self.place.revision == IntermediaryRevision::Newer
    }

    fn talk(&self) -> MutexGuard<'_, ClientTalk> {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers what the server asks by this method.
    pub(super) fn answers(&self, method: &str, answer: Value) {
        self.talk().answers.insert(method.to_owned(), answer);
    }

    /// What the server asked.
    pub(super) fn asked(&self) -> Vec<Value> {
        self.talk().asked.clone()
    }

    /// A message of the revision. `id`: it is a request.
    pub(super) fn message(&self, method: &str, mut params: Value, id: Option<&Value>) -> Value {
        if self.is_modern() {
            let meta = &mut params["_meta"];
            meta[REVISION_KEY] = json!(self.place.revision.word());
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "mcp-intermediary-suite", "version": "1" });
            if let Some(level) = self.level {
                meta["io.modelcontextprotocol/logLevel"] = json!(level);
            }
        }
        let mut message = Map::new();
        message.insert("jsonrpc".to_owned(), json!("2.0"));
        message.extend(id.map(|id| ("id".to_owned(), id.clone())));
        message.insert("method".to_owned(), json!(method));
        message.insert("params".to_owned(), params);
        Value::Object(message)
    }

    /// The headers of a message.
    pub(super) fn headers(&self, message: &Value) -> HeaderMap {
        let mut headers = self.place.own.clone();
        let mut set = |name: &'static str, value: &str| {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        set("content-type", "application/json");
        set("accept", "application/json, text/event-stream");
        if message["method"] != "initialize" {
            set("mcp-protocol-version", self.place.revision.word());
        }
        if let Some(session) = &self.session {
            set("mcp-session-id", session);
        }
        if self.is_modern() {
            set("mcp-method", message["method"].as_str().unwrap_or_default());
            let name = message["params"].get("name").or_else(|| message["params"].get("uri"));
            if let Some(name) = name.and_then(Value::as_str) {
                set("mcp-name", name);
            }
        }
        headers
    }

    pub(super) fn start(&self, method: &str, params: Value) -> LiveRequest {
        let id = json!(self.next.fetch_add(1, Ordering::Relaxed) + 1);
        let message = self.message(method, params, Some(&id));
        self.send(Method::POST, self.headers(&message), message.to_string(), id)
    }

    /// Sends these bytes with these headers.
    pub(super) fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: String,
        id: Value,
    ) -> LiveRequest {
        let exchange: Arc<Mutex<ClientExchange>> = Arc::default();
        let (own, client) = (Arc::clone(&exchange), self.clone());
        let task = tokio::spawn(async move {
            let fault = client.read(method, headers, body, &own).await.err();
            let mut exchange = own.lock().unwrap_or_else(PoisonError::into_inner);
            exchange.fault = fault;
            exchange.is_over = true;
        });
        LiveRequest { id, exchange, task }
    }

    async fn read(
        &self,
        method: Method,
        headers: HeaderMap,
        body: String,
        exchange: &Mutex<ClientExchange>,
    ) -> Result<(), String> {
        let ClientPlace { egress, route, .. } = &self.place;
        let answer = egress.exchange(route, method, headers, Bytes::from(body)).await;
        let mut answer = answer.map_err(|error| error.message().to_owned())?;
        let kind = answer.headers.get("content-type").and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        {
            let mut exchange = exchange.lock().unwrap_or_else(PoisonError::into_inner);
            exchange.status = answer.status.as_u16();
            exchange.headers = answer.headers.clone();
        }
        let mut reader = EventReader::default();
        let mut whole = Vec::new();
        while let Some(chunk) = next(&mut answer).await {
            let chunk = chunk?;
            if is_stream {
                self.hear(reader.take(&chunk)?, exchange);
            } else if whole.len() + chunk.len() > MOST_BYTES {
                return Err("the answer is larger than is read".to_owned());
            } else {
                whole.extend_from_slice(&chunk);
            }
        }
        let text = String::from_utf8_lossy(&whole).into_owned();
        let mut exchange = exchange.lock().unwrap_or_else(PoisonError::into_inner);
        match serde_json::from_str(&text) {
            Ok(message) => exchange.events.push(ClientEvent { id: None, message: Some(message) }),
            Err(_) => exchange.text = text,
        }
        Ok(())
    }

    /// Notes what came, and answers what is asked.
    fn hear(&self, events: Vec<ClientEvent>, exchange: &Mutex<ClientExchange>) {
        for event in events {
            if let Some(message) = &event.message
                && message.get("method").is_some()
                && let Some(id) = message.get("id")
            {
                self.talk().asked.push(message.clone());
                let method = message["method"].as_str().unwrap_or_default();
                let answer = self.talk().answers.get(method).cloned();
                let refusal = json!({ "code": -32601, "message": "nobody answers this" });
                let answer = match answer {
                    Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                    None => json!({ "jsonrpc": "2.0", "id": id, "error": refusal }),
                };
                let client = self.clone();
                tokio::spawn(async move { client.post(&answer).await });
            }
            exchange.lock().unwrap_or_else(PoisonError::into_inner).events.push(event);
        }
    }

    /// Posts a message that has no answer.
    async fn post(&self, message: &Value) -> ClientExchange {
        let sent = self.send(Method::POST, self.headers(message), message.to_string(), Value::Null);
        sent.finish(self.place.patience).await
    }

    pub(super) async fn notify(&self, method: &str, params: Value) -> Result<(), String> {
        let message = self.message(method, params, None);
        let told = self.post(&message).await;
        match (told.status, told.fault) {
            (200..=299, None) => Ok(()),
            (status, fault) => Err(format!("`{method}` is answered HTTP {status} {fault:?}")),
        }
    }

    pub(super) async fn ask(&self, method: &str, params: Value) -> ClientExchange {
        self.start(method, params).finish(self.place.patience).await
    }

    /// Hears what is of no request: the stream of a session, or `subscriptions/listen` for all.
    pub(super) fn listen(&self, last: Option<&str>) -> LiveRequest {
        if self.is_modern() {
            let filter = json!({
                "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
                "resourceSubscriptions": [super::upstream::RESOURCE],
            });
            return self.start("subscriptions/listen", json!({ "notifications": filter }));
        }
        let mut headers = self.headers(&Value::Null);
        headers.remove("content-type");
        headers.insert("accept", HeaderValue::from_static("text/event-stream"));
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert("last-event-id", last);
        }
        self.send(Method::GET, headers, String::new(), Value::Null)
    }
}

async fn next(answer: &mut StreamedResponse) -> Option<Result<Bytes, String>> {
    use futures_util::StreamExt as _;
    let chunk = answer.next().await?;
    Some(chunk.map_err(|error| error.message().to_owned()))
}
