//! A bare connection, for protocols that are not HTTP: guarded as a request is, plain or with TLS.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::Host;

use crate::connect::GuardedDialer;
use crate::connect::tls;
use crate::error::{EgressError, EgressErrorKind, EgressPhase};
use crate::origin::UrlOrigin;
use crate::rules::EgressRefusal;

/// A connection to a server that the rules admit. What is read and written on it has no bound in
/// time or size: that is for the caller.
pub struct EgressStream {
    stream: PlainOrTls,
    place: UrlOrigin,
    is_local: bool,
}

enum PlainOrTls {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

impl EgressStream {
    pub(crate) async fn open(dial: &GuardedDialer, place: &UrlOrigin) -> Result<Self, EgressError> {
        let stream = dial.open(place).await.map_err(|cause| {
            match cause.downcast_ref::<EgressRefusal>() {
                Some(refusal) => refusal.to_error(),
                None => unreachable(place).because(cause),
            }
        })?;
        // What was connected to, and not what the name said.
        let is_local = stream.peer_addr().is_ok_and(|peer| peer.ip().to_canonical().is_loopback());
        let line = Self { stream: PlainOrTls::Plain(stream), place: place.clone(), is_local };
        if place.scheme.is_secure() { line.with_tls().await } else { Ok(line) }
    }

    /// Whether TLS stands between us and the server, and its certificate is that of its name.
    pub fn is_secure(&self) -> bool {
        matches!(self.stream, PlainOrTls::Secure(_))
    }

    /// Whether the server is on this machine.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// Goes on over TLS (`STARTTLS`). Whatever was read of the plain connection before, and not
    /// used, is to be thrown away by the caller.
    pub async fn secure(self, within: Duration) -> Result<Self, EgressError> {
        let place = self.place.clone();
        let secured = timeout(within, self.with_tls()).await;
        secured.unwrap_or_else(|_| Err(EgressError::timeout(EgressPhase::Connect, &place).unsent()))
    }

    async fn with_tls(self) -> Result<Self, EgressError> {
        let PlainOrTls::Plain(stream) = self.stream else { return Ok(self) };
        let mut config = tls::config()?;
        // These are the words of HTTP.
        config.alpn_protocols.clear();
        let name = match &self.place.host {
            Host::Domain(name) => ServerName::try_from(name.clone()),
            Host::Ipv4(address) => Ok(ServerName::from(std::net::IpAddr::V4(*address))),
            Host::Ipv6(address) => Ok(ServerName::from(std::net::IpAddr::V6(*address))),
        };
        let name = name.map_err(|cause| unreachable(&self.place).because(cause))?;
        let connected = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
        let stream = connected.map_err(|cause| {
            let message = format!("`{}` cannot be spoken to over TLS", self.place);
            EgressError::new(EgressErrorKind::NotConnected, message).unsent().because(cause)
        })?;
        Ok(Self { stream: PlainOrTls::Secure(Box::new(stream)), ..self })
    }
}

fn unreachable(place: &UrlOrigin) -> EgressError {
    let message = format!("`{place}` cannot be connected to");
    EgressError::new(EgressErrorKind::NotConnected, message).unsent()
}

impl AsyncRead for EgressStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.stream {
            PlainOrTls::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            PlainOrTls::Secure(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for EgressStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            PlainOrTls::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            PlainOrTls::Secure(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            PlainOrTls::Plain(stream) => Pin::new(stream).poll_flush(context),
            PlainOrTls::Secure(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            PlainOrTls::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            PlainOrTls::Secure(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
