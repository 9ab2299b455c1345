//! TLS as every connection of ours has it.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::error::{EgressError, EgressErrorKind};

/// `ring` and the system's roots, whatever else the process has installed.
pub(crate) fn config() -> Result<ClientConfig, EgressError> {
    // Reading the roots takes some milliseconds, and there is one way out for each source.
    static READY: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(config) = READY.get() {
        return Ok(config.clone());
    }
    let config = build().map_err(|cause| {
        EgressError::new(EgressErrorKind::Refused, "there is no TLS on this machine")
            .unsent()
            .because(cause)
    })?;
    Ok(READY.get_or_init(|| config).clone())
}

fn build() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let mut config = match rustls_platform_verifier::Verifier::new(provider) {
        Ok(verifier) => {
            let verifier: Arc<dyn ServerCertVerifier> = Arc::new(verifier);
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
        // A machine without roots can still speak plain HTTP; no certificate will do there.
        Err(_) => builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
