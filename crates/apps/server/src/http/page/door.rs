//! Where the page is: at the listener of all doors, at one of its own, or nowhere.

use std::net::{IpAddr, SocketAddr};

use jiff::Timestamp;
use uuid::Uuid;

use super::events::expiries::TicketExpiries;
use super::sessions::SessionBook;
use crate::http::pipeline::host_check::HostNames;

/// Which listener a connection came in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListenerKind {
    /// That of all doors.
    Doors,
    /// That of the page alone.
    Page,
}

/// From where a request came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    pub(crate) peer: IpAddr,
    pub(crate) listener: ListenerKind,
}

impl Visit {
    pub(crate) fn of(peer: SocketAddr, listener: ListenerKind) -> Self {
        Self { peer: peer.ip(), listener }
    }
}

/// Where browsers find the page.
pub(crate) struct PageAddress {
    pub(crate) bound: SocketAddr,
    /// Host and port as a person types them.
    pub(crate) shown: String,
    /// The names of its own listener; `None`: it is at that of all doors.
    pub(crate) own: Option<HostNames>,
    /// Whether browsers come over TLS, be it ours or that of a proxy.
    pub(crate) is_https: bool,
}

pub(crate) struct PageDoor {
    /// `None`: there is no page.
    address: Option<PageAddress>,
    pub(crate) sessions: SessionBook,
    pub(crate) expiries: TicketExpiries,
    pub(crate) started: Timestamp,
    /// Another one with each start.
    pub(crate) epoch: String,
}

impl PageDoor {
    pub(crate) fn new(address: Option<PageAddress>) -> Self {
        Self {
            address,
            sessions: SessionBook::default(),
            expiries: TicketExpiries::default(),
            started: Timestamp::now(),
            epoch: Uuid::new_v4().simple().to_string(),
        }
    }

    /// Whether the page is at this listener.
    pub(crate) fn is_at(&self, listener: ListenerKind) -> bool {
        self.address
            .as_ref()
            .is_some_and(|address| (listener == ListenerKind::Page) == address.own.is_some())
    }

    /// The names of a listener of its own.
    pub(crate) fn names(&self) -> Option<&HostNames> {
        self.address.as_ref()?.own.as_ref()
    }

    /// What browsers put before the name of the server.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.is_https() { "https" } else { "http" }
    }

    /// A browser sends the cookies of a host to all of its ports, so each has a name of its own.
    pub(crate) fn cookie(&self) -> String {
        let port = self.address.as_ref().map_or(0, |address| address.bound.port());
        let prefix = if self.is_https() { "__Host-" } else { "" };
        format!("{prefix}toolcrib_{port}")
    }

    pub(crate) fn is_https(&self) -> bool {
        self.address.as_ref().is_some_and(|address| address.is_https)
    }

    /// The address of the page with a code that signs one browser in. The code stands where no
    /// server, proxy or log sees it.
    pub(crate) fn link(&self, host: &str, code: &str) -> String {
        format!("{}://{host}/#login={code}", self.scheme())
    }

    /// Whether it is bound to this machine alone.
    pub(crate) fn is_near(&self) -> bool {
        self.address.as_ref().is_none_or(|address| address.bound.ip().is_loopback())
    }

    /// Host and port as a person types them; `None`: there is no page.
    pub(crate) fn shown(&self) -> Option<&str> {
        self.address.as_ref().map(|address| address.shown.as_str())
    }
}
