//! The page of a server: where it is, and whose it is.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use http::{HeaderMap, HeaderValue, header};
use tokio::net::TcpListener;
use toolcrib_config::ListenerSettings;
use toolcrib_core::Secret;

use super::listen_address::{ListenAddress, ListenWishes};
use crate::config::servers;
use crate::http::page::door::{PageAddress, PageDoor};
use crate::http::pipeline::host_check::HostNames;

/// The page, and the listener that it has of its own.
pub(crate) struct PageListener {
    door: PageDoor,
    /// And whether its connections are encrypted.
    own: Option<(TcpListener, bool)>,
    /// Nobody comes to the server from beyond this machine.
    is_of_one_person: bool,
}

/// How long a page of one person shows what calls were about.
const KEEP: Duration = Duration::from_mins(15);

impl PageListener {
    /// `doors`: where all doors are. `own`: the address of its own.
    pub(crate) fn begin(
        doors: &TcpListener,
        own: Option<ListenAddress>,
        wishes: &ListenWishes,
        front: &ListenerSettings,
    ) -> Result<Self> {
        let hosts = [wishes.hosts.as_slice(), front.hosts.as_slice()].concat();
        let is_behind_proxy = wishes.behind_proxy || !front.proxies.is_empty();
        if let Some(own) = own {
            let own = own.begin().context("the page cannot listen at `page.listen`")?;
            let bound = own.local_addr()?;
            let names = Some(HostNames::new(bound, &hosts));
            let takes_tls = front.tls.is_some() && !bound.ip().is_loopback();
            let is_https = takes_tls || (is_behind_proxy && !bound.ip().is_loopback());
            let shown = shown(bound, &hosts);
            let door = PageDoor::new(Some(PageAddress { bound, shown, own: names, is_https }));
            let is_of_one_person = false;
            return Ok(Self { door, own: Some((own, takes_tls)), is_of_one_person });
        }
        let bound = doors.local_addr()?;
        let is_alone = bound.ip().is_loopback() && !is_behind_proxy;
        let is_https = front.tls.is_some() || is_behind_proxy;
        let shown = shown(bound, &hosts);
        let address = PageAddress { bound, shown, own: None, is_https };
        let address = Some(address).filter(|_| is_alone || front.page.public);
        Ok(Self { door: PageDoor::new(address), own: None, is_of_one_person: is_alone })
    }

    /// How long it may show what calls were about: not at all where others than the person at the
    /// machine may come in, unless the file says so.
    pub(crate) fn keep(&self, front: &ListenerSettings) -> Duration {
        let usual =
            if self.is_of_one_person && front.access.is_empty() { KEEP } else { Duration::ZERO };
        front.page.keep.unwrap_or(usual)
    }

    pub(crate) fn split(self) -> (PageDoor, Option<(TcpListener, bool)>) {
        (self.door, self.own)
    }
}

/// The address of the page with a code that signs one browser in, as the caller of a token; `None`:
/// there is no page, or the token is no text.
pub(crate) fn sign_in_link(page: &PageDoor, token: &Secret) -> Option<String> {
    let host = page.shown()?;
    let mut token = HeaderValue::from_str(&format!("Bearer {}", token.expose())).ok()?;
    token.set_sensitive(true);
    let grant: HeaderMap = [(header::AUTHORIZATION, token)].into_iter().collect();
    let code = page.sessions.code(Arc::new(grant), Instant::now());
    Some(page.link(host, &code))
}

/// Host and port as a person types them: an address of this machine, else a name of it.
fn shown(bound: SocketAddr, hosts: &[String]) -> String {
    let near = servers::near(bound);
    match hosts.first() {
        Some(name) if !bound.ip().is_loopback() && !name.contains(':') => {
            format!("{name}:{}", bound.port())
        }
        Some(name) if !bound.ip().is_loopback() => name.clone(),
        Some(_) | None => near.to_string(),
    }
}
