//! The first way over HTTP (revision 2024-11-05): one stream of events for all that the server
//! says, which begins with the address that takes what we say.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::stream::StreamExt as _;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use toolcrib_egress::StreamedResponse;
use url::Url;

use super::exchange::HttpExchangeError;
use super::sse::{SseEvent, SseParser};
use super::transport::HttpTransport;
use crate::protocol::frame::{self, MessageOutline};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// A connection in the first way.
pub(crate) struct LegacySseTransport {
    wire: HttpTransport,
    /// Where what we say goes.
    post: Url,
    stream: LegacySseStream,
}

struct LegacySseStream {
    body: StreamedResponse,
    lines: SseParser,
    ready: VecDeque<Result<SseEvent, MessageOutline>>,
}

impl LegacySseStream {
    /// `Err`: one that is too long, and what can be told of it.
    async fn next(&mut self) -> Option<Result<SseEvent, MessageOutline>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let chunk = self.body.next().await?.ok()?;
            let mut rest = &*chunk;
            while let Some(event) = self.lines.next(&mut rest).transpose() {
                self.ready.push_back(event.map_err(|_| self.lines.outline()));
            }
        }
    }
}

impl LegacySseTransport {
    /// Opens the stream and waits for the address.
    pub(super) async fn connect(wire: HttpTransport, url: &Url) -> Result<Self, HttpExchangeError> {
        let mut headers = wire.headers.clone();
        headers.insert(ACCEPT, EVENTS);
        let answer =
            wire.exchanger.exchange(Method::GET, url.as_str(), headers, Bytes::new()).await?;
        if !answer.status.is_success() {
            return Err(answer.failure());
        }
        if !answer.is("text/event-stream") {
            return Err(HttpExchangeError::Unreadable("it has no stream of events"));
        }
        let mut stream = LegacySseStream {
            body: answer.body,
            lines: SseParser::new(wire.calls.bounds.message),
            ready: VecDeque::new(),
        };
        while let Some(event) = stream.next().await {
            if let Ok(event) = event
                && event.kind == "endpoint"
            {
                let post = address(url, event.data.trim())?;
                return Ok(Self { wire, post, stream });
            }
        }
        Err(HttpExchangeError::Unreadable("its stream of events names no address"))
    }
}

/// The address that a server names must be one of its own: our token goes there.
fn address(url: &Url, named: &str) -> Result<Url, HttpExchangeError> {
    let joined = url.join(named).ok().filter(|joined| joined.origin() == url.origin());
    joined.ok_or(HttpExchangeError::Unreadable("the address that it names is none of its own"))
}

impl Transport<RoleClient> for LegacySseTransport {
    type Error = HttpExchangeError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), HttpExchangeError>> + Send + 'static {
        let (wire, post) = (self.wire.clone(), self.post.clone());
        async move {
            let body = serde_json::to_vec(&message)
                .map_err(|_| HttpExchangeError::Unreadable("a message of ours is no JSON"))?;
            wire.calls.sending(&message);
            let mut headers: HeaderMap = wire.headers.clone();
            headers.insert(CONTENT_TYPE, JSON);
            let answer =
                wire.exchanger.exchange(Method::POST, post.as_str(), headers, body.into()).await?;
            if answer.status.is_success() { Ok(()) } else { Err(answer.failure()) }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let Some(event) = self.stream.next().await else {
                self.wire.calls.closed.cancel();
                return None;
            };
            let calls = &self.wire.calls;
            let heard = match event {
                Err(outline) => calls.spoiled(frame::TOO_LARGE, &outline, None),
                Ok(event) => match calls.read(event.data.as_bytes()) {
                    Ok(message) => calls.hear(message, None),
                    Err(unreadable) => {
                        let outline = MessageOutline::of(event.data.as_bytes());
                        calls.spoiled(unreadable.words(), &outline, None)
                    }
                },
            };
            if heard.is_some() {
                return heard;
            }
        }
    }

    async fn close(&mut self) -> Result<(), HttpExchangeError> {
        self.wire.calls.closed.cancel();
        Ok(())
    }
}
