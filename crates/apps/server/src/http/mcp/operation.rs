//! What a client asks for at the door of the Model Context Protocol as one operation, by the
//! conventions of OpenTelemetry: a span within that of the client, and a figure.
//!
//! What they have and is not told here: `mcp.resource.uri`, which may hold arguments. Of
//! `mcp.session.id` a digest is told, since the id itself opens the session to its caller.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use http::{HeaderMap, Method};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use toolcrib_config::LiveConfig;
use toolcrib_core::{Trace, TraceState};

use crate::http::routes::request::GatewayRequest;
use crate::http::state::GatewayState;
use crate::telemetry::recent_calls::cut;
use crate::telemetry::{
    ClientTransport, OperationErrorType, OperationLabels, OperationTrace, OtlpSpan,
};

/// Of the protocol in all revisions; what listens for ever is none that takes its time.
const METHODS: [&str; 19] = [
    "tools/call",
    "tools/list",
    "prompts/get",
    "prompts/list",
    "resources/read",
    "resources/list",
    "resources/templates/list",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
    "logging/setLevel",
    "initialize",
    "ping",
    "server/discover",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "notifications/initialized",
    "notifications/cancelled",
];
const LISTENS: &str = "subscriptions/listen";
/// A method that is none of the protocol.
const OTHER: &str = "_OTHER";
pub(super) const REVISIONS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// An operation under way. It is over when it is dropped.
pub(super) struct ActiveOperation {
    gateway: Arc<GatewayState>,
    began: Instant,
    served: OperationLabels,
    /// Where a trace of it is recorded.
    told: Option<Box<OperationTrace>>,
    pub(super) answered: bool,
    /// Of an answer that says that it is none.
    pub(super) status: Option<u16>,
}

/// A message, as far as it is looked at. What is wrong with one is for the door to say.
#[derive(Deserialize)]
struct OperationMessage<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<OperationParams<'a>>,
}

#[derive(Default, Deserialize)]
struct OperationParams<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<OperationMeta<'a>>,
}

#[derive(Default, Deserialize)]
struct OperationMeta<'a> {
    #[serde(borrow)]
    traceparent: Option<&'a RawValue>,
    #[serde(borrow)]
    tracestate: Option<&'a RawValue>,
}

impl ActiveOperation {
    /// What a request begins; `None`: it asks for nothing that ends, or nobody can read it.
    pub(super) fn begin(asked: &GatewayRequest) -> Option<Self> {
        if asked.method != Method::POST {
            return None;
        }
        let gateway = Arc::clone(&asked.gateway);
        let ((method, name), told) = read(asked)?;
        if method == LISTENS {
            return None;
        }
        let revision = sent(asked, "mcp-protocol-version");
        let asked = (&*method, name.as_deref(), revision);
        let served = served(&gateway.live, asked, ClientTransport::Http);
        let told = told.map(Box::new);
        Some(Self { gateway, began: Instant::now(), served, told, answered: false, status: None })
    }

    /// The place of what is done for it.
    pub(super) fn place(&self) -> Option<(Trace, Option<TraceState>)> {
        self.told.as_ref().map(|told| (told.trace, told.state.clone()))
    }

    pub(super) fn fails(&mut self, failure: OperationErrorType) {
        self.served.failure.get_or_insert(failure);
    }
}

impl Drop for ActiveOperation {
    fn drop(&mut self) {
        if let Some(status) = self.status {
            self.fails(OperationErrorType::Status(status));
        } else if !self.answered {
            self.fails(OperationErrorType::Cancelled);
        }
        let (took, telemetry) = (self.began.elapsed(), &self.gateway.telemetry);
        if let (Some(spans), Some(told)) = (&telemetry.spans, self.told.take()) {
            spans.add(|| OtlpSpan::of_operation(&self.served, &told, took));
        }
        telemetry.figures.operations.served(self.served.clone(), took);
    }
}

fn sent<'a>(asked: &'a GatewayRequest, header: &str) -> Option<&'a str> {
    asked.headers.get(header)?.to_str().ok()
}

/// A method and the name of what it is about.
type MethodAndName<'a> = (Cow<'a, str>, Option<Cow<'a, str>>);

/// What is asked for, and what a span says besides.
fn read(asked: &GatewayRequest) -> Option<(MethodAndName<'_>, Option<OperationTrace>)> {
    let traces = asked.gateway.telemetry.spans.is_some();
    // Without traces the headers say enough, and the body is not read once more.
    if let (Some(method), false) = (sent(asked, "mcp-method"), traces) {
        return Some(((method.into(), sent(asked, "mcp-name").map(Into::into)), None));
    }
    let message: OperationMessage<'_> = serde_json::from_slice(&asked.body).ok()?;
    let method = text(message.method?)?;
    let params = message.params.unwrap_or_default();
    let name = params.name.and_then(text);
    let meta = params.meta.unwrap_or_default();
    let place = meta.traceparent.and_then(text).and_then(|said| Trace::parse(&said));
    let state = match place {
        Some(_) => meta.tracestate.and_then(text).and_then(|own| TraceState::parse(&own)),
        None => asked.trace_state.clone(),
    };
    let told = traces.then(|| OperationTrace {
        id: message.id.map(|id| cut(&text(id).unwrap_or(id.get().into()))),
        name: name.as_deref().map(cut),
        session: session(&asked.headers),
        state,
        ..OperationTrace::at(asked.trace, place)
    });
    Some(((method, name), told))
}

/// In words of which there are few. A tool is one that some caller may have: what is no tool's is
/// anybody's.
pub(super) fn served(
    live: &LiveConfig,
    (method, name, revision): (&str, Option<&str>, Option<&str>),
    over: ClientTransport,
) -> OperationLabels {
    let method = METHODS.into_iter().find(|known| *known == method).unwrap_or(OTHER);
    let called = name.filter(|_| method == "tools/call");
    let tool = called.and_then(|name| Some(live.crib().catalog().get(name)?.spec.name.clone()));
    let revision = REVISIONS.into_iter().find(|known| Some(*known) == revision);
    OperationLabels { method, tool, revision, over, failure: None }
}

fn session(headers: &HeaderMap) -> Option<String> {
    let id = headers.get("mcp-session-id")?;
    let digest: [u8; 32] = Sha256::digest(id.as_bytes()).into();
    Some(format!("{:016x}", u64::from_be_bytes(*digest.first_chunk()?)))
}

/// What a JSON text says; `None`: it is none.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') { serde_json::from_str(raw.get()).ok() } else { Some(inner.into()) }
}
