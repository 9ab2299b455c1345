//! The one place that opens connections, and the judge before each.

pub(crate) mod lookup;
pub(crate) mod tls;

use std::error::Error;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::Uri;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tower_service::Service;
use url::Host;

use crate::origin::UrlOrigin;
use crate::rules::{EgressRules, OriginTrust};
use lookup::AddressLookup;

type BoxError = Box<dyn Error + Send + Sync>;
type ConnectFuture<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// A connection may outlive the request that asked for it, but not unmade.
const LONGEST: Duration = Duration::from_mins(1);
/// Head start of one address before the next is tried beside it.
const STAGGER: Duration = Duration::from_millis(250);
/// Addresses of one name that are tried.
const MOST_TRIED: usize = 8;

/// TCP and TLS to an origin.
#[derive(Clone)]
pub(crate) struct Connector(pub(crate) HttpsConnector<GuardedDialer>);

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = ConnectFuture<Self::Response>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async move { timeout(LONGEST, connecting).await? })
    }
}

/// TCP to an origin that the rules admit.
#[derive(Clone)]
pub(crate) struct GuardedDialer(pub(crate) Arc<AddressGuard>, pub(crate) TcpDialer);

/// What opens connections to addresses that were judged.
#[derive(Clone)]
pub(crate) enum TcpDialer {
    Real,
    /// Nothing leaves: the addresses are noted.
    #[cfg(test)]
    Noted(Arc<std::sync::Mutex<Vec<SocketAddr>>>),
}

impl TcpDialer {
    async fn connect(&self, addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
        match self {
            Self::Real => first_of(addresses).await,
            #[cfg(test)]
            Self::Noted(noted) => {
                noted.lock().map_err(|_| io::Error::other("poisoned"))?.extend(addresses);
                Err(io::Error::other("noted"))
            }
        }
    }
}

impl GuardedDialer {
    /// A connection to an origin that the guard admits.
    pub(crate) async fn open(&self, origin: &UrlOrigin) -> Result<TcpStream, BoxError> {
        let addresses = self.0.addresses(origin).await?;
        let stream = self.1.connect(addresses).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl Service<Uri> for GuardedDialer {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = ConnectFuture<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let dial = self.clone();
        Box::pin(async move {
            let origin = UrlOrigin::of_uri(&uri).ok_or("what to connect to is no origin")?;
            Ok(TokioIo::new(dial.open(&origin).await?))
        })
    }
}

/// The rules, and the lookup whose answers they judge.
pub(crate) struct AddressGuard {
    pub(crate) rules: EgressRules,
    pub(crate) lookup: Arc<dyn AddressLookup>,
}

impl AddressGuard {
    /// Where to connect for an origin: looked up once, every address judged. A single address
    /// that is not admitted refuses the name.
    pub(crate) async fn addresses(&self, origin: &UrlOrigin) -> Result<Vec<SocketAddr>, BoxError> {
        let standing = self.rules.standing(origin)?;
        let found = match &origin.host {
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => self.lookup.lookup(name).await?,
        };
        if standing == OriginTrust::Peer {
            found.iter().try_for_each(|address| self.rules.admit(origin, *address))?;
        }
        if found.is_empty() {
            return Err("the name has no address".into());
        }
        Ok(found.into_iter().map(|address| SocketAddr::new(address, origin.port)).collect())
    }
}

/// The first address that answers, each tried a little after the one before it.
async fn first_of(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut waiting = addresses.into_iter().take(MOST_TRIED);
    let mut trying: FuturesUnordered<_> =
        waiting.next().map(TcpStream::connect).into_iter().collect();
    let mut failed = io::Error::other("there is no address");
    loop {
        tokio::select! {
            tried = trying.next() => match tried {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(error)) => failed = error,
                None => return Err(failed),
            },
            () = sleep(STAGGER), if waiting.len() > 0 => {}
        }
        trying.extend(waiting.next().map(TcpStream::connect));
    }
}
