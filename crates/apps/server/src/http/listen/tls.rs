//! TLS of our own, where no proxy ends it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use toolcrib_config::TlsFiles;

use crate::config;

/// Greets with the certificate of these files.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor> {
    let chain = chain(&files.certificate)?;
    let shown = files.key.display();
    let key = PrivateKeyDer::from_pem_slice(config::file(&files.key)?.as_bytes());
    // What is wrong with a key is not told with words of it.
    let Ok(key) = key else { bail!("`{shown}` holds no private key: it begins `-----BEGIN`") };
    let mut settings = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .with_context(|| format!("`{shown}` is not the key of the certificate"))?;
    settings.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(settings)))
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let shown = path.display();
    let text = config::file(path)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let chain = chain.with_context(|| format!("`{shown}` is no file of certificates"))?;
    if chain.is_empty() {
        bail!("`{shown}` holds no certificate: it begins `-----BEGIN CERTIFICATE-----`");
    }
    Ok(chain)
}
