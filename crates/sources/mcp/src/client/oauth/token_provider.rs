//! What connections over HTTP see of all this.

use std::sync::Arc;

use toolcrib_core::{BoxFuture, CallContext, Caller, Secret};

use super::authorizer::Authorizer;
use super::caller_tokens::CallerTokens;
use super::error::OAuthError;
use crate::client::http::token_provider::{
    TokenProvider, TokenProviderError, TokenProviders, TokenRefusal,
};
use crate::client::settings::HttpSettings;

/// `None`: the settings say nothing of OAuth.
pub(crate) fn authorizers(
    settings: &HttpSettings,
) -> Result<Option<Arc<dyn TokenProviders>>, OAuthError> {
    let vault = CallerTokens::new(settings)?;
    Ok(vault.map(|vault| Arc::new(vault) as Arc<dyn TokenProviders>))
}

impl TokenProviders for CallerTokens {
    fn of(&self, caller: &Caller) -> Arc<dyn TokenProvider> {
        Arc::new(Self::of(self, caller))
    }
}

impl TokenProvider for Authorizer {
    fn token(&self) -> BoxFuture<'_, Result<Option<Secret>, TokenProviderError>> {
        Box::pin(async { Ok(Self::token(self).await?) })
    }

    fn refused<'a>(
        &'a self,
        sent: Option<&'a Secret>,
        refusal: TokenRefusal,
    ) -> BoxFuture<'a, Result<Secret, TokenProviderError>> {
        Box::pin(async move { Ok(Self::refused(self, sent, &refusal).await?) })
    }

    fn attended_by(&self, context: &CallContext) -> Box<dyn Send + Sync> {
        Box::new(Self::attended_by(self, context))
    }
}
