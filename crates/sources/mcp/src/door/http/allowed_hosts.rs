//! By which names a request may come, and from which web pages.

use http::HeaderMap;
use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use url::Url;

pub(crate) struct AllowedHosts {
    /// As they are written; a request that says one of them needs no reading.
    names: Vec<String>,
    /// Each with a port or for all ports.
    read: Vec<(String, Option<u16>)>,
    /// Origins of web pages.
    origins: Vec<String>,
}

impl AllowedHosts {
    pub(crate) fn new(names: &[String], origins: &[String]) -> Self {
        let read = |name: &String| match name.trim().parse::<Authority>() {
            Ok(authority) => (bare(authority.host()), authority.port_u16()),
            Err(_) => (bare(name.trim()), None),
        };
        let origins = origins.iter().filter_map(|origin| plain_origin(origin)).collect();
        Self { names: names.to_vec(), read: names.iter().map(read).collect(), origins }
    }

    /// Whether a request is addressed to one of our names.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> bool {
        let Some(said) = headers.get(HOST).and_then(|host| host.to_str().ok()) else {
            return false;
        };
        if self.names.iter().any(|name| name == said) {
            return true;
        }
        let Ok(host) = said.parse::<Authority>() else { return false };
        let (name, port) = (bare(host.host()), host.port_u16());
        self.read.iter().any(|(known, at)| *known == name && (at.is_none() || *at == port))
    }

    /// Whether a request comes from no web page, or from one that may ask. A page of our own
    /// address is no foreign one: by which of our names the request came is looked at for itself.
    pub(crate) fn admit_page(&self, headers: &HeaderMap) -> bool {
        let mut said = headers.get_all(ORIGIN).iter();
        let Some(origin) = said.next() else { return true };
        let (Ok(origin), None) = (origin.to_str(), said.next()) else { return false };
        let place = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let host = headers.get(HOST).map(http::HeaderValue::as_bytes);
        if place.is_some() && place.map(str::as_bytes) == host {
            return true;
        }
        plain_origin(origin).is_some_and(|origin| self.origins.contains(&origin))
    }
}

/// An origin in the one way to write it. `None`: it is that of no address.
fn plain_origin(origin: &str) -> Option<String> {
    let origin = Url::parse(origin.trim()).ok()?.origin();
    origin.is_tuple().then(|| origin.ascii_serialization())
}

fn bare(host: &str) -> String {
    host.trim_matches(['[', ']']).to_ascii_lowercase()
}
