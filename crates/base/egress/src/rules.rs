//! Who may be reached.

pub(crate) mod address;
pub(crate) mod network;

use std::net::IpAddr;

use url::{Host, Url};

use crate::error::EgressError;
use crate::origin::UrlOrigin;
use address::not_public;
use network::Network;

/// What one way out may reach.
#[derive(Debug)]
pub(crate) struct EgressRules {
    pub(crate) named: Vec<UrlOrigin>,
    pub(crate) reach: EgressScope,
    pub(crate) network: Network,
}

/// How far a way out goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EgressScope {
    /// The origins that the operator named, and nothing else.
    Named,
    /// Besides them every public address, and what the operator opened of the private ones.
    Public,
}

/// On whose word an origin is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OriginTrust {
    /// The operator named it, so it may be anywhere.
    Named,
    /// Somebody else did.
    Peer,
}

/// Why not. The text is for models; `detail` for the operator.
#[derive(Debug, thiserror::Error)]
#[error("`{place}` may not be reached: {why}")]
pub(crate) struct EgressRefusal {
    pub(crate) place: String,
    pub(crate) why: &'static str,
    pub(crate) detail: Option<String>,
}

const ONLY_WEB: &str = "only `http` and `https` are";
const NOT_NAMED: &str = "it is none of the origins that the configuration names";
const NOT_PUBLIC: &str =
    "it is not a public address; the operator can name it, or open it under `network.private`";
const LOCAL_NAME: &str = "its name is one for private networks; the operator can name it, or open \
                          its address under `network.private`";

/// Longest URL; the HTTP library takes no longer ones.
const LONGEST: usize = 60_000;

/// Ends of names that never lead to the public.
const LOCAL_ENDS: &[&str] =
    &["localhost", "local", "internal", "intranet", "private", "corp", "lan", "home", "home.arpa"];

/// Services of clouds that hand out credentials.
const METADATA: &[&str] =
    &["metadata", "metadata.google.internal", "metadata.goog", "instance-data", "rancher-metadata"];

/// Ports of other protocols, whose servers might take a request for a command.
const OTHER_PROTOCOLS: &[u16] = &[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
    512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
    995, 1719, 1720, 1723, 2049, 3659, 4045, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668,
    6669, 6679, 6697, 10080, 11211,
];

impl EgressRules {
    pub(crate) fn new(
        named: impl IntoIterator<Item = Url>,
        reach: EgressScope,
        network: Network,
    ) -> Result<Self, EgressError> {
        let named: Result<_, EgressRefusal> =
            named.into_iter().map(|url| plain_origin(&url)).collect();
        Ok(Self { named: named.map_err(|refusal| refusal.to_error())?, reach, network })
    }

    /// Where a URL of HTTP leads, if it may be reached as far as can be told without a lookup.
    pub(crate) fn check(&self, url: &Url) -> Result<UrlOrigin, EgressRefusal> {
        let origin = plain_origin(url)?;
        if !origin.scheme.is_web() {
            return Err(EgressRefusal::new(&origin, ONLY_WEB));
        }
        self.standing(&origin)?;
        Ok(origin)
    }

    /// The same of a URL of mail.
    pub(crate) fn check_line(&self, url: &Url) -> Result<UrlOrigin, EgressRefusal> {
        let origin = plain_origin(url)?;
        if origin.scheme.is_web() {
            return Err(EgressRefusal::new(
                &origin,
                "only `imap`, `imaps`, `smtp` and `smtps` are",
            ));
        }
        self.standing(&origin)?;
        Ok(origin)
    }

