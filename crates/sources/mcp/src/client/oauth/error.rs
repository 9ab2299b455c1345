//! Why there is no token. No text of a server gets in here: a hostile one repeats our secrets.

use std::fmt;

use url::Url;

/// Why a caller has no token. Each says what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OAuthError {
    /// The tokens stay as they are.
    #[error("cannot reach {place}: {cause}; it may work again in a while")]
    Unreachable { place: OAuthEndpoint, cause: String },
    #[error(
        "the server wants a person to log in: run `toolcrib login` with the name of this source"
    )]
    NeedsLogin,
    #[error(
        "the person did not let toolcrib in: call again, or run `toolcrib login` with the name of this source"
    )]
    Declined,
    #[error("nobody logged in within {0} minutes: call again to get a new address")]
    NobodyCame(u64),
    #[error("the server refuses the token for this call; it needs other rights")]
    Forbidden,
    #[error(
        "the server asks for scopes ({0}) that were asked for and did not help: \
         give the account these rights, then run `toolcrib login` with the name of this source"
    )]
    StepUpInVain(String),
    #[error(
        "the server refuses a token that was just given for it: \
         ask whoever runs it, or run `toolcrib login` with the name of this source"
    )]
    InVain,
    #[error("{place} says no: {code}")]
    Refused { place: OAuthEndpoint, code: String },
    #[error("{place} is not right: {problem}")]
    Wrong { place: OAuthEndpoint, problem: String },
    #[error(
        "the answer of the authorization server cannot be trusted: {0}; nothing was sent to it"
    )]
    Forged(&'static str),
    #[error(
        "`{server}` now names the authorization server `{now}`, and its client was used with \
         `{known}`: if that is right, delete `{file}`"
    )]
    OtherIssuer { server: String, now: String, known: String, file: String },
    #[error("{0}")]
    Setting(&'static str),
    #[error("cannot keep the tokens in `{place}`: {cause}")]
    Store { place: String, cause: String },
    #[error("the log-in broke off; call again")]
    Broken,
}

impl OAuthError {
    /// Whether the fault may pass by itself.
    pub fn passes(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Broken)
    }
}

/// What we talked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthEndpoint {
    what: &'static str,
    address: String,
}

impl OAuthEndpoint {
    /// Without query and user, which may hold secrets.
    pub(super) fn new(what: &'static str, url: &Url) -> Self {
        let mut url = url.clone();
        url.set_query(None);
        url.set_fragment(None);
        let _ = url.set_username("");
        let _ = url.set_password(None);
        Self { what, address: cut(url.as_str()) }
    }

    pub(super) fn wrong(self, problem: impl Into<String>) -> OAuthError {
        OAuthError::Wrong { place: self, problem: problem.into() }
    }
}

/// What others name may be of any length.
pub(super) fn cut(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl fmt::Display for OAuthEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at `{}`", self.what, self.address)
    }
}
