//! Where Google is, and who we are to it.

use std::path::PathBuf;
use std::time::Duration;

use toolcrib_core::{Secret, Secrets};
use toolcrib_egress::is_of_this_machine;
use url::Url;

use crate::backend::{BackendError, BackendErrorKind};

/// One account, and the client that speaks for it.
#[derive(Debug, Clone)]
pub struct GoogleSettings {
    /// What the source is called, for the cure: `toolcrib login NAME`.
    pub name: String,
    /// What stands before `/users/me/calendarList`.
    pub calendar: Url,
    /// What stands before `/tasks/v1`.
    pub tasks: Url,
    /// What stands before `/gmail/v1`.
    pub gmail: Url,
    /// Where a person signs in.
    pub authorize: Url,
    /// Where tokens are given.
    pub token: Url,
    /// Of a client of the kind "desktop app", as Google's console gives it.
    pub client_id: String,
    pub client_secret: Option<Secret>,
    pub refresh: RefreshTokenLocation,
    /// For one operation, with all requests that it takes.
    pub deadline: Duration,
    /// Learns every token that is met, so that it can be masked.
    pub secrets: Secrets,
}

/// Where the refresh token is.
#[derive(Debug, Clone)]
pub enum RefreshTokenLocation {
    Token(Secret),
    /// A file that signing in writes, for its owner's eyes alone.
    File(PathBuf),
}

/// What the desk needs: events, tasks, and mail but for deleting it for ever.
pub(super) const SCOPES: &str = "https://www.googleapis.com/auth/calendar \
     https://www.googleapis.com/auth/tasks https://www.googleapis.com/auth/gmail.modify";

impl GoogleSettings {
    /// Google's own addresses, and half a minute for each operation.
    pub fn new(
        name: impl Into<String>,
        client_id: impl Into<String>,
        refresh: RefreshTokenLocation,
    ) -> Result<Self, BackendError> {
        Ok(Self {
            name: name.into(),
            calendar: fixed("https://www.googleapis.com/calendar/v3")?,
            tasks: fixed("https://tasks.googleapis.com")?,
            gmail: fixed("https://gmail.googleapis.com")?,
            authorize: fixed("https://accounts.google.com/o/oauth2/v2/auth")?,
            token: fixed("https://oauth2.googleapis.com/token")?,
            client_id: client_id.into(),
            client_secret: None,
            refresh,
            deadline: Duration::from_secs(30),
            secrets: Secrets::default(),
        })
    }

    /// Every address that tokens and passwords are sent to must be one that nobody can listen at.
    pub(super) fn check(&self) -> Result<(), BackendError> {
        let Self { calendar, tasks, gmail, authorize, token, .. } = self;
        for url in [calendar, tasks, gmail, authorize, token] {
            if url.scheme() != "https" && !is_of_this_machine(url) {
                return Err(BackendError::new(
                    BackendErrorKind::Invalid,
                    format!("`{}` must be `https`", url.origin().ascii_serialization()),
                ));
            }
        }
        if self.client_id.is_empty() {
            return Err(BackendError::new(
                BackendErrorKind::Invalid,
                "the client id of Google is empty: set it",
            ));
        }
        Ok(())
    }

    /// What a person can do where we are not let in.
    pub(super) fn cure(&self) -> String {
        format!("sign in again with `toolcrib login {}`", self.name)
    }
}

fn fixed(text: &str) -> Result<Url, BackendError> {
    Url::parse(text).map_err(|cause| {
        BackendError::new(BackendErrorKind::Broken, "an address of Google is none").because(cause)
    })
}
