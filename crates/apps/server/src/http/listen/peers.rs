//! How many connections each peer holds, so that none takes all of them before anybody is asked who
//! it is.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;

/// Of the peers that have as many as they may have, so many connections each are told so; others
/// are hung up on, as those who are told use room too.
const TOLD: usize = 4;
/// A peer has a part of all connections where nothing else is said.
const SHARES: usize = 4;

pub(crate) struct PeerLimits {
    /// Connections of one peer.
    most: usize,
    /// Whether this machine is bounded as well.
    all: bool,
    now: Mutex<HashMap<IpAddr, usize, RandomState>>,
}

/// What becomes of a connection.
pub(crate) enum PeerAdmission {
    In(PeerPermit),
    /// To be told that its peer has as many as it may have.
    TooMany(PeerPermit),
    /// Its peer was told so.
    Away,
}

/// A connection that counts until this is dropped; `None`: it does not.
pub(crate) struct PeerPermit(Option<(Arc<PeerLimits>, IpAddr)>);

impl PeerLimits {
    /// `wished`: of one peer; `None`: a part of `most`, and for this machine all.
    pub(crate) fn new(wished: Option<usize>, most: usize) -> Self {
        let of_one = wished.unwrap_or(most / SHARES).max(1);
        Self { most: of_one, all: wished.is_some(), now: Mutex::default() }
    }

    pub(crate) fn comes(self: &Arc<Self>, peer: IpAddr) -> PeerAdmission {
        let peer = network(peer);
        if peer.is_loopback() && !self.all {
            return PeerAdmission::In(PeerPermit(None));
        }
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let own = now.get(&peer).copied().unwrap_or_default();
        if own >= self.most + TOLD {
            return PeerAdmission::Away;
        }
        now.insert(peer, own + 1);
        let held = PeerPermit(Some((Arc::clone(self), peer)));
        if own < self.most { PeerAdmission::In(held) } else { PeerAdmission::TooMany(held) }
    }
}

impl PeerPermit {
    /// Of a peer for which nothing is counted.
    pub(crate) fn uncounted() -> Self {
        Self(None)
    }
}

/// Who has one address of IPv6 has a network of them.
pub(crate) fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6((address.to_bits() & (u128::MAX << 64)).into())
        }
        other @ (IpAddr::V4(_) | IpAddr::V6(_)) => other,
    }
}

impl Drop for PeerPermit {
    fn drop(&mut self) {
        let Some((peers, peer)) = &self.0 else { return };
        let mut now = peers.now.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = now.get_mut(peer) {
            *count -= 1;
            if *count == 0 {
                now.remove(peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(peers: &Arc<PeerLimits>, addresses: &[&str]) -> Vec<&'static str> {
        let comes = |address: &&str| peers.comes(address.parse().unwrap());
        let all: Vec<_> = addresses.iter().map(comes).collect();
        let word = |comes: &PeerAdmission| match comes {
            PeerAdmission::In(_) => "in",
            PeerAdmission::TooMany(_) => "told",
            PeerAdmission::Away => "away",
        };
        all.iter().map(word).collect()
    }

    #[test]
    fn a_peer_from_elsewhere_has_a_part_and_this_machine_all() {
        let peers = Arc::new(PeerLimits::new(None, 8));
        let far = ["10.0.0.1"; 7];
        assert_eq!(words(&peers, &far), ["in", "in", "told", "told", "told", "told", "away"]);
        // All of them are gone, and the way they are written is no other peer.
        assert_eq!(
            words(&peers, &["::ffff:10.0.0.1", "10.0.0.1", "10.0.0.1"]),
            ["in", "in", "told"]
        );
        assert_eq!(
            words(&peers, &["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"]),
            ["in", "in", "told", "in"]
        );
        assert_eq!(words(&peers, &["127.0.0.1"; 9]), ["in"; 9]);
        assert_eq!(words(&peers, &["::1"; 9]), ["in"; 9]);
    }
}
