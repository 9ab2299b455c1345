//! The two documents by which a server says how to get in, and what we hold against them.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use url::{Host, Url};

use crate::client::oauth::error::{OAuthEndpoint, OAuthError};

/// Protected resource metadata, RFC 9728.
#[derive(Debug, Deserialize)]
pub(crate) struct ResourceMetadata {
    pub(crate) resource: String,
    #[serde(default)]
    pub(crate) authorization_servers: Vec<String>,
    #[serde(default)]
    pub(crate) scopes_supported: Vec<String>,
}

/// Authorization server metadata, RFC 8414 and `OpenID` Connect Discovery.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct IssuerMetadata {
    pub(crate) issuer: String,
    #[serde(default, deserialize_with = "maybe_address")]
    pub(crate) authorization_endpoint: Option<Url>,
    #[serde(deserialize_with = "address")]
    pub(crate) token_endpoint: Url,
    #[serde(default, deserialize_with = "maybe_address")]
    pub(crate) registration_endpoint: Option<Url>,
    #[serde(default)]
    pub(crate) scopes_supported: Vec<String>,
    #[serde(default)]
    pub(crate) code_challenge_methods_supported: Vec<String>,
    /// Absent: `client_secret_basic`, says RFC 8414.
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    pub(crate) client_id_metadata_document_supported: bool,
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    let text = String::deserialize(deserializer)?;
    Url::parse(&text).map_err(|_| D::Error::custom("no address"))
}

fn maybe_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| Url::parse(&text).map_err(|_| D::Error::custom("no address"))).transpose()
}

impl ResourceMetadata {
    /// A resource that is another one would get us tokens for that other one.
    pub(crate) fn is_about(&self, server: &Url, place: &OAuthEndpoint) -> Result<(), OAuthError> {
        let wrong = |problem: &str| Err(place.clone().wrong(problem));
        let Ok(resource) = Url::parse(&self.resource) else {
            return wrong("its `resource` is no address");
        };
        if resource.fragment().is_some() {
            return wrong("its `resource` has a fragment");
        }
        if resource.origin() != server.origin() || !is_above(resource.path(), server.path()) {
            return wrong("its `resource` is not the server that was asked");
        }
        Ok(())
    }
}

/// Whether the first path is the second, or one above it.
fn is_above(above: &str, below: &str) -> bool {
    let trimmed = above.trim_end_matches('/');
    below.strip_prefix(trimmed).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl IssuerMetadata {
    /// `expected` is what the resource named, letter by letter; only the slash after a bare host
    /// is no difference, since many a resource adds one.
    pub(crate) fn is_of(&self, expected: &str, place: &OAuthEndpoint) -> Result<(), OAuthError> {
        if bare(&self.issuer) != bare(expected) {
            return Err(place.clone().wrong("its `issuer` is not the one that was asked for"));
        }
        Ok(())
    }

    pub(crate) fn takes_s256(&self, place: &OAuthEndpoint) -> Result<(), OAuthError> {
        if self.code_challenge_methods_supported.iter().any(|method| method == "S256") {
            return Ok(());
        }
        let problem =
            "it does not say that it takes PKCE with S256, without which a code can be stolen";
        Err(place.clone().wrong(problem))
    }

    /// Codes and tokens go through these addresses.
    pub(crate) fn endpoints_are_safe(
        &self,
        server: &Url,
        place: &OAuthEndpoint,
    ) -> Result<(), OAuthError> {
        let endpoints = [self.authorization_endpoint.as_ref(), self.registration_endpoint.as_ref()];
        for endpoint in endpoints.into_iter().flatten().chain([&self.token_endpoint]) {
            is_safe(endpoint, server).map_err(|problem| place.clone().wrong(problem))?;
        }
        Ok(())
    }
}

/// TLS, or this machine, or the host that the operator named without TLS.
pub(crate) fn is_safe(url: &Url, server: &Url) -> Result<(), &'static str> {
    let named = url.scheme() == "http" && url.scheme() == server.scheme();
    let safe = match url.scheme() {
        "https" => true,
        "http" => is_loopback(url) || (named && url.host() == server.host()),
        _ => false,
    };
    if !safe {
        return Err("one of its addresses is not `https`");
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("one of its addresses has a user or a fragment");
    }
    Ok(())
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// An issuer without the slash that stands for no path.
fn bare(issuer: &str) -> &str {
    let without = issuer.strip_suffix('/').unwrap_or(issuer);
    let hostless = without.split_once("://").map_or(without, |(_, rest)| rest);
    if hostless.contains('/') { issuer } else { without }
}

/// Where the metadata of a resource may stand, the most exact place first.
pub(crate) fn resource_places(server: &Url) -> Vec<Url> {
    let path = server.path().trim_end_matches('/');
    let mut places = vec![at(server, &format!("/.well-known/oauth-protected-resource{path}"))];
    if !path.is_empty() {
        places.push(at(server, "/.well-known/oauth-protected-resource"));
    }
    places
}

/// Where the metadata of an issuer may stand, in the order in which the protocol wants them tried.
pub(crate) fn issuer_places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![
        at(issuer, &format!("/.well-known/oauth-authorization-server{path}")),
        at(issuer, &format!("/.well-known/openid-configuration{path}")),
    ];
    if !path.is_empty() {
        places.push(at(issuer, &format!("{path}/.well-known/openid-configuration")));
    }
    places
}

