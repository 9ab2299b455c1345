//! The short way: a `tools/call` of 2026-07-28 that wants its result and nothing before it, and a
//! `tools/list`, are answered without the SDK, whose tasks and channels cost more than the call,
//! and whose types cost more than the list.
//!
//! Only what is plain in every respect comes here. Whatever is not (a wish for progress, a header
//! that is missing, a field that is unknown) goes the SDK's way, which answers or refuses it, so
//! that nothing is let in here that is refused there.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use rmcp::model::{
    ClientCapabilities, CreateTaskResult, ErrorCode, ErrorData, ProtocolVersion, RequestId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::calling::{self, Marks};
use super::client::Client;
use super::desk::{Entrance, Room};
use super::line::Line;
use super::listing;
use super::once;
use super::outgoing::Answer;
use super::written::Written;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// What the headers of arguments begin with.
const ARGUMENT: &str = "mcp-param-";
/// What a name begins with that no header can hold as it is.
const ENCODED: &str = "=?base64?";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// A request that is plain in every respect.
pub(super) struct Plain {
    id: RequestId,
    wanted: Wanted,
    meta: Map<String, Value>,
    capabilities: Value,
}

enum Wanted {
    /// A call of this tool.
    Call(String, Option<Value>),
    /// The tools, from the cursor on.
    Tools(Option<String>),
}

impl Wanted {
    fn of(method: &str, params: &mut Map<String, Value>) -> Option<Self> {
        match method {
            "tools/call" => {
                let Some(Value::String(tool)) = params.remove("name") else { return None };
                match params.remove("arguments") {
                    None | Some(Value::Null) => Some(Self::Call(tool, None)),
                    Some(object @ Value::Object(_)) => Some(Self::Call(tool, Some(object))),
                    Some(_) => None,
                }
            }
            "tools/list" => match params.remove("cursor") {
                None | Some(Value::Null) => Some(Self::Tools(None)),
                Some(Value::String(cursor)) => Some(Self::Tools(Some(cursor))),
                Some(_) => None,
            },
            _ => None,
        }
    }

    /// What the headers have to say.
    fn names(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Call(tool, _) => ("tools/call", Some(tool)),
            Self::Tools(_) => ("tools/list", None),
        }
    }
}

impl Plain {
    /// `None`: there is something about it that the SDK has to look at. `hosts`: those that a
    /// request may be addressed to.
    pub(super) fn of(hosts: &Hosts, headers: &HeaderMap, message: Value) -> Option<Self> {
        let Value::Object(mut message) = message else { return None };
        let (Some(id), Some(Value::Object(mut params))) =
            (message.remove("id"), message.remove("params"))
        else {
            return None;
        };
        // Beside them stand the version and the method, and nothing else.
        let is_whole =
            message.get("jsonrpc").is_some_and(|version| version == "2.0") && message.len() == 2;
        let id = RequestId::deserialize(id).ok()?;
        let Some(Value::Object(meta)) = params.remove("_meta") else { return None };
        let wanted = Wanted::of(message.get("method")?.as_str()?, &mut params)?;
        let is_plain = is_whole && params.is_empty() && are_plain(headers, wanted.names());
        (is_plain && hosts.admit(headers)).then_some(())?;
        let capabilities = capabilities(&meta)?;
        Some(Self { id, wanted, meta, capabilities })
    }

    pub(super) async fn answer(self, room: &Arc<Room>, entrance: Entrance) -> Response {
        let Self { id, wanted, meta, capabilities } = self;
        let client = Client::modern(&capabilities);
        let (tool, arguments) = match wanted {
            Wanted::Call(tool, arguments) => (tool, arguments),
            Wanted::Tools(cursor) => {
                return match listing::tools_as_json(room, &entrance, &client, cursor.as_deref()) {
                    Ok(list) => {
                        let mut message = Written::new();
                        message.field("jsonrpc", "2.0");
                        message.field("id", &id);
                        message.text("result", &list);
                        plainly(StatusCode::OK, Body::from(message.end()))
                    }
                    Err(error) => replied(id, Err(error)),
                };
            }
        };
        let line = Line {
            id: id.clone(),
            context: None,
            client,
            level: None,
            patience: room.settings.patience,
        };
        let trace = meta.get("traceparent").and_then(Value::as_str);
        let marks = Marks { trace, key: meta.get(once::KEY) };
        let asked = (tool, arguments, None);
        // On the heap: what holds this future is moved about before it is first polled.
        let answered = Box::pin(calling::answer(room, entrance, line, marks, asked)).await;
        replied(id, answered.map(|(_, answer)| answer))
    }
}

