//! What makes a server one of several.

use std::time::Duration;

use toolcrib_core::Secret;
use url::Url;

use crate::secrets::template::{SecretLookup, Template, TemplateResolution, UnresolvedReference};

/// Shortest secret of a cluster, in bytes: whoever guesses it could write names that all replicas
/// take for their own.
pub(crate) const SHORTEST_SECRET: usize = 32;

/// What makes a server one of several that share a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSettings {
    /// The same at all of them.
    pub secret: Secret,
    /// Where the others reach this one; `None`: the file does not say.
    pub address: Option<Url>,
    /// How long one counts as alive after it was last heard of.
    pub lease: Duration,
}

/// The same with its secret beside it.
#[derive(Debug, Clone)]
pub(crate) struct ClusterTemplate {
    pub(crate) secret: Template,
    pub(crate) address: Option<Url>,
    pub(crate) lease: Duration,
}

impl ClusterTemplate {
    pub(crate) fn resolve(
        &self,
        lookup: &dyn SecretLookup,
        found: &mut TemplateResolution,
    ) -> ClusterSettings {
        let before = found.missing.len();
        let secret = self.secret.secret(lookup, found);
        let reason = too_short(&secret).filter(|_| found.missing.len() == before);
        if let Some(reason) = reason {
            let reference = self.secret.written();
            found.missing.push(UnresolvedReference { reference, reason });
        }
        ClusterSettings { secret, address: self.address.clone(), lease: self.lease }
    }
}

/// Why a secret is none for a cluster.
pub(crate) fn too_short(secret: &Secret) -> Option<String> {
    (secret.expose().len() < SHORTEST_SECRET).then(|| {
        format!(
            "is shorter than {SHORTEST_SECRET} bytes: make one with `openssl rand -hex 32`, the \
             same for all replicas"
        )
    })
}
