//! Who may come in: the tokens of this machine, of which only digests are kept here, and the keys
//! and issuers of the configuration.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use http::{HeaderMap, HeaderValue, header};
use sha2::{Digest, Sha256};
use tokio::sync::watch;
use toolcrib_auth::{
    AccessControl, AccessError, AccessSettings, Challenge, KEY_PREFIX, LOCAL, ProtectedResource,
};
use toolcrib_core::Caller;

use super::host_check::single;
use crate::config::tokens::TokenScan;
use crate::http::routes::problem::{HttpProblem, ProblemKind};

/// Seconds after which what could not be had is asked for again.
const LATER: HeaderValue = HeaderValue::from_static("30");

/// Finds out who asks. What is presented and not accepted is refused, never passed over.
pub(crate) struct Authenticator {
    known: RwLock<Vec<TokenDigest>>,
    /// There may be tokens of this machine that could not be read.
    is_partial: AtomicBool,
    access: RwLock<Arc<AccessControl>>,
    /// Scopes of every caller of this machine.
    scopes: Vec<String>,
    /// Whether a request without a token is one of the local person.
    open: bool,
    /// Tells of each change of what is accepted.
    changes: watch::Sender<()>,
}

#[derive(PartialEq)]
struct TokenDigest {
    caller: Arc<Caller>,
    digest: [u8; 32],
}

impl Authenticator {
    pub(crate) fn new(scopes: &[String], open: bool) -> Self {
        Self {
            known: RwLock::default(),
            is_partial: AtomicBool::new(false),
            access: RwLock::default(),
            scopes: scopes.to_vec(),
            open,
            changes: watch::Sender::default(),
        }
    }

    /// From now on these are the tokens of this machine.
    pub(crate) fn take(&self, found: &TokenScan) {
        self.is_partial.store(found.is_partial, Ordering::Relaxed);
        let known = found.keys.iter().map(|key| {
            let digest = Sha256::digest(key.token.expose().as_bytes()).into();
            TokenDigest { caller: self.named(&key.name), digest }
        });
        let known: Vec<_> = known.collect();
        let mut before = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // They are read each second, and seldom are others.
        if *before != known {
            *before = known;
            self.changes.send_replace(());
        }
    }

    /// From now on this is what the configuration says.
    pub(crate) fn admit(&self, settings: AccessSettings) {
        let mut access = self.access.write().unwrap_or_else(PoisonError::into_inner);
        *access = Arc::new(AccessControl::new(settings, Some(&access)));
        self.changes.send_replace(());
    }

    pub(crate) fn access(&self) -> Arc<AccessControl> {
        Arc::clone(&self.access.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a request without a token is one of the local person.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// The caller; `None`: the request presents nothing.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        resource: ProtectedResource<'_>,
    ) -> Result<Option<Arc<Caller>>, HttpProblem> {
        let access = self.access();
        let refused = |why| refused(&access, resource, Some(why));
        let presented = single(headers, &header::AUTHORIZATION)
            .map_err(|_| refused("the header must come once, and be text"))?;
        let Some(presented) = presented else {
            return Ok(self.open.then(|| self.named(LOCAL)));
        };
        let bearer = presented.split_once(' ');
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let (_, token) = bearer.ok_or_else(|| refused("its form is not `Bearer TOKEN`"))?;
        let caller = if token.starts_with(KEY_PREFIX) {
            access.key(token).map(Arc::new)
        } else if token.contains('.') {
            // Large, since it may ask the issuer.
            Box::pin(access.token(token, resource)).await.map(Arc::new)
        } else {
            self.owner(token).ok_or_else(|| {
                let may_be_unread = self.is_partial.load(Ordering::Relaxed);
                let unknown = AccessError::Rejected("it is none of this server");
                if may_be_unread { AccessError::Unavailable } else { unknown }
            })
        };
        match caller {
            Ok(caller) => Ok(Some(caller)),
            Err(AccessError::Rejected(why)) => Err(refused(why)),
            Err(AccessError::Unavailable) => {
                let detail = if token.contains('.') {
                    "the keys of the issuer are not to be had now: try again later"
                } else {
                    "the tokens of this server cannot be read now: try again later"
                };
                Err(HttpProblem::new(ProblemKind::Unavailable, detail)
                    .with(header::RETRY_AFTER, LATER))
            }
        }
    }

    /// Waits until what these headers present does not make this caller any more: it was taken out,
    /// or opens something else.
    pub(crate) async fn refuses(
        &self,
        headers: &HeaderMap,
        resource: ProtectedResource<'_>,
        caller: &Caller,
    ) {
        let mut changes = self.changes.subscribe();
        loop {
            let now = self.caller(headers, resource).await;
            // The sender is ours: there is always another change to wait for.
            if !matches!(now, Ok(Some(now)) if *now == *caller) || changes.changed().await.is_err()
            {
                return;
            }
        }
    }

    /// Digests are compared, and all of them to their ends: the time tells nothing of a token.
    fn owner(&self, token: &str) -> Option<Arc<Caller>> {
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut owner = None;
        for key in known.iter() {
            let difference =
                key.digest.iter().zip(&digest).fold(0u8, |sum, (own, its)| sum | (own ^ its));
            if std::hint::black_box(difference) == 0 {
                owner = Some(&key.caller);
            }
        }
        owner.cloned()
    }

    fn named(&self, subject: &str) -> Arc<Caller> {
        Caller::new(LOCAL, subject).with_scopes(self.scopes.iter().cloned()).into()
    }
}

/// `why`: a token came and is not accepted; `None`: none came.
pub(crate) fn refused(
    access: &AccessControl,
    resource: ProtectedResource<'_>,
    why: Option<&str>,
) -> HttpProblem {
    let (challenge, detail) = match why {
        Some(why) => (Challenge::Invalid, format!("this token is not accepted: {why}")),
        None => (Challenge::Missing, "no token came".to_owned()),
    };
    let detail = format!("{detail}; send `Authorization: Bearer` with what `toolcrib token` says");
    challenged(HttpProblem::new(ProblemKind::Unauthenticated, detail), access, resource, challenge)
}

/// A session of the page is none, or half of one.
pub(crate) fn ended(
    access: &AccessControl,
    resource: ProtectedResource<'_>,
    why: &str,
) -> HttpProblem {
    let detail = format!("this request is of no session: {why}; `toolcrib open` prints a new link");
    let problem = HttpProblem::new(ProblemKind::Unauthenticated, detail);
    challenged(problem, access, resource, Challenge::Invalid)
}

/// The caller is known, and may not do this without a further scope.
pub(crate) fn lacking(
    access: &AccessControl,
    resource: ProtectedResource<'_>,
    scope: &str,
) -> HttpProblem {
    let detail = format!("this needs the scope `{scope}`: ask for a token or a key that has it");
    let problem = HttpProblem::new(ProblemKind::InsufficientScope, detail);
    challenged(problem, access, resource, Challenge::Insufficient(scope))
}

fn challenged(
    problem: HttpProblem,
    access: &AccessControl,
    resource: ProtectedResource<'_>,
    challenge: Challenge<'_>,
) -> HttpProblem {
    match HeaderValue::from_str(&access.challenge(resource, challenge)) {
        Ok(value) => problem.with(header::WWW_AUTHENTICATE, value),
        // What stands in it is made of nothing else than a header can hold.
        Err(_) => problem,
    }
}
