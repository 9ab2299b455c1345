//! A person signs in: an address for their browser, which then comes back to this machine.
//!
//! RFC 8252 with a port of the loopback, RFC 7636 with S256; what Google wants beside them:
//! <https://developers.google.com/identity/protocols/oauth2/native-app>.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use toolcrib_core::Secret;
use toolcrib_egress::{CallbackVerdict, LoopbackListener};
use url::Url;
use uuid::Uuid;

use super::settings::{GoogleSettings, RefreshTokenLocation, SCOPES};
use super::token_file;
use super::tokens::{GoogleTokenDenial, request};
use super::way_out::way_out;
use crate::backend::{BackendError, BackendErrorKind};

/// What came back by way of the browser.
struct SignInCallback {
    code: Option<Secret>,
    error: Option<String>,
}

pub(super) async fn sign_in(
    settings: &GoogleSettings,
    open: impl FnOnce(&str),
) -> Result<Secret, BackendError> {
    settings.check()?;
    let egress = way_out(settings)?;
    let callback = LoopbackListener::listen("/").await.map_err(no_port)?;
    let redirect = callback.address().to_string();
    let (verifier, state) = (unguessable(), unguessable());
    open(address(settings, &redirect, &verifier, &state).as_str());
    let own = state.clone();
    let judge = move |url: &Url| match read(url, &own) {
        None => CallbackVerdict::Stray,
        Some(SignInCallback { error: None, .. }) => CallbackVerdict::Welcome,
        Some(SignInCallback { error: Some(_), .. }) => CallbackVerdict::Declined,
    };
    let came = callback.answer(judge).await.ok_or_else(|| {
        BackendError::new(
            BackendErrorKind::Refused,
            "nobody signed in within five minutes: start again",
        )
    })?;
    let Some(SignInCallback { code: Some(code), error: None }) = read(&came, &state) else {
        return Err(BackendError::new(
            BackendErrorKind::Refused,
            "the sign-in at Google was declined",
        ));
    };
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code.expose()),
        ("redirect_uri", &redirect),
        ("code_verifier", verifier.expose()),
    ];
    let given = request(settings, &egress, &fields).await.map_err(|denial| match denial {
        GoogleTokenDenial::Grant => BackendError::new(
            BackendErrorKind::Refused,
            "Google does not accept the answer of the browser: start again",
        ),
        GoogleTokenDenial::Other(fault) => fault,
    })?;
    let refresh = given.refresh_token.ok_or_else(|| {
        BackendError::new(
            BackendErrorKind::Refused,
            "Google gave no refresh token: take this client's access away in the settings of the \
             account, then sign in again",
        )
    })?;
    if let RefreshTokenLocation::File(path) = &settings.refresh {
        token_file::write(path, settings, &refresh)?;
    }
    Ok(refresh)
}

fn no_port(cause: std::io::Error) -> BackendError {
    BackendError::new(BackendErrorKind::Refused, "no port of this machine can be listened on")
        .because(cause)
}

/// `access_type` and `prompt` make Google give a refresh token, also to whom it gave one before.
fn address(settings: &GoogleSettings, redirect: &str, verifier: &Secret, state: &Secret) -> Url {
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.expose()));
    let mut url = settings.authorize.clone();
    url.query_pairs_mut().extend_pairs([
        ("response_type", "code"),
        ("client_id", &settings.client_id),
        ("redirect_uri", redirect),
        ("scope", SCOPES),
        ("state", state.expose()),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("access_type", "offline"),
        ("prompt", "consent"),
    ]);
    url
}

/// 64 letters, 244 of their bits random; RFC 7636 wants 43 to 128 letters.
fn unguessable() -> Secret {
    Secret::new(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()))
}

/// The answer in an address that a browser came by, if it carries our state.
fn read(url: &Url, own: &Secret) -> Option<SignInCallback> {
    let (mut code, mut state, mut error) = (None, None, None);
    for (name, value) in url.query_pairs() {
        // Of a field that comes twice the first counts.
        match &*name {
            "code" => drop(code.get_or_insert_with(|| Secret::new(&*value))),
            "state" => drop(state.get_or_insert_with(|| value.into_owned())),
            "error" => drop(error.get_or_insert_with(|| value.into_owned())),
            _ => {}
        }
    }
    // Digests, so that the time it takes tells nothing of how much was right.
    let is_ours = Sha256::digest(own.expose()) == Sha256::digest(state?);
    is_ours.then_some(SignInCallback { code, error })
}