fn at(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.set_path(path);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn texts(urls: &[Url]) -> Vec<&str> {
        urls.iter().map(Url::as_str).collect()
    }

    #[test]
    fn the_places_of_metadata_are_those_of_the_standards() {
        assert_eq!(
            texts(&resource_places(&url("https://a.example/mcp/?x=1"))),
            [
                "https://a.example/.well-known/oauth-protected-resource/mcp",
                "https://a.example/.well-known/oauth-protected-resource",
            ]
        );
        assert_eq!(
            texts(&resource_places(&url("https://a.example"))),
            ["https://a.example/.well-known/oauth-protected-resource"]
        );
        assert_eq!(
            texts(&issuer_places(&url("https://a.example/tenant"))),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant",
                "https://a.example/.well-known/openid-configuration/tenant",
                "https://a.example/tenant/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            texts(&issuer_places(&url("https://a.example/"))),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ]
        );
    }

    #[test]
    fn a_resource_is_the_server_or_above_it() {
        let server = url("https://a.example/mcp/one");
        let place = OAuthEndpoint::new("the metadata", &server);
        let about = |resource: &str| {
            let resource = resource.to_owned();
            let metadata = ResourceMetadata {
                resource,
                authorization_servers: Vec::new(),
                scopes_supported: Vec::new(),
            };
            metadata.is_about(&server, &place).is_ok()
        };
        for good in [
            "https://a.example/mcp/one",
            "https://a.example/mcp/",
            "https://a.example/mcp",
            "https://a.example",
            "https://A.example:443/",
        ] {
            assert!(about(good), "{good}");
        }
        for bad in [
            "https://evil.example/mcp/one",
            "http://a.example/mcp/one",
            "https://a.example:8443/mcp/one",
            "https://a.example/mc",
            "https://a.example/mcp/one/two",
            "https://a.example/mcp#x",
            "mcp",
            "",
        ] {
            assert!(!about(bad), "{bad}");
        }
    }

    #[test]
    fn an_issuer_is_compared_letter_by_letter() {
        assert_eq!(bare("https://a.example/"), bare("https://a.example"));
        assert_ne!(bare("https://a.example/x/"), bare("https://a.example/x"));
        assert_ne!(bare("https://A.example"), bare("https://a.example"));
        assert_ne!(bare("https://a.example:443"), bare("https://a.example"));
    }

    #[test]
    fn only_tls_this_machine_and_the_named_host_are_safe() {
        let server = url("http://crib.corp/mcp");
        for good in [
            "https://x.example/a",
            "http://127.0.0.1:1/",
            "http://[::1]/",
            "http://localhost/",
            "http://crib.corp:9/token",
        ] {
            assert_eq!(is_safe(&url(good), &server), Ok(()), "{good}");
        }
        for bad in [
            "http://x.example/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://u:p@x.example/",
            "https://x.example/#a",
            "http://localhost.evil.example/",
        ] {
            assert!(is_safe(&url(bad), &server).is_err(), "{bad}");
        }
        assert!(is_safe(&url("http://crib.corp/"), &url("https://crib.corp/mcp")).is_err());
    }
}
