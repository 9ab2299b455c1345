//! Requests that go to a server around the SDK.
//!
//! The SDK keeps a task for each connection and one for its transport, and a request passes both
//! on its way out and back. What needs none of that is sent from where it is made: anything over
//! pipes, and calls of 2026-07-28 over HTTP, where no request has to do with another. Its answer
//! is kept in its slot, of which the SDK hears nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use ::http::{HeaderName, HeaderValue};
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, poll};
use rmcp::model::{ProtocolVersion, RequestId};
use rmcp::transport::streamable_http_client::StreamableHttpPostResponse;
use tokio::sync::oneshot;
use tokio::task::JoinError;
use tokio::time::timeout;
use toolcrib_core::{CallContext, Trace};

use super::capabilities::{capabilities, ourselves};
use super::server_info::McpServerInfo;
use crate::client::call::params::RequestParams;
use crate::client::call::reply::ServerReply;
use crate::client::fault::McpFault;
use crate::client::http::fault;
use crate::client::http::transport::{HttpTransport, SseEventStream};
use crate::client::inflight::{InFlight, UpstreamRequest, UpstreamRequestEnd};
use crate::client::stdio::{SharedStdin, StdioWriteError, free, write};
use crate::protocol::json::object_writer::ObjectWriter;

/// The SDK counts from zero, and never comes as far.
const FIRST: i64 = 1_000_000_000;
/// For the end of a stream of events, so many are read after the last that is of any use, and for
/// so long.
const MOST_AFTER: usize = 16;
const LONGEST_AFTER: Duration = Duration::from_secs(1);
/// What a name begins with that is not in the header as it is.
const ENCODED: &str = "=?base64?";
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// What a request of 2026-07-28 says of itself in `_meta`.
mod said {
    pub(crate) const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
    pub(crate) const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
    pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
}

/// The way of one connection.
pub(crate) struct DirectChannel {
    line: DirectTransport,
    /// What each request says of our side, where the revision wants that: fields as JSON. What can
    /// be answered is another matter for each.
    said: Vec<u8>,
    is_modern: bool,
    ids: AtomicI64,
}

pub(crate) enum DirectTransport {
    Http { wire: HttpTransport, url: Arc<str> },
    Pipe { writer: SharedStdin, calls: Arc<InFlight> },
}

impl DirectChannel {
    /// `None`: this server's requests go through the SDK.
    pub(crate) fn of(line: DirectTransport, facts: &McpServerInfo) -> Option<Self> {
        let is_latest = facts.revision == ProtocolVersion::V_2026_07_28.as_str();
        if matches!(line, DirectTransport::Http { .. }) && !is_latest {
            return None;
        }
        let mut said = ObjectWriter::new();
        if facts.is_modern {
            said.field(said::REVISION, ProtocolVersion::V_2026_07_28.as_str());
            said.field(said::CLIENT, &ourselves(&[]).client_info);
        }
        let (is_modern, ids) = (facts.is_modern, AtomicI64::new(FIRST));
        Some(Self { line, said: said.fields(), is_modern, ids })
    }

    /// Whether this way is open to a request.
    pub(crate) fn takes(&self, method: &str, params: &RequestParams) -> bool {
        match self.line {
            DirectTransport::Pipe { .. } => true,
            DirectTransport::Http { .. } => method == "tools/call" && name(params).is_some(),
        }
    }

    /// A request as it goes out, under an id that is its progress token as well.
    pub(crate) fn text(
        &self,
        (method, params): (&str, &RequestParams),
        context: Option<&CallContext>,
        trace: Option<Trace>,
    ) -> (RequestId, Vec<u8>) {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let mut message = ObjectWriter::new();
        message.text("jsonrpc", b"\"2.0\"");
        message.field("id", &number);
        message.field("method", method);
        message.object("params", |asked| {
            params.write(asked);
            asked.object("_meta", |said| self.say(said, context, trace, number));
        });
        (RequestId::Number(number), message.end())
    }

    /// What a request says of itself.
    fn say(
        &self,
        said: &mut ObjectWriter,
        context: Option<&CallContext>,
        trace: Option<Trace>,
        number: i64,
    ) {
        said.all(&self.said);
        if self.is_modern {
            match context.map(CallContext::answers).unwrap_or_default() {
                [] => said.text(said::CAPABILITIES, b"{}"),
                answers => said.field(said::CAPABILITIES, &capabilities(answers)),
            }
            if let Some(level) = context.and_then(CallContext::hears) {
                said.field(said::LOG_LEVEL, &level);
            }
        }
        if let Some(trace) = trace {
            said.field("traceparent", &trace.to_string());
            if let Some(state) = context.and_then(CallContext::trace_state) {
                said.field("tracestate", &state.as_str());
            }
        }
        said.field("progressToken", &number);
    }

