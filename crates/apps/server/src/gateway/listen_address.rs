//! Where `serve` listens: at an address of its own, or with the socket that whoever starts it hands
//! over.
//!
//! A socket that is handed over outlives us. While one server ends and the next one starts, whoever
//! connects waits in its queue and is not refused: that is how systemd restarts a service
//! (<https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html>).

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener as StandardListener};

use anyhow::{Context as _, Error, Result, anyhow, bail};
use tokio::net::TcpListener;
use toolcrib_config::ListenerSettings;

use crate::http::listen::accept;

/// Where to listen if nobody says.
pub(crate) const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7411);

/// A socket that listens already, and was handed over by whoever starts us.
pub(crate) type HandedSocket = StandardListener;

/// What whoever starts a server wants of its address, beside the file.
#[derive(Debug, Clone)]
pub(crate) struct ListenWishes {
    pub(crate) listen: Option<SocketAddr>,
    /// Further names that requests may call the server by.
    pub(crate) hosts: Vec<String>,
    /// Nobody is asked for a token.
    pub(crate) insecure_local: bool,
    /// A proxy that ends TLS stands before it.
    pub(crate) behind_proxy: bool,
    /// How another address is named.
    pub(crate) elsewhere: &'static str,
    /// In which words it is told that an address may not be served.
    pub(crate) told: fn(ExposedAddress) -> Error,
}

/// An address that others can reach, and what is missing before it may be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{address} is open to others, and {lack}")]
pub struct ExposedAddress {
    pub address: SocketAddr,
    pub lack: ExposureProblem,
}

/// What an address that others can reach is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExposureProblem {
    #[error("nobody would be asked for a token: listen on 127.0.0.1, or give out tokens")]
    AsksNobody,
    #[error(
        "tokens would come in the clear: name a certificate under `[server.tls]`, or the proxy \
         that ends TLS before it as `behind_proxy` under `[server]`"
    )]
    InTheClear,
    #[error("no names are said by which it is reached: list them as `hosts` under `[server]`")]
    Nameless,
    #[error(
        "the configuration says of nobody that they may come in: add a `[[server.key]]` or an \
         issuer"
    )]
    AdmitsNobody,
}

/// An address at which this server may listen.
pub(crate) struct ListenAddress {
    address: SocketAddr,
    /// The socket that listens there already, for us.
    handed: Option<HandedSocket>,
    /// How another address is named.
    elsewhere: &'static str,
}

impl ListenAddress {
    /// That of a socket that was handed over, else the one that is named.
    pub(crate) fn of(
        handed: Option<HandedSocket>,
        wishes: &ListenWishes,
        front: &ListenerSettings,
    ) -> Result<Self> {
        let address = match (&handed, wishes.listen) {
            (Some(handed), None) => handed.local_addr()?,
            (None, named) => named.or(front.listen).unwrap_or(LISTEN),
            (Some(handed), Some(named)) => bail!(
                "a socket at {} was handed over (`LISTEN_FDS`), and `--listen` names {named}: leave \
                 one of them out",
                handed.local_addr()?
            ),
        };
        admit(address, wishes, front)?;
        Ok(Self { address, handed, elsewhere: wishes.elsewhere })
    }

    /// That of the page, if it has one of its own.
    pub(crate) fn of_page(wishes: &ListenWishes, front: &ListenerSettings) -> Result<Option<Self>> {
        let Some(address) = front.page.listen else { return Ok(None) };
        admit(address, wishes, front).context("the page cannot listen at `page.listen`")?;
        Ok(Some(Self { address, handed: None, elsewhere: wishes.elsewhere }))
    }

    /// Fails where a file has us listen where we may not, or cannot; that another program listens
    /// there already is no fault of it.
    pub(crate) fn try_out(wishes: &ListenWishes, front: &ListenerSettings) -> Result<()> {
        let address = wishes.listen.or(front.listen).unwrap_or(LISTEN);
        admit(address, wishes, front)?;
        bindable(address, wishes.elsewhere)?;
        let page = Self::of_page(wishes, front)?;
        page.map_or(Ok(()), |page| bindable(page.address, page.elsewhere))
    }

    pub(crate) fn begin(self) -> Result<TcpListener> {
        let Self { address, handed, elsewhere } = self;
        let Some(handed) = handed else {
            return accept::listen(address).map_err(|error| unheard(address, elsewhere, error));
        };
        let taken = handed.set_nonblocking(true).and_then(|()| TcpListener::from_std(handed));
        taken.context("cannot take connections from the socket that was handed over")
    }

    /// What keeps a server from starting, which may be one that listens there already.
    pub(crate) fn beside(&self, error: Error) -> Error {
        let Self { address, elsewhere, .. } = self;
        if self.handed.is_some() {
            return error;
        }
        match StandardListener::bind(address) {
            Err(taken) if taken.kind() == ErrorKind::AddrInUse => error.context(format!(
                "a server listens on {address} already, and this one cannot start beside it: use \
                 that one, or {elsewhere}, and another record"
            )),
            Ok(_) | Err(_) => error,
        }
    }
}

/// Fails where nobody can listen; another program that does is no fault.
fn bindable(address: SocketAddr, elsewhere: &str) -> Result<()> {
    match accept::bound(address).map(drop) {
        Err(error) if error.kind() != ErrorKind::AddrInUse => {
            Err(unheard(address, elsewhere, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether we may listen there: beyond this machine only behind TLS, under names, and for those
/// whom the file names.
fn admit(address: SocketAddr, wishes: &ListenWishes, front: &ListenerSettings) -> Result<()> {
    let is_clear = !wishes.behind_proxy && front.proxies.is_empty() && front.tls.is_none();
    let lack = if address.ip().is_loopback() {
        return Ok(());
    } else if wishes.insecure_local {
        ExposureProblem::AsksNobody
    } else if is_clear {
        ExposureProblem::InTheClear
    } else if wishes.hosts.is_empty() && front.hosts.is_empty() {
        ExposureProblem::Nameless
    } else if front.access.is_empty() {
        ExposureProblem::AdmitsNobody
    } else {
        return Ok(());
    };
    Err((wishes.told)(ExposedAddress { address, lack }))
}

/// Why nobody can be heard there.
fn unheard(address: SocketAddr, elsewhere: &str, error: std::io::Error) -> Error {
    let told = if error.kind() == ErrorKind::AddrInUse {
        format!("another program listens on {address}: {elsewhere}")
    } else {
        format!("cannot listen on {address}: {elsewhere}")
    };
    anyhow!(error).context(told)
}
