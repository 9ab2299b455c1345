//! The keys of an issuer, from where it says that they are.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::Value;
use toolcrib_egress::{Egress, EgressRequest, EgressTimeouts};
use toolcrib_json::repair::read_strict;
use url::{Host, Url};

use crate::issuer::settings::IssuerSettings;
use crate::keyset::KeySet;

/// Requests wait for these answers.
const TIMEOUTS: EgressTimeouts = EgressTimeouts {
    connect: Duration::from_secs(3),
    first_byte: Duration::from_secs(5),
    idle: Duration::from_secs(3),
    total: Duration::from_secs(8),
};

/// The keys, or what is wrong, for the operator.
pub(crate) async fn keys(egress: &Egress, settings: &IssuerSettings) -> Result<KeySet, String> {
    let place = match &settings.jwks {
        Some(place) => place.clone(),
        None => discover(egress, settings).await?,
    };
    let bytes = get(egress, &place, settings).await?;
    KeySet::read(&bytes).ok_or_else(|| format!("`{place}` gives no set of keys"))
}

/// Where the issuer says that its keys are.
async fn discover(egress: &Egress, settings: &IssuerSettings) -> Result<Url, String> {
    let mut wrong = String::new();
    for place in places(&settings.url) {
        match get(egress, &place, settings).await.and_then(|bytes| read(&bytes, &place, settings)) {
            Ok(keys) => return Ok(keys),
            Err(error) if wrong.is_empty() => wrong = error,
            Err(_) => {}
        }
    }
    Err(wrong)
}

fn read(bytes: &[u8], place: &Url, settings: &IssuerSettings) -> Result<Url, String> {
    let metadata = std::str::from_utf8(bytes).ok().and_then(|text| read_strict(text).ok());
    let metadata = metadata.ok_or_else(|| format!("`{place}` gives no JSON"))?;
    let text = |name: &str| metadata.get(name).and_then(Value::as_str);
    // Whoever answers for another would get its tokens accepted.
    if text("issuer") != Some(&settings.name) {
        let name = &settings.name;
        return Err(format!("`{place}` is the metadata of another issuer than `{name}`"));
    }
    let keys = text("jwks_uri").and_then(|text| Url::parse(text).ok());
    let keys = keys.ok_or_else(|| format!("`{place}` does not say where the keys are"))?;
    if !is_safe(&keys, &settings.url) {
        return Err(format!("`{place}` names keys at an address that is not `https`"));
    }
    Ok(keys)
}

/// Keys that somebody could change on their way let everybody in.
fn is_safe(keys: &Url, issuer: &Url) -> bool {
    keys.scheme() == "https" || is_of_this_machine(keys) || keys.origin() == issuer.origin()
}

fn is_of_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// `OpenID` Connect Discovery puts the path before its own, RFC 8414 after it.
fn places(issuer: &Url) -> [Url; 2] {
    let path = issuer.path().trim_end_matches('/');
    let at = |path: String| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url
    };
    [
        at(format!("{path}/.well-known/openid-configuration")),
        at(format!("/.well-known/oauth-authorization-server{path}")),
    ]
}

async fn get(egress: &Egress, place: &Url, settings: &IssuerSettings) -> Result<Vec<u8>, String> {
    let request =
        EgressRequest { timeouts: TIMEOUTS, ..EgressRequest::new(Method::GET, place.clone()) };
    let response = egress.send(request).await.map_err(|error| error.to_string())?;
    if response.status != StatusCode::OK {
        return Err(format!("`{place}` answers {}", response.status));
    }
    let bytes = response.bytes(settings.document).await.map_err(|error| error.to_string())?;
    Ok(bytes.to_vec())
}
