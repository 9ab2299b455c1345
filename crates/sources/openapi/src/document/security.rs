//! How an API lets its callers in, as its document says.

use indexmap::IndexMap;
use serde_json::Value;

use super::document_set::{DocumentSet, DocumentSite};
use super::text::member;

/// One security scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SecurityScheme {
    Key {
        place: KeyPlace,
        /// Of the header, the parameter or the cookie.
        name: String,
    },
    Basic,
    Bearer,
    OAuth {
        /// Of the client credentials flow, relative to the server where it is not absolute.
        token_url: Option<String>,
        scopes: Vec<String>,
    },
    OpenIdConnect {
        url: String,
    },
    /// A kind that no credential of the settings fits, such as `mutualTLS` or `digest`.
    Other(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyPlace {
    Header,
    Query,
    Cookie,
}

/// The schemes of a document by name.
pub(super) fn schemes(library: &DocumentSet, is_swagger: bool) -> IndexMap<String, SecurityScheme> {
    let root = library.root(0);
    let found = if is_swagger {
        root.get("securityDefinitions")
    } else {
        root.get("components").and_then(|components| components.get("securitySchemes"))
    };
    let found = found.into_iter().flat_map(DocumentSite::members);
    let read =
        |site: DocumentSite<'_>| library.follow(site).ok().and_then(|site| scheme(site.value));
    found.take(100).filter_map(|(name, site)| Some((name.clone(), read(site)?))).collect()
}

fn scheme(value: &Value) -> Option<SecurityScheme> {
    let kind = member(value, "type")?;
    Some(match kind {
        "apiKey" => {
            let place = match member(value, "in")? {
                "header" => KeyPlace::Header,
                "query" => KeyPlace::Query,
                "cookie" => KeyPlace::Cookie,
                _ => return None,
            };
            SecurityScheme::Key { place, name: member(value, "name")?.to_owned() }
        }
        "basic" => SecurityScheme::Basic,
        "http" => match member(value, "scheme")?.to_ascii_lowercase().as_str() {
            "basic" => SecurityScheme::Basic,
            "bearer" => SecurityScheme::Bearer,
            other => SecurityScheme::Other(super::text::line(other, 40)),
        },
        "oauth2" => oauth(value),
        "openIdConnect" => {
            SecurityScheme::OpenIdConnect { url: member(value, "openIdConnectUrl")?.to_owned() }
        }
        other => SecurityScheme::Other(super::text::line(other, 40)),
    })
}

fn oauth(value: &Value) -> SecurityScheme {
    let flow = match value.get("flows") {
        Some(flows) => flows.get("clientCredentials"),
        None => Some(value).filter(|value| member(value, "flow") == Some("application")),
    };
    let scopes = flow.and_then(|flow| flow.get("scopes")).and_then(Value::as_object);
    SecurityScheme::OAuth {
        token_url: flow.and_then(|flow| member(flow, "tokenUrl")).map(str::to_owned),
        scopes: scopes.into_iter().flat_map(|scopes| scopes.keys().cloned()).collect(),
    }
}

/// The ways to be let in that a document or an operation names; `None` if it says nothing.
pub(super) fn ways(site: DocumentSite<'_>) -> Option<Vec<Vec<String>>> {
    let ways = site.value.get("security")?.as_array()?;
    // More ways, more schemes or longer names than these are none that anybody wrote.
    let names = |way: &Value| {
        let names = way.as_object()?.keys().take(10).filter(|name| name.len() <= 100);
        Some(names.cloned().collect())
    };
    Some(ways.iter().take(20).filter_map(names).collect())
}
