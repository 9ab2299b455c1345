//! A server of CalDAV (RFC 4791) as calendar and tasks.
//!
//! Read in this order: [`CalDavSettings`], [`CalDavBackend`], `discovery` (where the calendars
//! are), `objects` (one object read and written), `calendar` and `tasks` (what the tools ask for),
//! `wire` (one request), `xml` (what comes back).
//!
//! Everything goes to the origin that the settings name, and to no other, whatever an answer says:
//! every request carries the password.

mod account;
mod calendar;
mod client;
mod collection;
mod discovery;
mod objects;
mod tasks;
mod xml;

use std::time::Duration;

use tokio::sync::{Mutex, OnceCell};
use toolcrib_core::Secret;
use toolcrib_egress::{Egress, Network};
use url::Url;

pub use self::xml::{XmlElement, XmlError};
use crate::backend::{BackendError, BackendErrorKind};
use crate::owner::CalendarOwner;
use account::{CalDavAccountInfo, CollectionCache};
use client::CalDavClient;

/// What an operator says about an account.
#[derive(Debug, Clone)]
pub struct CalDavSettings {
    /// The server (`https://dav.example.org/`), the calendar home of the account, or one calendar.
    pub url: Url,
    pub user: String,
    pub password: Secret,
    pub home: CalendarOwner,
    /// How long one request may take.
    pub timeout: Duration,
    /// Largest answer that is read, in bytes.
    pub max_response_bytes: u64,
}

impl CalDavSettings {
    pub fn new(url: Url, user: impl Into<String>, password: Secret, home: CalendarOwner) -> Self {
        Self {
            url,
            user: user.into(),
            password,
            home,
            timeout: Duration::from_secs(30),
            max_response_bytes: 32 * 1024 * 1024,
        }
    }
}

/// An account at a server. Nothing is asked of the server before somebody asks something of it.
pub struct CalDavBackend {
    wire: CalDavClient,
    url: Url,
    home: CalendarOwner,
    account: OnceCell<CalDavAccountInfo>,
    known: Mutex<Option<CollectionCache>>,
}

impl CalDavBackend {
    /// Refuses settings that no request can be made of.
    pub fn open(settings: CalDavSettings) -> Result<Self, BackendError> {
        let CalDavSettings { url, user, password, mut home, timeout, max_response_bytes } =
            settings;
        let refused = |message: &str| BackendError::new(BackendErrorKind::Invalid, message);
        if user.contains(':') {
            return Err(refused("a name with a colon cannot sign in at a server of CalDAV"));
        }
        let egress = Egress::only([url.clone()], Network::default())
            .map_err(|error| refused(error.message()).because(error))?;
        if user.contains('@') && !home.is_own(&user) {
            home.addresses.push(user.clone());
        }
        let wire = CalDavClient::new(egress, &user, &password, timeout, max_response_bytes)?;
        Ok(Self { wire, url, home, account: OnceCell::new(), known: Mutex::new(None) })
    }
}
