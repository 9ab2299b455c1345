//! Where a document leads the secrets of its API: to the API, and to who gives tokens for it.
//!
//! What the settings name is an operator's word. What the document names is a stranger's, and is
//! held to what somebody has seen, or to where the document itself was had from.

use toolcrib_core::SourceError;
use url::Url;

use crate::document::{BlockingFolder, DocumentError, DocumentFolder, SecurityScheme, leads};
use crate::server::ApiServer;
use crate::settings::{ApiSettings, DocumentLocation};
use crate::source::{shown, text_of};

/// The places that the document of these settings names and the settings do not: that of the API
/// if there is no `base_url`, and, if `asks_tokens`, those that give tokens at another origin.
/// Reads the document, if it is a file, and those beside it, and blocks meanwhile; of any other
/// document nothing is told.
pub fn places(settings: &ApiSettings, asks_tokens: bool) -> Result<Vec<Url>, SourceError> {
    let DocumentLocation::File(path) = &settings.document else { return Ok(Vec::new()) };
    let wrong = || SourceError::new(format!("cannot read the document `{}`", path.display()));
    let bytes = text_of(path, settings.bounds.document).map_err(|error| wrong().because(error))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong().because(DocumentError::NotText))?;
    let leads = leads(&text, &BlockingFolder(DocumentFolder::of(path)), settings);
    let leads = leads.map_err(|error| wrong().because(error))?;
    let first = leads.servers.first().map(|server| server.url.as_str());
    let server = ApiServer::choose(settings.base_url.as_ref(), None, first)?;
    let tokens = leads.schemes.values().filter_map(|scheme| match scheme {
        SecurityScheme::OAuth { token_url: Some(url), .. } if asks_tokens => Some(url.as_str()),
        SecurityScheme::OAuth { .. }
        | SecurityScheme::Key { .. }
        | SecurityScheme::Basic
        | SecurityScheme::Bearer
        | SecurityScheme::OpenIdConnect { .. }
        | SecurityScheme::Other(_) => None,
    });
    Ok(named(settings, &server, tokens))
}

/// What the document names of the server and of these addresses of token servers.
fn named<'a>(
    settings: &ApiSettings,
    server: &ApiServer,
    tokens: impl Iterator<Item = &'a str>,
) -> Vec<Url> {
    let mut places: Vec<Url> = Vec::new();
    if settings.base_url.is_none() {
        places.push(server.base.clone());
    }
    for place in tokens.filter_map(|said| server.base.join(said).ok()) {
        if place.origin() != server.base.origin() && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// Refuses a document that leads the secrets of the settings to where nobody lets it.
pub(crate) fn check<'a>(
    settings: &ApiSettings,
    server: &ApiServer,
    tokens: impl Iterator<Item = &'a str>,
) -> Result<(), SourceError> {
    if !settings.has_secrets() {
        return Ok(());
    }
    let why = match (&settings.document, &settings.held_to) {
        (DocumentLocation::Address(_), _) => "is another place than where the document is",
        (DocumentLocation::File(_) | DocumentLocation::Text(_), Some(_)) => {
            "is another place than when somebody was asked about it"
        }
        (DocumentLocation::File(_) | DocumentLocation::Text(_), None) => return Ok(()),
    };
    let is_known = |place: &Url| match &settings.document {
        DocumentLocation::Address(address) => place.origin() == address.origin(),
        DocumentLocation::File(_) | DocumentLocation::Text(_) => {
            settings.held_to.as_ref().is_none_or(|held| held.contains(place))
        }
    };
    match named(settings, server, tokens).into_iter().find(|place| !is_known(place)) {
        None => Ok(()),
        Some(place) => {
            let key = if place == server.base { "base_url" } else { "token_url" };
            Err(SourceError::new(format!(
                "the document sends the secrets of this source to `{}`, which {why}: name it as \
                 `{key}` if that is right",
                shown(&place)
            )))
        }
    }
}
