//! The way out, and one request through it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::{HeaderMap, Method};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use crate::connect::lookup::{AddressLookup, SystemLookup};
use crate::connect::tls;
use crate::connect::{AddressGuard, Connector, GuardedDialer, TcpDialer};
use crate::error::{EgressError, EgressPhase};
use crate::origin::UrlOrigin;
use crate::pool::failure::failed;
use crate::pool::route::{EgressRoute, StreamedResponse, Transports};
use crate::request::{EgressRequest, EgressTimeouts};
use crate::response::EgressResponse;
use crate::rules::network::Network;
use crate::rules::{EgressRules, EgressScope};
use crate::stream::EgressStream;

/// A guarded way out to the network. Cheap to clone; clones share one pool of connections and one
/// set of rules.
#[derive(Clone)]
pub struct Egress {
    shared: Arc<EgressInner>,
}

struct EgressInner {
    guard: Arc<AddressGuard>,
    ways: Transports,
}

const IDLE_CONNECTION: Duration = Duration::from_mins(1);
const IDLE_CONNECTIONS: usize = 32;
/// A connection of HTTP/2 that many requests share must not be dead for long.
const STILL_THERE: Duration = Duration::from_secs(20);
/// Longest that a clock adds to now.
const LONGEST: Duration = Duration::from_hours(24 * 365);

impl Egress {
    /// Reaches the named origins (scheme, host and port as they are) and nothing else. They may be
    /// private: the operator named them.
    pub fn only(
        named: impl IntoIterator<Item = Url>,
        network: Network,
    ) -> Result<Self, EgressError> {
        Self::with_lookup(EgressScope::Named, named, network, SystemLookup)
    }

    /// Reaches besides the named origins every public address, and what `network` opens of the
    /// private ones: for addresses that others name.
    pub fn open(
        named: impl IntoIterator<Item = Url>,
        network: Network,
    ) -> Result<Self, EgressError> {
        Self::with_lookup(EgressScope::Public, named, network, SystemLookup)
    }

    /// The same with a lookup of the caller's own.
    pub fn with_lookup(
        reach: EgressScope,
        named: impl IntoIterator<Item = Url>,
        network: Network,
        lookup: impl AddressLookup,
    ) -> Result<Self, EgressError> {
        let rules = EgressRules::new(named, reach, network)?;
        Self::through(AddressGuard { rules, lookup: Arc::new(lookup) }, TcpDialer::Real)
    }

    pub(crate) fn through(guard: AddressGuard, tcp: TcpDialer) -> Result<Self, EgressError> {
        let guard = Arc::new(guard);
        let tls = tls::config()?;
        let dial = GuardedDialer(Arc::clone(&guard), tcp);
        let connector = Connector((dial.clone(), tls).into());
        let pooled = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_CONNECTION)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http2_keep_alive_interval(STILL_THERE)
            .http2_keep_alive_timeout(STILL_THERE)
            .build(connector);
        let ways = Transports { dial, pooled, lanes: Arc::default() };
        Ok(Self { shared: Arc::new(EgressInner { guard, ways }) })
    }

    /// Whether a URL may be reached, as far as can be told without a lookup.
    pub fn check(&self, url: &Url) -> Result<(), EgressError> {
        self.origin(url).map(|_| ())
    }

    fn origin(&self, url: &Url) -> Result<UrlOrigin, EgressError> {
        self.shared.guard.rules.check(url).map_err(|refusal| refusal.to_error())
    }

    /// Opens a connection to a server of mail (`imap`, `imaps`, `smtp`, `smtps`), judged as a
    /// request is; of servers that nobody named, only at the usual port of the protocol. TLS begins
    /// at once where the scheme says so; `within` bounds looking up, connecting and TLS together.
    pub async fn line(&self, url: &Url, within: Duration) -> Result<EgressStream, EgressError> {
        let checked = self.shared.guard.rules.check_line(url);
        let place = checked.map_err(|refusal| refusal.to_error())?;
        let opening = EgressStream::open(&self.shared.ways.dial, &place);
        let opened = timeout(within.min(LONGEST), opening).await;
        opened.unwrap_or_else(|_| Err(EgressError::timeout(EgressPhase::Connect, &place).unsent()))
    }

    /// A place for many requests, judged once.
    pub fn route(&self, url: &Url) -> Result<EgressRoute, EgressError> {
        EgressRoute::new(url, self.origin(url)?)
    }

    /// Sends a request once and gives the answer when its head is there. Nothing is added but what
    /// HTTP needs, and beside connecting nothing is bounded in time: that is for the caller, who
    /// may drop it at any point.
    pub fn exchange<'a>(
        &'a self,
        route: &'a EgressRoute,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> impl Future<Output = Result<StreamedResponse, EgressError>> + Send + use<'a> {
        self.shared.ways.exchange(route, method, headers, body)
    }

    /// Sends a request once. A redirect comes back as it is.
    pub async fn send(&self, request: EgressRequest) -> Result<EgressResponse, EgressError> {
        let place = self.origin(&request.url)?;
        let EgressTimeouts { connect, first_byte, idle, total } = request.timeouts;
        let end = Instant::now() + total.min(LONGEST);
        let unpack = request.unpack;
        let mut message = request.into_message()?;
        let mut captured = capture_connection(&mut message);
        let mut answering = self.shared.ways.pooled.request(message);
        // The message is given to a connection at the moment that one is captured, not before.
        let connecting = async {
            let captured = captured.wait_for_connection_metadata();
            match select(&mut answering, std::pin::pin!(captured)).await {
                Either::Left((answer, _)) => Some(answer),
                Either::Right(_) => None,
            }
        };
        let answered = timeout_at(end, timeout(connect, connecting)).await;
        let answered = match answered {
            Ok(Ok(answered)) => answered,
            Ok(Err(_)) => return Err(EgressError::timeout(EgressPhase::Connect, &place).unsent()),
            Err(_) => return Err(EgressError::timeout(EgressPhase::Total, &place).unsent()),
        };
        let answer = match answered {
            Some(answer) => answer,
            None => match timeout_at(end, timeout(first_byte, &mut answering)).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => return Err(EgressError::timeout(EgressPhase::FirstByte, &place)),
                Err(_) => return Err(EgressError::timeout(EgressPhase::Total, &place)),
            },
        };
        let was_given = captured.connection_metadata().is_some();
        let answer = answer.map_err(|error| failed(error, &place, was_given))?;
        let (head, body) = answer.into_parts();
        let (status, headers) = (head.status, head.headers);
        Ok(EgressResponse { status, headers, body, place, idle, end, unpack })
    }
}
