//! Who gives the bearer tokens of HTTP connections.

use std::error::Error;
use std::sync::Arc;

use toolcrib_core::{BoxFuture, CallContext, Caller, Secret};

pub(crate) type TokenProviderError = Box<dyn Error + Send + Sync>;

/// How a server said no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenRefusal {
    pub(crate) status: u16,
    /// Every value of `WWW-Authenticate`.
    pub(crate) challenges: Vec<String>,
}

/// The tokens of all callers at one server.
pub(crate) trait TokenProviders: Send + Sync {
    fn of(&self, caller: &Caller) -> Arc<dyn TokenProvider>;
}

/// The tokens of one caller at one server.
pub(crate) trait TokenProvider: Send + Sync {
    /// The token to send now; `None`: there is none yet, the refusal will say how to get one.
    fn token(&self) -> BoxFuture<'_, Result<Option<Secret>, TokenProviderError>>;

    /// The server said 401, or 403 for want of a scope: the token for one more try.
    fn refused<'a>(
        &'a self,
        sent: Option<&'a Secret>,
        refusal: TokenRefusal,
    ) -> BoxFuture<'a, Result<Secret, TokenProviderError>>;

    /// While the guard lives, the host behind this call may be asked to open an address.
    fn attended_by(&self, context: &CallContext) -> Box<dyn Send + Sync>;
}
