//! Who gives the bearer tokens of HTTP connections.

use std::error::Error;
use std::sync::Arc;

use toolcrib_core::{BoxFuture, CallContext, Caller, Secret};

pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// How a server said no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// Every value of `WWW-Authenticate`.
    pub(crate) challenges: Vec<String>,
}

/// The tokens of all callers at one server.
pub(crate) trait Authorizers: Send + Sync {
    fn of(&self, caller: &Caller) -> Arc<dyn Authorize>;
}

/// The tokens of one caller at one server.
pub(crate) trait Authorize: Send + Sync {
    /// The token to send now; `None`: there is none yet, the refusal will say how to get one.
    fn token(&self) -> BoxFuture<'_, Result<Option<Secret>, Cause>>;

    /// The server said 401, or 403 for want of a scope: the token for one more try.
    fn refused<'a>(
        &'a self,
        sent: Option<&'a Secret>,
        refusal: Refusal,
    ) -> BoxFuture<'a, Result<Secret, Cause>>;

    /// While the guard lives, the host behind this call may be asked to open an address.
    fn attended_by(&self, context: &CallContext) -> Box<dyn Send + Sync>;
}
