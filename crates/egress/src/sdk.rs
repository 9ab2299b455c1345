//! The client that the MCP SDK takes.

use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use rustls::ClientConfig;
use url::Host;

use crate::connect::Guard;
use crate::error::EgressError;

const CONNECT: Duration = Duration::from_secs(10);

/// No redirects, no proxy, no cookies, and names of named origins only.
pub(crate) fn client(guard: Arc<Guard>, tls: ClientConfig) -> Result<reqwest::Client, EgressError> {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::none())
        .referer(false)
        .no_proxy()
        // What is not asked for packed does not unpack to more.
        .no_gzip()
        .tcp_nodelay(true)
        .connect_timeout(CONNECT)
        .dns_resolver(Named(guard))
        .build()
        .map_err(|cause| EgressError::refused("there is no client for MCP").because(cause))
}

/// Looks up the names of named origins, and no others: this client says no port with a name, so
/// what others name cannot be judged.
struct Named(Arc<Guard>);

impl Resolve for Named {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let is_named =
                |host: &Host<String>| matches!(host, Host::Domain(own) if own == name.as_str());
            if !guard.rules.named.iter().any(|origin| is_named(&origin.host)) {
                return Err("the name is none that the configuration names".into());
            }
            let found = guard.lookup.lookup(name.as_str()).await?;
            let addresses: Addrs = Box::new(found.into_iter().map(|address| (address, 0).into()));
            Ok(addresses)
        })
    }
}