fn replied(id: RequestId, answered: Result<Answer, ErrorData>) -> Response {
    let (status, message) = match answered {
        Ok(Answer::Result(result) | Answer::Asks(result)) => {
            (StatusCode::OK, Message { jsonrpc: "2.0", id, end: End::Result(result) })
        }
        Ok(Answer::Task(task)) => {
            (StatusCode::OK, Message { jsonrpc: "2.0", id, end: End::Task(task) })
        }
        Err(error) => (status(&error), Message { jsonrpc: "2.0", id, end: End::Error(error) }),
    };
    let Ok(body) = serde_json::to_vec(&message) else {
        return plainly(StatusCode::INTERNAL_SERVER_ERROR, Body::empty());
    };
    plainly(status, Body::from(body))
}

fn plainly(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

#[derive(Serialize)]
struct Message {
    jsonrpc: &'static str,
    id: RequestId,
    #[serde(flatten)]
    end: End,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum End {
    Result(Value),
    #[serde(rename = "result")]
    Task(CreateTaskResult),
    Error(ErrorData),
}

/// The status that the revision gives an error, whose request was well formed.
fn status(error: &ErrorData) -> StatusCode {
    match error.code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}

/// What the client can, if the request says all it must and wants to hear nothing on the way.
fn capabilities(meta: &Map<String, Value>) -> Option<Value> {
    let text = |key: &str| meta.get(key).and_then(Value::as_str);
    let wants_more = ["progressToken", "io.modelcontextprotocol/logLevel"];
    let is_plain = text("io.modelcontextprotocol/protocolVersion")
        == Some(ProtocolVersion::V_2026_07_28.as_str())
        && !wants_more.into_iter().any(|key| meta.contains_key(key));
    let said = meta.get("io.modelcontextprotocol/clientCapabilities").filter(|_| is_plain)?;
    let said = ClientCapabilities::deserialize(said).ok()?;
    // What is an extension, the SDK's way knows.
    said.extensions.is_none().then(|| serde_json::to_value(said).unwrap_or_default())
}

/// Whether the headers say what the body says, each once, and nothing that has to be looked at.
fn are_plain(headers: &HeaderMap, (method, name): (&str, Option<&str>)) -> bool {
    let once = |name: &HeaderName| {
        let mut values = headers.get_all(name).iter();
        let first = values.next()?;
        values.next().is_none().then(|| first.to_str().ok()).flatten()
    };
    let accepts = |kind: &str| {
        let mut accepted = once(&ACCEPT).into_iter().flat_map(|accepted| accepted.split(','));
        accepted.any(|accepted| accepted.trim().eq_ignore_ascii_case(kind))
    };
    let is_json = once(&CONTENT_TYPE).is_some_and(|kind| {
        let (essence, _) = kind.split_once(';').unwrap_or((kind, ""));
        essence.trim().eq_ignore_ascii_case(JSON)
    });
    once(&VERSION) == Some(ProtocolVersion::V_2026_07_28.as_str())
        && once(&METHOD) == Some(method)
        && once(&NAME) == name
        && headers.contains_key(&NAME) == name.is_some()
        && !name.is_some_and(|name| name.starts_with(ENCODED))
        && is_json
        && accepts(JSON)
        && accepts(EVENTS)
        && !headers.contains_key(ORIGIN)
        && !headers.keys().any(|name| name.as_str().starts_with(ARGUMENT))
}

/// Names that a request may be addressed to, each with a port or for all ports.
pub(super) struct Hosts(Vec<(String, Option<u16>)>);

impl Hosts {
    pub(super) fn new(names: &[String]) -> Self {
        let read = |name: &String| match name.trim().parse::<Authority>() {
            Ok(authority) => (bare(authority.host()), authority.port_u16()),
            Err(_) => (bare(name.trim()), None),
        };
        Self(names.iter().map(read).collect())
    }

    fn admit(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
        let Some(host) = host else { return false };
        let (name, port) = (bare(host.host()), host.port_u16());
        self.0.iter().any(|(known, at)| *known == name && (at.is_none() || *at == port))
    }
}

fn bare(host: &str) -> String {
    host.trim_matches(['[', ']']).to_ascii_lowercase()
}
