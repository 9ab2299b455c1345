//! What makes a server one of several.

use std::net::SocketAddr;
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
    /// Another one whose names are opened too, while one takes the place of the other.
    pub opens: Option<Secret>,
    /// Where the others reach this one; `None`: the file does not say.
    pub address: Option<Url>,
    /// Where it listens for them alone; `None`: nowhere.
    pub listen: Option<SocketAddr>,
    /// How long one counts as alive after it was last heard of.
    pub lease: Duration,
}

/// The same with its secret beside it.
#[derive(Debug, Clone)]
pub(crate) struct ClusterTemplate {
    pub(crate) secret: Template,
    pub(crate) opens: Option<Template>,
    pub(crate) address: Option<Url>,
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) lease: Duration,
}

impl ClusterTemplate {
    pub(crate) fn resolve(
        &self,
        lookup: &dyn SecretLookup,
        found: &mut TemplateResolution,
    ) -> ClusterSettings {
        let secret = long_enough(&self.secret, lookup, found);
        let opens = self.opens.as_ref().map(|opens| long_enough(opens, lookup, found));
        let Self { address, listen, lease, .. } = self;
        ClusterSettings { secret, opens, address: address.clone(), listen: *listen, lease: *lease }
    }
}

fn long_enough(
    template: &Template,
    lookup: &dyn SecretLookup,
    found: &mut TemplateResolution,
) -> Secret {
    let before = found.missing.len();
    let secret = template.secret(lookup, found);
    let reason = too_short(&secret).filter(|_| found.missing.len() == before);
    if let Some(reason) = reason {
        found.missing.push(UnresolvedReference { reference: template.written(), reason });
    }
    secret
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
