//! From a refusal to the server that gives out tokens.

pub(crate) mod challenge;
pub(crate) mod metadata;

use std::time::Duration;

use tokio::time::timeout;
use url::Url;

use super::error::{OAuthEndpoint, OAuthError};
use super::transport::OAuthTransport;
use challenge::BearerChallenge;
use metadata::{IssuerMetadata, ResourceMetadata, is_safe, issuer_places, resource_places};

/// Of the authorization servers that a resource names, so many are asked.
const MOST_ISSUERS: usize = 4;

const RESOURCE: &str = "the metadata of the server";
const ISSUER: &str = "the metadata of the authorization server";

/// What the protected server and its authorization server say of themselves, checked.
#[derive(Debug, Clone)]
pub(super) struct OAuthDiscovery {
    /// The resource indicator, as the server writes it.
    pub(super) resource: String,
    /// What the resource knows.
    pub(super) scopes: Vec<String>,
    pub(super) issuer: IssuerMetadata,
}

/// For all that has to be read; a slow server names slow ones.
const LONGEST: Duration = Duration::from_mins(1);

/// Follows the refusal, else looks at the well-known places.
pub(super) async fn discover(
    wire: &OAuthTransport,
    challenge: &BearerChallenge,
) -> Result<OAuthDiscovery, OAuthError> {
    timeout(LONGEST, search(wire, challenge)).await.unwrap_or_else(|_| {
        let cause = "how to get a token was not to be found out within a minute".to_owned();
        Err(OAuthError::Unreachable { place: OAuthEndpoint::new(RESOURCE, wire.server()), cause })
    })
}

async fn search(
    wire: &OAuthTransport,
    challenge: &BearerChallenge,
) -> Result<OAuthDiscovery, OAuthError> {
    let server = wire.server();
    let Some(metadata) = resource_metadata(wire, challenge).await? else {
        // Servers of the first revision are their own authorization server and say nothing else.
        let origin = server.origin().ascii_serialization();
        let issuer = issuer(wire, &origin).await?.ok_or_else(|| {
            OAuthEndpoint::new("the server", server)
                .wrong("it wants a token, and does not say who gives them out")
        })?;
        let mut resource = server.clone();
        resource.set_query(None);
        resource.set_fragment(None);
        return Ok(OAuthDiscovery { resource: resource.into(), scopes: Vec::new(), issuer });
    };
    for named in metadata.authorization_servers.iter().take(MOST_ISSUERS) {
        if let Some(issuer) = issuer(wire, named).await? {
            let ResourceMetadata { resource, scopes_supported, .. } = metadata;
            return Ok(OAuthDiscovery { resource, scopes: scopes_supported, issuer });
        }
    }
    let problem = "none of the authorization servers that it names says how to get a token";
    Err(OAuthEndpoint::new(RESOURCE, server).wrong(problem))
}

async fn resource_metadata(
    wire: &OAuthTransport,
    challenge: &BearerChallenge,
) -> Result<Option<ResourceMetadata>, OAuthError> {
    let server = wire.server();
    if let Some(named) = &challenge.resource_metadata {
        let place = OAuthEndpoint::new(RESOURCE, server);
        let url = server
            .join(named)
            .map_err(|_| place.clone().wrong("its refusal names no address of metadata"))?;
        is_safe(&url, server).map_err(|problem| place.wrong(problem))?;
        // What the server names itself has to be there: to guess instead would be to follow
        // something that it did not say.
        let place = OAuthEndpoint::new(RESOURCE, &url);
        let metadata: ResourceMetadata = wire.document(RESOURCE, &url).await?.ok_or_else(|| {
            place.clone().wrong("the server names it, and it is no such document")
        })?;
        metadata.is_about(server, &place)?;
        return Ok(Some(metadata));
    }
    for url in resource_places(server) {
        if let Some(metadata) = wire.document::<ResourceMetadata>(RESOURCE, &url).await? {
            metadata.is_about(server, &OAuthEndpoint::new(RESOURCE, &url))?;
            return Ok(Some(metadata));
        }
    }
    Ok(None)
}

/// The metadata of an issuer; `None`: it has none.
pub(super) async fn issuer(
    wire: &OAuthTransport,
    named: &str,
) -> Result<Option<IssuerMetadata>, OAuthError> {
    let server = wire.server();
    let Ok(url) = Url::parse(named) else {
        let problem = "it names an authorization server that is no address";
        return Err(OAuthEndpoint::new(RESOURCE, server).wrong(problem));
    };
    let place = OAuthEndpoint::new(ISSUER, &url);
    is_safe(&url, server).map_err(|problem| place.clone().wrong(problem))?;
    if url.query().is_some() {
        return Err(place.wrong("an issuer has no query"));
    }
    for at in issuer_places(&url) {
        let Some(metadata) = wire.document::<IssuerMetadata>(ISSUER, &at).await? else {
            continue;
        };
        let place = OAuthEndpoint::new(ISSUER, &at);
        metadata.is_of(named, &place)?;
        metadata.endpoints_are_safe(server, &place)?;
        if metadata.authorization_endpoint.as_ref().is_some_and(|url| !wire.may_be_opened(url)) {
            let problem = "it sends people to a private address that the settings do not open";
            return Err(place.wrong(problem));
        }
        return Ok(Some(metadata));
    }
    Ok(None)
}
