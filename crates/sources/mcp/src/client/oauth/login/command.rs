//! Logging in ahead of any call.

use toolcrib_core::Caller;
use url::Url;

use super::OAuthLogin;
use super::callback::LoginCallback;
use crate::client::oauth::authorizer::Authorizer;
use crate::client::oauth::caller_tokens::CallerTokens;
use crate::client::oauth::discovery::discover;
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::renewal::{begin, choose, is_of};
use crate::client::settings::HttpSettings;

/// Why nobody was logged in.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error("this source has no OAuth in its settings: there is nothing to log in to")]
    NoOAuth,
    #[error("this source logs in by itself: no person is needed")]
    ByItself,
    #[error("this source has no folder for tokens in its settings: they would be lost at once")]
    NoFolder,
    #[error(transparent)]
    OAuth(#[from] OAuthError),
}

/// Logs a caller in at a server: `open` shows the address to the person, whose browser then comes
/// back to this machine. Waits five minutes for that.
pub async fn login(
    settings: &HttpSettings,
    caller: &Caller,
    open: impl FnOnce(Url),
) -> Result<(), LoginError> {
    let authorizer = authorizer(settings, caller)?;
    if authorizer.shared.settings.tokens.is_none() {
        return Err(LoginError::NoFolder);
    }
    let callback = LoginCallback::listen().await?;
    let login = start(&authorizer, callback.address().clone()).await?;
    open(login.url().clone());
    let answer = callback.answer(login.state()).await?;
    login.finish(answer).await?;
    Ok(())
}

impl OAuthLogin {
    /// Begins a log-in whose answer the host itself receives at `redirect`, for
    /// [`finish`](Self::finish).
    pub async fn begin(
        settings: &HttpSettings,
        caller: &Caller,
        redirect: Url,
    ) -> Result<Self, LoginError> {
        Ok(start(&authorizer(settings, caller)?, redirect).await?)
    }
}

fn authorizer(settings: &HttpSettings, caller: &Caller) -> Result<Authorizer, LoginError> {
    let vault = CallerTokens::new(settings)?.ok_or(LoginError::NoOAuth)?;
    let authorizer = vault.of(caller);
    if authorizer.shared.settings.machine {
        return Err(LoginError::ByItself);
    }
    Ok(authorizer)
}

async fn start(this: &Authorizer, redirect: Url) -> Result<OAuthLogin, OAuthError> {
    let wire = &this.shared.wire;
    let refusal = wire.knock().await?;
    let challenge = refusal.challenge();
    let found = match discover(wire, &challenge).await {
        // Where nothing was refused there may be nothing to find.
        Err(OAuthError::Wrong { .. }) if refusal.status < 400 => {
            return Err(OAuthError::Setting(
                "the server lets everybody in: this source needs no `oauth` in its settings",
            ));
        }
        found => found?,
    };
    let before = this.read()?.filter(|grant| is_of(grant, &found));
    let scopes = choose(&this.shared, &found, &challenge, before.as_deref());
    begin(this, found, scopes, redirect).await
}
