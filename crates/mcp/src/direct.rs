//! Requests that go to a server around the SDK.
//!
//! The SDK keeps a task for each connection and one for its transport, and a request passes both
//! on its way out and back. What needs none of that is sent from where it is made: anything over
//! pipes, and calls of 2026-07-28 over HTTP, where no request has to do with another. Its answer
//! is kept in its slot, of which the SDK hears nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use ::http::{HeaderName, HeaderValue};
use futures_util::StreamExt as _;
use futures_util::poll;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomRequest, ProtocolVersion, RequestId,
    RequestMetaObject,
};
use rmcp::transport::streamable_http_client::StreamableHttpPostResponse;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::calls::{Calls, End, Slot};
use crate::capabilities::{capabilities, ourselves};
use crate::facts::Facts;
use crate::fault::Fault;
use crate::http::{Wire, fault};
use crate::pipes::{Writer, write};

/// The SDK counts from zero, and never comes as far.
const FIRST: i64 = 1_000_000_000;
/// What a name begins with that is not in the header as it is.
const ENCODED: &str = "=?base64?";

/// The way of one connection.
pub(crate) struct Direct {
    line: Line,
    /// What each request says of our side, where the revision wants that.
    said: Map<String, Value>,
    ids: AtomicI64,
}

pub(crate) enum Line {
    Http { wire: Wire, url: Arc<str> },
    Pipe { writer: Writer, calls: Arc<Calls> },
}

impl Direct {
    /// `None`: this server's requests go through the SDK.
    pub(crate) fn of(line: Line, facts: &Facts) -> Option<Self> {
        let is_latest = facts.revision == ProtocolVersion::V_2026_07_28.as_str();
        if matches!(line, Line::Http { .. }) && !is_latest {
            return None;
        }
        let mut said = RequestMetaObject::new();
        if facts.is_modern {
            said.set_protocol_version(ProtocolVersion::V_2026_07_28);
            said.set_client_info(ourselves(&[]).client_info);
            said.set_client_capabilities(capabilities(&[]));
        }
        let said = said.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        Some(Self { line, said, ids: AtomicI64::new(FIRST) })
    }

    /// Whether this way is open to a request.
    pub(crate) fn takes(&self, method: &str, params: &Map<String, Value>) -> bool {
        match self.line {
            Line::Pipe { .. } => true,
            Line::Http { .. } => method == "tools/call" && name(params).is_some(),
        }
    }

    /// A request, under an id that is its progress token as well. `meta`: what it says of itself.
    pub(crate) fn message(
        &self,
        method: &'static str,
        mut params: Map<String, Value>,
        meta: Option<&RequestMetaObject>,
        slot: &Arc<Slot>,
    ) -> (RequestId, ClientJsonRpcMessage) {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let id = RequestId::Number(number);
        let mut said = self.said.clone();
        for (key, value) in meta.into_iter().flat_map(|meta| meta.iter()) {
            said.insert(key.clone(), value.clone());
        }
        said.insert("progressToken".to_owned(), Value::from(number));
        // Here and not where the SDK keeps it, which would copy all parameters to put it there.
        params.insert("_meta".to_owned(), Value::Object(said));
        let mut request = CustomRequest::new(method, Some(Value::Object(params)));
        request.extensions.insert(Arc::clone(slot));
        let request = ClientRequest::CustomRequest(request);
        (id.clone(), ClientJsonRpcMessage::request(request, id))
    }

    /// Sends a request and waits for its end. Dropping it loses the answer and breaks nothing.
    pub(crate) async fn exchange(
        &self,
        message: ClientJsonRpcMessage,
        slot: &Slot,
        mut end: oneshot::Receiver<End>,
    ) -> Result<Map<String, Value>, Fault> {
        let end = match &self.line {
            Line::Http { wire, url } => {
                post(wire, url, message, slot).await?;
                end.try_recv().ok()
            }
            Line::Pipe { writer, calls } => {
                let mut writing = Box::pin(write(Arc::clone(writer), Arc::clone(calls), message));
                // Half a line would spoil all that comes after it: what does not go out at once
                // goes on by itself, whoever waits for it.
                let written = match poll!(&mut writing) {
                    std::task::Poll::Ready(written) => written,
                    std::task::Poll::Pending => {
                        let written = tokio::spawn(writing).await;
                        written.unwrap_or_else(|error| Err(std::io::Error::other(error)))
                    }
                };
                let gone = |error| {
                    let why = "it does not take what is written";
                    let sent = slot.was_sent();
                    let fault = if sent { Fault::broken(why) } else { Fault::unreachable(why) };
                    fault.because(error)
                };
                written.map_err(gone)?;
                end.await.ok()
            }
        };
        match end {
            Some(End::Result(result)) => Ok(result),
            Some(End::Refused(error)) => {
                let (message, data) = (error.message.into_owned(), error.data);
                Err(Fault::Refused { code: error.code.0, message, data })
            }
            Some(End::Odd(why)) => Err(Fault::Unreadable(why)),
            None => Err(Fault::broken("the server closed it")),
        }
    }
}

/// Posts a request and reads its answer to the end.
async fn post(
    wire: &Wire,
    url: &str,
    message: ClientJsonRpcMessage,
    slot: &Slot,
) -> Result<(), Fault> {
    let mut headers = HashMap::new();
    if let ClientJsonRpcMessage::Request(request) = &message
        && let ClientRequest::CustomRequest(request) = &request.request
    {
        let params = request.params.as_ref().and_then(Value::as_object);
        let name = params.and_then(name).and_then(|name| HeaderValue::from_str(name).ok());
        let method = HeaderValue::from_str(&request.method).ok();
        let revision = HeaderValue::from_static(ProtocolVersion::V_2026_07_28.as_str());
        headers.insert(HeaderName::from_static("mcp-protocol-version"), revision);
        let told = [("mcp-method", method), ("mcp-name", name)].into_iter();
        headers.extend(told.filter_map(|(of, is)| Some((HeaderName::from_static(of), is?))));
    }
    let posted = wire.post(url, message, None, headers).await;
    let posted = posted.map_err(|error| fault::of_http(error, slot.was_sent()))?;
    if let StreamableHttpPostResponse::Sse(mut events, _) = posted {
        while !slot.has_ended() {
            match events.next().await {
                // What it says of others was heard on the way.
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(Fault::broken("the line broke").because(error)),
                None => break,
            }
        }
    }
    Ok(())
}

/// The name that a header repeats, if the header can hold it as it is.
fn name(params: &Map<String, Value>) -> Option<&str> {
    let name = params.get("name")?.as_str()?;
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    (is_plain && !name.starts_with(ENCODED)).then_some(name)
}
