//! Where each kind of credential goes in each kind of scheme.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use toolcrib_core::Secret;

use crate::document::{KeyPlace, SecurityScheme};
use crate::request::{EncodedPair, Encoding, RequestDraft, as_read};
use crate::settings::Credential;

/// Whether a credential of this kind can be shown under this scheme. All of a group must fit.
pub(super) fn fits(scheme: &SecurityScheme, credential: &Credential) -> bool {
    match (scheme, credential) {
        (scheme, Credential::PerCaller(each)) => each.values().all(|each| fits(scheme, each)),
        (SecurityScheme::Other(_), _) => false,
        // A name and a password are no key, unless the key is the whole header.
        (SecurityScheme::Key { place, name }, Credential::Basic { .. }) => {
            is_authorization(*place, name)
        }
        (
            SecurityScheme::Basic
            | SecurityScheme::Bearer
            | SecurityScheme::Key { .. }
            | SecurityScheme::OAuth { .. }
            | SecurityScheme::OpenIdConnect { .. },
            Credential::Bearer(_)
            | Credential::Basic { .. }
            | Credential::Key(_)
            | Credential::ClientCredentials { .. },
        ) => true,
    }
}

fn is_authorization(place: KeyPlace, name: &str) -> bool {
    place == KeyPlace::Header && name.eq_ignore_ascii_case(AUTHORIZATION.as_str())
}

/// Writes a credential; an error says what is wrong with it and holds nothing of it.
pub(super) fn present(
    scheme: &SecurityScheme,
    credential: &Credential,
    token: Option<&Secret>,
    draft: &mut RequestDraft,
) -> Result<(), &'static str> {
    let bearer = |secret: &Secret| format!("Bearer {}", secret.expose());
    let basic = |user: &str, password: &str| {
        format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
    };
    let secret = match (credential, token) {
        (Credential::Basic { user, password }, _) => {
            return authorize(draft, &basic(user.expose(), password.expose()));
        }
        (Credential::PerCaller(_), _) => return Err("belongs to nobody"),
        (Credential::ClientCredentials { .. }, None) => return Err("has no token yet"),
        (Credential::ClientCredentials { .. }, Some(token)) => token,
        (Credential::Bearer(secret) | Credential::Key(secret), _) => secret,
    };
    match scheme {
        SecurityScheme::Key { place, name } if is_authorization(*place, name) => {
            // Kubernetes and others call a bearer token a key; a key as such says its own prefix.
            let is_key = matches!(credential, Credential::Key(_));
            authorize(draft, &if is_key { secret.expose().to_owned() } else { bearer(secret) })
        }
        SecurityScheme::Key { place, name } => key(*place, name, secret, draft),
        // Stripe and others take a key as the name, with no password.
        SecurityScheme::Basic if matches!(credential, Credential::Key(_)) => {
            authorize(draft, &basic(secret.expose(), ""))
        }
        SecurityScheme::Basic
        | SecurityScheme::Bearer
        | SecurityScheme::OAuth { .. }
        | SecurityScheme::OpenIdConnect { .. }
        | SecurityScheme::Other(_) => authorize(draft, &bearer(secret)),
    }
}

fn authorize(draft: &mut RequestDraft, value: &str) -> Result<(), &'static str> {
    draft.headers.insert(AUTHORIZATION, sensitive(value)?);
    Ok(())
}

/// The header value of a secret, which no log of a library shows.
pub(super) fn sensitive(value: &str) -> Result<HeaderValue, &'static str> {
    const WRONG: &str = "has a line break or another character that no header can carry";
    let mut value = HeaderValue::from_str(value).map_err(|_| WRONG)?;
    value.set_sensitive(true);
    Ok(value)
}

fn key(
    place: KeyPlace,
    name: &str,
    secret: &Secret,
    draft: &mut RequestDraft,
) -> Result<(), &'static str> {
    let pair = || EncodedPair {
        name: Encoding::Strict.apply(name),
        value: Some(Encoding::Strict.apply(secret.expose())),
    };
    let others = |pair: &EncodedPair| as_read(&pair.name) != name;
    match place {
        KeyPlace::Header => {
            let name = HeaderName::from_bytes(name.as_bytes());
            let name = name.map_err(|_| "is for a header that has no legal name")?;
            draft.headers.insert(name, sensitive(secret.expose())?);
        }
        KeyPlace::Cookie => {
            let is_legal = |letter: char| letter.is_ascii_graphic() && !"\",;\\".contains(letter);
            draft.cookies.retain(others);
            // Most keys are legal as they are, and some servers decode nothing.
            if secret.expose().chars().all(is_legal) && name.chars().all(is_legal) {
                let value = Some(secret.expose().to_owned());
                draft.cookies.push(EncodedPair { name: name.to_owned(), value });
            } else {
                draft.cookies.push(pair());
            }
        }
        KeyPlace::Query => {
            draft.query.retain(others);
            draft.query.push(pair());
        }
    }
    Ok(())
}
