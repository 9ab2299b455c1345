//! What connections over HTTP see of all this.

use std::sync::Arc;

use toolcrib_core::{BoxFuture, CallContext, Caller, Secret};

use super::authorizer::Authorizer;
use super::caller_tokens::Vault;
use super::error::OAuthError;
use crate::client::http::token_provider::{Authorize, Authorizers, Cause, Refusal};
use crate::client::settings::HttpSettings;

/// `None`: the settings say nothing of OAuth.
pub(crate) fn authorizers(
    settings: &HttpSettings,
) -> Result<Option<Arc<dyn Authorizers>>, OAuthError> {
    let vault = Vault::new(settings)?;
    Ok(vault.map(|vault| Arc::new(vault) as Arc<dyn Authorizers>))
}

impl Authorizers for Vault {
    fn of(&self, caller: &Caller) -> Arc<dyn Authorize> {
        Arc::new(Self::of(self, caller))
    }
}

impl Authorize for Authorizer {
    fn token(&self) -> BoxFuture<'_, Result<Option<Secret>, Cause>> {
        Box::pin(async { Ok(Self::token(self).await?) })
    }

    fn refused<'a>(
        &'a self,
        sent: Option<&'a Secret>,
        refusal: Refusal,
    ) -> BoxFuture<'a, Result<Secret, Cause>> {
        Box::pin(async move { Ok(Self::refused(self, sent, &refusal).await?) })
    }

    fn attended_by(&self, context: &CallContext) -> Box<dyn Send + Sync> {
        Box::new(Self::attended_by(self, context))
    }
}