    pub(crate) fn standing(&self, origin: &UrlOrigin) -> Result<OriginTrust, EgressRefusal> {
        let refuse = |why| Err(EgressRefusal::new(origin, why));
        if self.named.contains(origin) {
            return Ok(OriginTrust::Named);
        }
        if self.reach == EgressScope::Named {
            return refuse(NOT_NAMED);
        }
        let is_other = if origin.scheme.is_web() {
            OTHER_PROTOCOLS.contains(&origin.port)
        } else {
            origin.port != origin.scheme.port()
        };
        if is_other {
            return refuse("its port belongs to another protocol");
        }
        match &origin.host {
            Host::Ipv4(address) => self.admit(origin, IpAddr::V4(*address))?,
            Host::Ipv6(address) => self.admit(origin, IpAddr::V6(*address))?,
            Host::Domain(name) => self.admit_name(origin, name)?,
        }
        Ok(OriginTrust::Peer)
    }

    /// Whether an address that a peer's origin leads to may be reached.
    pub(crate) fn admit(&self, origin: &UrlOrigin, address: IpAddr) -> Result<(), EgressRefusal> {
        let Some(what) = not_public(address) else { return Ok(()) };
        let opened = |address| {
            self.network.private.iter().any(|target| target.contains(address, origin.port))
        };
        if opened(address) || opened(address.to_canonical()) {
            return Ok(());
        }
        let detail = format!("`{origin}` leads to {address}, which is {what}");
        Err(EgressRefusal { detail: Some(detail), ..EgressRefusal::new(origin, NOT_PUBLIC) })
    }

    fn admit_name(&self, origin: &UrlOrigin, name: &str) -> Result<(), EgressRefusal> {
        let refuse = |why| Err(EgressRefusal::new(origin, why));
        // With a dot at its end a name is the same to a resolver, but not to a list of names.
        if name.is_empty() || name.ends_with('.') {
            return refuse("its name ends in a dot; write it without");
        }
        if METADATA.contains(&name) {
            return refuse("it hands out a machine's credentials");
        }
        // Where something private is open, the addresses decide.
        if self.network.private.is_empty() && is_local_name(name) {
            return refuse(LOCAL_NAME);
        }
        Ok(())
    }
}

/// Whether a URL may lead to the public internet, by what it says: a name may still lead elsewhere.
/// With a dot at its end a name is the same to a resolver.
pub fn is_public_by_looks(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => not_public(address.into()).is_none(),
        Some(Host::Ipv6(address)) => not_public(address.into()).is_none(),
        // Of schemes that are none of the web a number is a name too.
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            match name.parse::<IpAddr>() {
                Ok(address) => not_public(address).is_none(),
                Err(_) => name.contains('.') && !METADATA.contains(&name) && !is_local_name(name),
            }
        }
        None => url.scheme() != "file",
    }
}

/// Whether a name, without a dot at its end, is one for private networks.
fn is_local_name(name: &str) -> bool {
    let ends = |end: &&str| {
        name.strip_suffix(*end).is_some_and(|front| front.is_empty() || front.ends_with('.'))
    };
    LOCAL_ENDS.iter().any(ends)
}

impl EgressRefusal {
    fn new(place: &UrlOrigin, why: &'static str) -> Self {
        Self { place: place.to_string(), why, detail: None }
    }

    pub(crate) fn to_error(&self) -> EgressError {
        let error = EgressError::refused(self.to_string());
        match &self.detail {
            Some(detail) => error.because(detail.clone()),
            None => error,
        }
    }
}

/// The origin of a URL that is nothing but an address of ours to reach.
fn plain_origin(url: &Url) -> Result<UrlOrigin, EgressRefusal> {
    let place = || {
        let host = url.host_str().unwrap_or_default();
        format!("{}://{host}", url.scheme()).chars().take(200).collect()
    };
    let refuse = |why| EgressRefusal { place: place(), why, detail: None };
    let origin = UrlOrigin::of(url).ok_or_else(|| refuse(ONLY_WEB))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse("it carries a name or password; put it into a header"));
    }
    if origin.port == 0 {
        return Err(refuse("there is no port 0"));
    }
    if url.as_str().len() > LONGEST {
        return Err(refuse("it is longer than 60000 bytes"));
    }
    Ok(origin)
}
