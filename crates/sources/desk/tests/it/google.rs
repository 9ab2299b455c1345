//! Google's backend against a server that holds every request to Google's own documents.

mod calendar;
mod faults;
mod following;
mod mail;
mod sign_in;
mod tasks;

use std::time::Duration;

use jiff::Zoned;
use toolcrib_core::Secret;
use toolcrib_desk::backend::{BackendError, BackendErrorKind, EventSlot, Person};
use toolcrib_desk::google::{GoogleBackend, GoogleSettings, RefreshTokenLocation};
use toolcrib_testkit::google::{CLIENT, CLIENT_SECRET, GoogleServer, OWNER, REFRESH_TOKEN};

/// A server, and the account at it.
pub(crate) struct Account {
    pub(crate) server: GoogleServer,
    pub(crate) google: GoogleBackend,
    settings: GoogleSettings,
}

fn settings(server: &GoogleServer, refresh: RefreshTokenLocation) -> GoogleSettings {
    let url = |text: String| text.parse().unwrap();
    GoogleSettings {
        calendar: url(server.calendar()),
        tasks: url(server.base()),
        gmail: url(server.base()),
        authorize: url(server.authorize()),
        token: url(server.token()),
        client_secret: Some(Secret::new(CLIENT_SECRET)),
        deadline: Duration::from_secs(20),
        ..GoogleSettings::new("desk", CLIENT, refresh).unwrap()
    }
}

impl Account {
    pub(crate) fn open() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut GoogleSettings)) -> Self {
        let server = GoogleServer::start().unwrap();
        let mut settings =
            settings(&server, RefreshTokenLocation::Token(Secret::new(REFRESH_TOKEN)));
        change(&mut settings);
        let google = GoogleBackend::new(settings.clone()).unwrap();
        Self { server, google, settings }
    }

    /// Ends a test: all that was said followed the documents.
    pub(crate) fn close(self) {
        assert_eq!(self.server.violations(), Vec::<String>::new());
    }
}

fn kind<T: std::fmt::Debug>(result: Result<T, BackendError>) -> BackendErrorKind {
    result.unwrap_err().kind
}

/// A time in Zurich: `2026-11-23 09:00`.
fn at(time: &str) -> Zoned {
    let time: jiff::civil::DateTime = time.parse().unwrap();
    time.in_tz("Europe/Zurich").unwrap()
}

fn timed(start: &str, end: &str) -> EventSlot {
    EventSlot::Timed { start: at(start), end: at(end) }
}

fn days(first: &str, last: &str) -> EventSlot {
    EventSlot::Days { first: first.parse().unwrap(), last: last.parse().unwrap() }
}

fn person(address: &str) -> Person {
    Person { address: address.to_owned(), name: None }
}
