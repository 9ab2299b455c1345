//! Which private addresses an operator has opened.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Private targets that may be reached although nobody named them by their URL. Public addresses
/// need no entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Network {
    pub private: Vec<PrivateTarget>,
}

/// `10.0.0.0/8`, `127.0.0.1`, or either with a port: `127.0.0.1:8080`, `[::1]:8080`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrivateTarget {
    pub address: IpAddr,
    /// Leading bits that count.
    pub bits: u8,
    pub port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address: write it as `10.0.0.0/8`, `127.0.0.1` or `127.0.0.1:8080`")]
pub struct NotANetwork(String);

impl PrivateTarget {
    pub fn contains(&self, address: IpAddr, port: u16) -> bool {
        if self.port.is_some_and(|own| own != port) {
            return false;
        }
        let differs = |own: u128, other: u128, width: u32| {
            let kept = width.saturating_sub(u32::from(self.bits));
            // A shift by the whole width is no shift in Rust but an error.
            (own ^ other).checked_shr(kept).unwrap_or(0) != 0
        };
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                !differs(own.to_bits().into(), other.to_bits().into(), 32)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => !differs(own.to_bits(), other.to_bits(), 128),
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for PrivateTarget {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let wrong = || NotANetwork(text.chars().take(60).collect());
        if let Ok(socket) = text.parse::<std::net::SocketAddr>() {
            let bits = if socket.is_ipv4() { 32 } else { 128 };
            return Ok(Self { address: socket.ip(), bits, port: Some(socket.port()) });
        }
        let (address, bits) = text.split_once('/').map_or((text, None), |(a, b)| (a, Some(b)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(width), |bits| bits.parse().map_err(|_| wrong()))?;
        if bits > width {
            return Err(wrong());
        }
        Ok(Self { address, bits, port: None })
    }
}

impl fmt::Display for PrivateTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)?;
        self.port.map_or(Ok(()), |port| write!(f, " port {port}"))
    }
}
