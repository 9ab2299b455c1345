//! Many requests to one place, which is judged once, with answers that are read as they come.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use http::header::{HOST, HeaderMap, HeaderValue, USER_AGENT};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper_util::client::legacy::Client;
use tokio::time::timeout;
use tower_service::Service as _;
use url::Url;

use super::failure::failed;
use super::h1::{Http1Body, Http1Connection, Http1Failure, Http1Pool};
use crate::connect::{Connector, GuardedDialer};
use crate::error::{EgressError, EgressErrorKind, EgressPhase};
use crate::origin::{Scheme, UrlOrigin};
use crate::rules::EgressRefusal;

/// Looking up the name, connecting, and TLS.
const CONNECT: Duration = Duration::from_secs(10);

/// A place that was judged, by its URL.
#[derive(Clone)]
pub struct EgressRoute {
    pub(crate) origin: Arc<UrlOrigin>,
    uri: Uri,
    host: HeaderValue,
}

impl EgressRoute {
    pub(crate) fn new(url: &Url, origin: UrlOrigin) -> Result<Self, EgressError> {
        let unfit = |cause: Box<dyn std::error::Error + Send + Sync>| {
            EgressError::refused("the URL is none that HTTP can carry").because(cause)
        };
        // What stands behind `#` is for the reader alone.
        let (text, _) = url.as_str().split_once('#').unwrap_or((url.as_str(), ""));
        let uri: Uri = text.parse().map_err(|cause: http::uri::InvalidUri| unfit(cause.into()))?;
        let host = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        let host = HeaderValue::from_str(host).map_err(|cause| unfit(cause.into()))?;
        Ok(Self { origin: Arc::new(origin), uri, host })
    }
}

/// The ways to send.
#[derive(Clone)]
pub(crate) struct Transports {
    pub(crate) dial: GuardedDialer,
    pub(crate) pooled: Client<Connector, Full<Bytes>>,
    pub(crate) lanes: Arc<Http1Pool>,
}

/// The head of an answer, and its body still on the line; dropping it hangs up. A redirect is an
/// answer like others, and nothing is unpacked.
pub struct StreamedResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    body: StreamedBody,
    place: Arc<UrlOrigin>,
}

enum StreamedBody {
    Pooled(Incoming),
    Driven(Box<Http1Body>),
}

impl Transports {
    /// How long the answer may take is for the caller to say.
    pub(crate) async fn exchange(
        &self,
        route: &EgressRoute,
        method: Method,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<StreamedResponse, EgressError> {
        headers
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(concat!("toolcrib/", env!("CARGO_PKG_VERSION"))));
        let mut message = Request::new(Full::new(body));
        *message.method_mut() = method;
        let (response, driven) = match route.origin.scheme {
            Scheme::Http => {
                headers.insert(HOST, route.host.clone());
                *message.headers_mut() = headers;
                *message.uri_mut() = within(&route.uri);
                let (response, lane) = self.drive(&route.origin, message).await?;
                (response, Some(lane))
            }
            // The library knows which connections of HTTP/2 may be shared. A route is never one of
            // mail; the library would refuse it.
            Scheme::Https | Scheme::Imap | Scheme::Imaps | Scheme::Smtp | Scheme::Smtps => {
                *message.headers_mut() = headers;
                *message.uri_mut() = route.uri.clone();
                let asked = self.pooled.request(message).await;
                (asked.map_err(|error| failed(error, &route.origin, true))?, None)
            }
        };
        let place = Arc::clone(&route.origin);
        let (head, incoming) = response.into_parts();
        let body = match driven {
            Some(lane) => {
                let reading = Http1Body::new(incoming, lane, &place, &self.lanes);
                StreamedBody::Driven(Box::new(reading))
            }
            None => StreamedBody::Pooled(incoming),
        };
        Ok(StreamedResponse { status: head.status, headers: head.headers, body, place })
    }

    async fn drive(
        &self,
        origin: &Arc<UrlOrigin>,
        mut message: Request<Full<Bytes>>,
    ) -> Result<(http::Response<Incoming>, Http1Connection), EgressError> {
        let broken = |error: hyper::Error| {
            EgressError::new(EgressErrorKind::Broken, format!("`{origin}`: the line broke"))
                .because(error)
        };
        // One that slept may have been closed under the request; a new one has no such excuse.
        while let Some(mut lane) = self.lanes.wake(origin) {
            match lane.ask(message).await {
                Ok(response) => return Ok((response, lane)),
                Err(Http1Failure::Unsent(back, _)) => message = *back,
                Err(Http1Failure::Broken(error)) => return Err(broken(error)),
            }
        }
        // Rare, and large.
        let mut lane = Box::pin(self.open(origin)).await?;
        match lane.ask(message).await {
            Ok(response) => Ok((response, lane)),
            Err(Http1Failure::Unsent(_, error)) => Err(broken(error).unsent()),
            Err(Http1Failure::Broken(error)) => Err(broken(error)),
        }
    }

    async fn open(&self, origin: &UrlOrigin) -> Result<Http1Connection, EgressError> {
        let unreachable = || {
            let message = format!("`{origin}` cannot be connected to");
            EgressError::new(EgressErrorKind::NotConnected, message).unsent()
        };
        let uri: Uri = origin
            .to_string()
            .parse()
            .map_err(|cause: http::uri::InvalidUri| unreachable().because(cause))?;
        let stream = timeout(CONNECT, self.dial.clone().call(uri)).await;
        let stream =
            stream.map_err(|_| EgressError::timeout(EgressPhase::Connect, origin).unsent())?;
        let stream = stream.map_err(|cause| match cause.downcast_ref::<EgressRefusal>() {
            Some(refusal) => refusal.to_error(),
            None => unreachable().because(cause),
        })?;
        Http1Connection::open(stream).await.map_err(|cause| unreachable().because(cause))
    }
}

/// The path and the query, as the first line of a request has them.
fn within(uri: &Uri) -> Uri {
    uri.path_and_query().map_or_else(|| Uri::from_static("/"), |path| Uri::from(path.clone()))
}

impl Stream for StreamedResponse {
    type Item = Result<Bytes, EgressError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = match &mut self.body {
            StreamedBody::Driven(reading) => reading.poll_next(context),
            StreamedBody::Pooled(incoming) => loop {
                match std::task::ready!(Pin::new(&mut *incoming).poll_frame(context)) {
                    Some(Ok(frame)) => {
                        // Trailers say nothing to us.
                        if let Ok(bytes) = frame.into_data() {
                            break Poll::Ready(Some(Ok(bytes)));
                        }
                    }
                    Some(Err(error)) => break Poll::Ready(Some(Err(error))),
                    None => break Poll::Ready(None),
                }
            },
        };
        next.map(|next| {
            next.map(|bytes| {
                bytes.map_err(|error| {
                    let message = format!("`{}`: the line broke", self.place);
                    EgressError::new(EgressErrorKind::Broken, message).because(error)
                })
            })
        })
    }
}
