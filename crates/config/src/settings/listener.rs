//! Where a server listens, and for whom.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use toolcrib_auth::AccessSettings;
use toolcrib_egress::{Network, PrivateTarget};

/// The files of TLS, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The chain, our own first.
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Where the web page is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSettings {
    /// An address of its own; `None`: that of the server.
    pub listen: Option<SocketAddr>,
    /// Whether it is at the address of the server also where others reach that.
    pub public: bool,
    /// How long the arguments and the result of a call are kept for it; `None` if the file does not
    /// say, nothing for not at all.
    pub keep: Option<Duration>,
}

/// Where a server listens, under which names, and for whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListenerSettings {
    /// `None` if the file does not say.
    pub listen: Option<SocketAddr>,
    /// Names that requests may call the server by, beside those of its address.
    pub hosts: Vec<String>,
    /// The proxies that end TLS; empty: there is none.
    pub proxies: Vec<PrivateTarget>,
    /// What is open of the private addresses to callers who are notified there.
    pub pushes: Network,
    /// `None`: no TLS of our own.
    pub tls: Option<TlsFiles>,
    /// The private key that signs the cards of agents, in PEM; `None`: nothing does.
    pub card_key: Option<PathBuf>,
    pub access: AccessSettings,
    pub page: PageSettings,
}
