//! The one way to an agent.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::time::timeout;
use toolcrib_core::{CallContext, OutboundSpan};
use toolcrib_egress::{Egress, EgressBody, EgressRequest, EgressTimeouts};
use uuid::Uuid;

use super::fault::AgentFault;
use super::reply::result;
use super::request::{AgentRequest, ChosenInterface, WireRequest};
use super::stream::AgentStream;
use crate::protocol::event::AgentEvent;
use crate::settings::A2aBounds;

const TRACE: HeaderName = HeaderName::from_static("traceparent");
const STATE: HeaderName = HeaderName::from_static("tracestate");

/// An agent at the place that was chosen.
pub(crate) struct AgentClient {
    pub(crate) egress: Egress,
    pub(crate) interface: ChosenInterface,
    /// Sent with every request: the version, and who we are.
    pub(crate) headers: HeaderMap,
    pub(crate) bounds: A2aBounds,
    /// Whether a request carries its place in a trace.
    pub(crate) trace_context: bool,
}

impl AgentClient {
    /// The answer as an event.
    pub(crate) async fn event(
        &self,
        asked: AgentRequest<'_>,
        context: Option<&CallContext>,
        within: Duration,
    ) -> Result<AgentEvent, AgentFault> {
        let answer = self.ask(asked, context, within).await?;
        Ok(AgentEvent::read(&answer, self.interface.form()))
    }

    /// Asks once. `within`: how long all of it may take.
    pub(crate) async fn ask(
        &self,
        asked: AgentRequest<'_>,
        context: Option<&CallContext>,
        within: Duration,
    ) -> Result<Value, AgentFault> {
        let span = context.map(|context| self.span(asked, context));
        let answer = self.exchange(asked, (context, span.as_ref()), within).await;
        end(span, answer.as_ref().err());
        answer
    }

    async fn exchange(
        &self,
        asked: AgentRequest<'_>,
        traced: (Option<&CallContext>, Option<&OutboundSpan>),
        within: Duration,
    ) -> Result<Value, AgentFault> {
        let WireRequest { method, url, body } = self.written(asked);
        let connect = EgressTimeouts::default().connect.min(within);
        let mut request = EgressRequest::new(method, url);
        request.timeouts =
            EgressTimeouts { connect, first_byte: within, idle: within, total: within };
        request.headers = self.headers(traced);
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(body) = body {
            request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            request.body = EgressBody::Bytes(Bytes::from(body.to_string()));
        }
        let response = self.egress.send(request).await.map_err(AgentFault::Egress)?;
        let (status, headers) = (response.status, response.headers.clone());
        let body = match response.bytes(self.bounds.answer).await {
            Ok(body) => body,
            // A refusal is one, however its explanation ends.
            Err(_) if !status.is_success() => Bytes::new(),
            Err(error) => return Err(AgentFault::Egress(error)),
        };
        result(status, &headers, &body)
    }

    /// Opens a stream. `within`: how long its head may take.
    pub(crate) async fn open(
        &self,
        asked: AgentRequest<'_>,
        context: &CallContext,
        within: Duration,
    ) -> Result<AgentStream, AgentFault> {
        let span = Some(self.span(asked, context));
        let opened = self.opened(asked, (Some(context), span.as_ref()), within).await;
        end(span, opened.as_ref().err());
        opened
    }

    async fn opened(
        &self,
        asked: AgentRequest<'_>,
        traced: (Option<&CallContext>, Option<&OutboundSpan>),
        within: Duration,
    ) -> Result<AgentStream, AgentFault> {
        let WireRequest { method, url, body } = self.written(asked);
        let route = self.egress.route(&url).map_err(AgentFault::Egress)?;
        let mut headers = self.headers(traced);
        let accept = HeaderValue::from_static("text/event-stream, application/json");
        headers.insert(ACCEPT, accept);
        let body = body.map(|body| Bytes::from(body.to_string()));
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let exchange = self.egress.exchange(&route, method, headers, body.unwrap_or_default());
        let answered = timeout(within, exchange).await.map_err(|_| AgentFault::Silent(within))?;
        let body = answered.map_err(AgentFault::Egress)?;
        Ok(AgentStream::new(body, self.interface.form(), (self.bounds.answer, self.bounds.stream)))
    }

    fn written(&self, asked: AgentRequest<'_>) -> WireRequest {
        asked.written(&self.interface, &Uuid::new_v4().to_string())
    }

    /// What goes with a request: with its place in a trace, where that is said.
    fn headers(&self, (context, span): (Option<&CallContext>, Option<&OutboundSpan>)) -> HeaderMap {
        let mut headers = self.headers.clone();
        let place = span.filter(|_| self.trace_context).and_then(OutboundSpan::trace);
        let place = place.and_then(|place| HeaderValue::from_str(&place.to_string()).ok());
        let Some(place) = place else { return headers };
        headers.insert(TRACE, place);
        let state = context.and_then(CallContext::trace_state);
        if let Some(state) = state.and_then(|it| HeaderValue::from_str(it.as_str()).ok()) {
            headers.insert(STATE, state);
        }
        headers
    }

    fn span(&self, asked: AgentRequest<'_>, context: &CallContext) -> OutboundSpan {
        let (name, url) = (asked.name(self.interface.version), &self.interface.url);
        let mut span = context.outbound_span(|| name.to_owned());
        span.notes(|| {
            let host = url.host_str().map(|host| host.trim_matches(['[', ']']));
            let host = host.map(|host| ("server.address", host.into()));
            let port = url.port_or_known_default().map(|port| ("server.port", port.into()));
            [("rpc.method", name.into())].into_iter().chain(host).chain(port)
        });
        span
    }
}

fn end(span: Option<OutboundSpan>, fault: Option<&AgentFault>) {
    if let Some(span) = span {
        span.ends(|| fault.map(|fault| fault.word().into()));
    }
}