    /// Sends a request and waits for its end. Dropping it loses the answer and breaks nothing.
    pub(crate) async fn exchange(
        &self,
        asked: (&str, &RequestParams),
        (id, text): (RequestId, Vec<u8>),
        slot: &Arc<UpstreamRequest>,
        mut end: oneshot::Receiver<UpstreamRequestEnd>,
    ) -> Result<ServerReply, McpFault> {
        let end = match &self.line {
            DirectTransport::Http { wire, url } => {
                post(wire, url, asked, (id, text), slot).await?;
                end.try_recv().ok()
            }
            DirectTransport::Pipe { writer, calls } => {
                let gone = |StdioWriteError { began, error }| {
                    let why = "it does not take what is written";
                    let fault =
                        if began { McpFault::broken(why) } else { McpFault::unreachable(why) };
                    fault.because(error)
                };
                // Who gives up while others write leaves nothing behind.
                let way = free(writer).await;
                let way = way.map_err(|error| gone(StdioWriteError { began: false, error }))?;
                calls.sends(id, slot);
                let own = Arc::clone(calls);
                let mut writing = Box::pin(async move { write(way, text, &own).await });
                // Half a line would spoil all that comes after it: what does not go out at once
                // goes on by itself, whoever waits for it.
                let written = match poll!(&mut writing) {
                    std::task::Poll::Ready(written) => written,
                    std::task::Poll::Pending => {
                        let written = tokio::spawn(writing).await;
                        let broke = |error| StdioWriteError {
                            began: true,
                            error: std::io::Error::other::<JoinError>(error),
                        };
                        written.unwrap_or_else(|error| Err(broke(error)))
                    }
                };
                written.map_err(gone)?;
                end.await.ok()
            }
        };
        match end {
            Some(UpstreamRequestEnd::Result(result)) => Ok(result),
            Some(UpstreamRequestEnd::Refused(error)) => {
                let (message, data) = (error.message.into_owned(), error.data);
                Err(McpFault::Refused { code: error.code.0, message, data })
            }
            Some(UpstreamRequestEnd::Odd(why)) => Err(McpFault::Unreadable(why)),
            None => Err(McpFault::broken("the server closed it")),
        }
    }
}

/// Posts a request and reads its answer to the end.
async fn post(
    wire: &HttpTransport,
    url: &str,
    (method, params): (&str, &RequestParams),
    (id, text): (RequestId, Vec<u8>),
    slot: &Arc<UpstreamRequest>,
) -> Result<(), McpFault> {
    let mut headers = wire.own_headers();
    let revision = ProtocolVersion::V_2026_07_28.as_str();
    headers.insert(REVISION, HeaderValue::from_static(revision));
    if let Ok(method) = HeaderValue::from_str(method) {
        headers.insert(METHOD, method);
    }
    if let Some(name) = name(params).and_then(|name| HeaderValue::from_str(name).ok()) {
        headers.insert(NAME, name);
    }
    if let (Some(tool), Some(arguments)) = (params.name(), params.arguments()) {
        wire.mirror(tool, arguments, &mut headers);
    }
    let posted = wire.request(url, headers, (id, Bytes::from(text)), slot).await;
    let posted = posted.map_err(|error| fault::of_http(error, slot.was_sent()))?;
    let mut missing = McpFault::Unreadable("it holds no answer to the request");
    if let StreamableHttpPostResponse::Sse(mut events, _) = posted {
        missing = McpFault::broken("its stream of events ended before the answer");
        while !slot.has_ended() {
            match events.next().await {
                // What it says of others was heard on the way.
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(McpFault::broken("the line broke").because(error)),
                None => break,
            }
        }
        read_on(events);
    }
    if slot.has_ended() { Ok(()) } else { Err(missing) }
}

/// A connection is used again once its answer was read to the end, which comes right after the last
/// event, and often later than that. Nobody waits for it.
fn read_on(mut events: SseEventStream) {
    let mut rest = Box::pin(async move {
        for _ in 0..MOST_AFTER {
            if !matches!(events.next().await, Some(Ok(_))) {
                return;
            }
        }
    });
    if (&mut rest).now_or_never().is_none() {
        tokio::spawn(timeout(LONGEST_AFTER, rest));
    }
}

/// The name that a header repeats, if the header can hold it as it is.
fn name(params: &RequestParams) -> Option<&str> {
    let name = params.name()?;
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    (is_plain && !name.starts_with(ENCODED)).then_some(name)
}
