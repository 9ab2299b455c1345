//! Where `serve` listens: at an address of its own, or with the socket that whoever starts it hands
//! over.
//!
//! A socket that is handed over outlives us. While one server ends and the next one starts, whoever
//! connects waits in its queue and is not refused: that is how systemd restarts a service
//! (<https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html>).

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener as Handed};

use anyhow::{Context, Error, Result, anyhow, bail};
use tokio::net::TcpListener;
use toolcrib_config::ListenerSettings;

use crate::cli::args::ServeArgs;
use crate::http::listen::accept;

/// Where to listen if nobody says.
pub(crate) const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7411);

/// An address at which this server may listen.
pub(super) struct ListenAddress {
    address: SocketAddr,
    /// The socket that listens there already, for us.
    handed: Option<Handed>,
}

impl ListenAddress {
    /// That of a socket that was handed over, else the one that is named.
    pub(super) fn of(words: &ServeArgs, front: &ListenerSettings) -> Result<Self> {
        let handed = handed()?;
        let address = match (&handed, words.listen) {
            (Some(handed), None) => handed.local_addr()?,
            (None, named) => named.or(front.listen).unwrap_or(LISTEN),
            (Some(handed), Some(named)) => bail!(
                "a socket at {} was handed over (`LISTEN_FDS`), and `--listen` names {named}: leave \
                 one of them out",
                handed.local_addr()?
            ),
        };
        admit(address, words, front)?;
        Ok(Self { address, handed })
    }

    /// That of the page, if it has one of its own.
    pub(super) fn of_page(words: &ServeArgs, front: &ListenerSettings) -> Result<Option<Self>> {
        let Some(address) = front.page.listen else { return Ok(None) };
        admit(address, words, front).context("the page cannot listen at `page.listen`")?;
        Ok(Some(Self { address, handed: None }))
    }

    /// Fails where a file has us listen where we may not, or cannot; that another program listens
    /// there already is no fault of it.
    pub(super) fn try_out(words: &ServeArgs, front: &ListenerSettings) -> Result<()> {
        let address = words.listen.or(front.listen).unwrap_or(LISTEN);
        admit(address, words, front)?;
        bindable(address)?;
        let page = Self::of_page(words, front)?;
        page.map_or(Ok(()), |page| bindable(page.address))
    }

    pub(super) fn begin(self) -> Result<TcpListener> {
        let Self { address, handed } = self;
        let Some(handed) = handed else {
            return accept::listen(address).map_err(|error| unheard(address, error));
        };
        let taken = handed.set_nonblocking(true).and_then(|()| TcpListener::from_std(handed));
        taken.context("cannot take connections from the socket that was handed over")
    }

    /// What keeps a server from starting, which may be one that listens there already.
    pub(super) fn beside(&self, error: Error) -> Error {
        let address = self.address;
        if self.handed.is_some() {
            return error;
        }
        match Handed::bind(address) {
            Err(taken) if taken.kind() == ErrorKind::AddrInUse => error.context(format!(
                "a server listens on {address} already, and this one cannot start beside it: use \
                 that one, or name another address with `--listen`, and another record"
            )),
            Ok(_) | Err(_) => error,
        }
    }
}

/// Fails where nobody can listen; another program that does is no fault.
fn bindable(address: SocketAddr) -> Result<()> {
    match accept::bound(address).map(drop) {
        Err(error) if error.kind() != ErrorKind::AddrInUse => Err(unheard(address, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The socket that whoever started us handed over, if anybody did.
#[cfg(unix)]
fn handed() -> Result<Option<Handed>> {
    let mut all = listenfd::ListenFd::from_env();
    if all.len() > 1 {
        bail!(
            "{} sockets were handed over (`LISTEN_FDS`), and one is served: hand over one",
            all.len()
        );
    }
    let wrong = "what was handed over (`LISTEN_FDS`) cannot be listened to: hand over a TCP socket \
                 that listens";
    let Some(handed) = all.take_tcp_listener(0).context(wrong)? else { return Ok(None) };
    if !rustix::net::sockopt::socket_acceptconn(&handed).context(wrong)? {
        bail!(wrong);
    }
    Ok(Some(handed))
}

#[cfg(not(unix))]
fn handed() -> Result<Option<Handed>> {
    Ok(None)
}

/// Whether we may listen there: beyond this machine only behind TLS, under names, and for those
/// whom the file names.
fn admit(address: SocketAddr, words: &ServeArgs, front: &ListenerSettings) -> Result<()> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    if words.insecure_local {
        bail!(
            "`--insecure-local` asks nobody for a token, and {address} is open to others: leave \
             the option out, or listen on 127.0.0.1"
        );
    }
    if !words.behind_proxy && front.proxies.is_empty() && front.tls.is_none() {
        bail!(
            "{address} is open to others, and tokens would come in the clear: name `certificate` \
             and `key` under `[server.tls]`; or put a proxy that ends TLS before it and say \
             `--behind-proxy`, or name it as `behind_proxy` under `[server]`; or listen on \
             127.0.0.1"
        );
    }
    if words.host.is_empty() && front.hosts.is_empty() {
        bail!(
            "{address} is open to others: say with `--host NAME`, or with `hosts` under \
             `[server]`, by which names it is reached"
        );
    }
    if front.access.is_empty() {
        bail!(
            "{address} is open to others, and the configuration says of nobody that they may come \
             in: make a key with `toolcrib token NAME --key` and put its lines there as \
             `[[server.key]]`; or listen on 127.0.0.1"
        );
    }
    Ok(())
}

/// Why nobody can be heard there.
fn unheard(address: SocketAddr, error: std::io::Error) -> Error {
    let told = if error.kind() == ErrorKind::AddrInUse {
        format!("another program listens on {address}: name another address with `--listen`")
    } else {
        format!("cannot listen on {address}: name another address with `--listen`")
    };
    anyhow!(error).context(told)
}
