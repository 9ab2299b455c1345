//! TLS to a server whose name is proved by its certificate.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// Speaks TLS to servers that prove their name.
#[derive(Clone)]
pub(crate) struct Encryption(TlsConnector);

impl Encryption {
    /// The authorities are those of this file, else those of the system. `None`: there are none.
    pub(crate) fn of(roots: Option<&Path>) -> Option<Self> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .ok()?;
        let mut config = if let Some(path) = roots {
            builder.with_root_certificates(authorities(path)?).with_no_client_auth()
        } else {
            let verifier = rustls_platform_verifier::Verifier::new(provider).ok()?;
            let verifier: Arc<dyn ServerCertVerifier> = Arc::new(verifier);
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        };
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Some(Self(TlsConnector::from(Arc::new(config))))
    }
}

/// Those of a file in PEM; `None`: it holds none, or one that cannot be read.
fn authorities(path: &Path) -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).ok()? {
        roots.add(certificate.ok()?).ok()?;
    }
    (!roots.is_empty()).then_some(roots)
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Encryption {
    type Stream = EncryptedStream<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Handshake { connector: self.0.clone(), name })
    }
}

/// A greeting that is about to be sent.
pub(crate) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = EncryptedStream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(
            async move { Ok(EncryptedStream(self.connector.connect(self.name, stream).await?)) },
        )
    }
}

pub(crate) struct EncryptedStream<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for EncryptedStream<S> {
    /// The name of the server is proved already.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for EncryptedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for EncryptedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
