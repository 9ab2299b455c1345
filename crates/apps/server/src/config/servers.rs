//! The servers of this user that run, by where they listen: whoever else listens there is not given
//! this user's token.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::registry::{self, RegistryEntry};

const KIND: &str = "servers";

#[derive(Serialize, Deserialize)]
struct ServerInstanceRecord {
    process: u32,
    address: SocketAddr,
}

/// Says where this process listens.
pub(crate) fn name(address: SocketAddr) -> Result<RegistryEntry> {
    registry::name(
        KIND,
        &ServerInstanceRecord { process: std::process::id(), address: near(address) },
    )
}

/// Where those listen that live.
pub(crate) fn all() -> Vec<SocketAddr> {
    let all: Vec<ServerInstanceRecord> = registry::all(KIND);
    let mut addresses: Vec<_> = all.into_iter().map(|server| server.address).collect();
    addresses.sort();
    addresses.dedup();
    addresses
}

/// Whether one that lives listens there.
pub(crate) fn listens(address: SocketAddr) -> bool {
    all().contains(&near(address))
}

/// Where all addresses of a machine are listened on, its own is among them.
pub(crate) fn near(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    address
}
