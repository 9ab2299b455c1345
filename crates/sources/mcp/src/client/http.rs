//! A connection over HTTP: the SDK's worker keeps sessions and streams, and every request goes
//! through the guard of `egress`.

mod exchange;
pub(crate) mod fault;
mod legacy_sse;
mod sse;
pub(crate) mod token_provider;
pub(crate) mod transport;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use indexmap::IndexMap;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use toolcrib_core::{CallContext, Caller, Secret};
use toolcrib_egress::Egress;

use super::fault::McpFault;
use super::inflight::InFlight;
use super::settings::{HttpAuthorization, HttpSettings};
use crate::protocol::mirrored_headers::{MirroredArgument, MirroredArguments};
use exchange::{HttpEndpoint, HttpExchanger};
use legacy_sse::LegacySseTransport;
use token_provider::{TokenProvider, TokenProviders};
use transport::HttpTransport;

/// Requests that may wait for their answers on one connection; the gate bounds them before.
const MOST_REQUESTS: usize = 1_024;
/// Longest pause before a stream is opened again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The way to one server.
pub(crate) struct HttpConnector {
    egress: Egress,
    home: Arc<HttpEndpoint>,
    headers: HeaderMap,
    bearer: Option<Secret>,
    authorizers: Option<Arc<dyn TokenProviders>>,
    /// What a call repeats of its arguments in headers, by tool; learned from the last list.
    mirrored: Arc<Mutex<IndexMap<String, Vec<MirroredArgument>>>>,
}

impl HttpConnector {
    /// Fails with a text for the operator.
    pub(crate) fn new(settings: &HttpSettings) -> Result<Self, String> {
        let egress = Egress::only([settings.url.clone()], settings.network.clone());
        let egress = egress.map_err(|error| error.to_string())?;
        let route = egress.route(&settings.url).map_err(|error| error.to_string())?;
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.headers {
            let (name, value) = header(name, value)?;
            headers.insert(name, value);
        }
        let bearer = match &settings.authorization {
            HttpAuthorization::Bearer(token) => Some(token.clone()),
            HttpAuthorization::None | HttpAuthorization::OAuth(_) => None,
        };
        let authorizers = match &settings.authorization {
            HttpAuthorization::OAuth(_) => {
                super::oauth::authorizers(settings).map_err(|error| error.to_string())?
            }
            HttpAuthorization::None | HttpAuthorization::Bearer(_) => None,
        };
        let home = Arc::new(HttpEndpoint { url: settings.url.clone(), route });
        Ok(Self { egress, home, headers, bearer, authorizers, mirrored: Arc::default() })
    }

    /// `context`: of the call that the connection is for; its caller's tokens are used. `probes`:
    /// the era of the server is not known.
    pub(crate) fn transport(
        &self,
        calls: Arc<InFlight>,
        context: Option<&CallContext>,
        probes: bool,
    ) -> StreamableHttpClientTransport<HttpTransport> {
        let longest = calls.bounds.message;
        let wire = self.wire(calls, context, probes);
        let mut backoff = ExponentialBackoff::default();
        backoff.max_delay = Some(LONGEST_PAUSE);
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.home.url.as_str())
            .max_concurrent_requests(MOST_REQUESTS);
        config.max_sse_event_size = longest;
        config.retry_config = Arc::new(backoff);
        StreamableHttpClientTransport::with_client(wire, config)
    }

    /// The way of single requests of 2026-07-28, beside the transport of the same connection, and
    /// the address that they go to.
    pub(crate) fn direct(
        &self,
        calls: &Arc<InFlight>,
        context: Option<&CallContext>,
    ) -> (HttpTransport, Arc<str>) {
        (self.wire(Arc::clone(calls), context, false), self.home.url.as_str().into())
    }

    /// The same in the first way, which servers of 2024 know.
    pub(crate) async fn old_transport(
        &self,
        calls: Arc<InFlight>,
        context: Option<&CallContext>,
    ) -> Result<LegacySseTransport, McpFault> {
        let connected =
            LegacySseTransport::connect(self.wire(calls, context, false), &self.home.url).await;
        connected.map_err(|error| fault::of_wire(error, McpFault::unreachable("the line broke")))
    }

    fn wire(
        &self,
        calls: Arc<InFlight>,
        context: Option<&CallContext>,
        probes: bool,
    ) -> HttpTransport {
        HttpTransport {
            exchanger: HttpExchanger {
                egress: self.egress.clone(),
                home: Arc::clone(&self.home),
                bearer: self.bearer.clone(),
                authorize: self.authorizer(context),
                patience: None,
            },
            headers: self.headers.clone(),
            mirrored: Arc::clone(&self.mirrored),
            probes,
            calls,
        }
    }

    fn authorizer(&self, context: Option<&CallContext>) -> Option<Arc<dyn TokenProvider>> {
        let local = Caller::local();
        let caller = context.map_or(&local, CallContext::caller);
        self.authorizers.as_ref().map(|authorizers| authorizers.of(caller))
    }

    /// While the guard lives, the host of this call may be asked to authorize us.
    pub(crate) fn attended_by(&self, context: &CallContext) -> Option<Box<dyn Send + Sync>> {
        self.authorizer(Some(context)).map(|authorizer| authorizer.attended_by(context))
    }

    /// Takes in which arguments the tools of a list want repeated in headers.
    pub(crate) fn learn(&self, mirrored: MirroredArguments) {
        let mirrored = mirrored.into_iter().collect();
        *self.mirrored.lock().unwrap_or_else(PoisonError::into_inner) = mirrored;
    }
}

fn header(name: &str, value: &Secret) -> Result<(HeaderName, HeaderValue), String> {
    let wrong = |what: &str| format!("the header `{name}` has {what}: correct it");
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("no legal name"))?;
    let mut value = HeaderValue::from_str(value.expose())
        .map_err(|_| wrong("a value with characters that no header may hold"))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}
