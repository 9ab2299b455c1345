//! What one replica asks of another: to answer a request about something that lives there.
//!
//! Read in this order: `envelope` (what is sent, and its mark), `stamps` (once, and in time), `frames`
//! (the answer, and the signs of life before it), `edge` (who forwards), `home` (who answers).
//!
//! Who asks was found out where the client came in, and stands in the envelope; what the client
//! presented does not. A request is forwarded once at the most.

pub(crate) mod edge;
pub(crate) mod envelope;
mod frames;
pub(crate) mod home;
mod stamps;

use std::time::Duration;

use toolcrib_auth::ClusterKey;
use toolcrib_config::ClusterSettings;

use stamps::StampBook;

/// Begins the name of each replica, and does not stand in the names that clients get.
const REPLICA: &str = "r_";

/// What the key is for by which replicas know each other.
const FORWARDS: &str = "forwards between replicas";

/// Where a stamp is had, and where it is used.
const STAMP: &str = "/stamp";
const FORWARD: &str = "/forward";

/// Whoever waits for a replica that was stopped had better come again than wait on.
const LONGEST_SILENCE: Duration = Duration::from_secs(3);

/// What this replica needs to be asked by the others, and to ask them.
pub(crate) struct ReplicaDoor {
    key: ClusterKey,
    stamps: StampBook,
    times: ForwardTimes,
}

/// How long is waited for whom. All of it is shorter than a lease.
#[derive(Debug, Clone, Copy)]
struct ForwardTimes {
    /// For so long a stamp is good.
    stamp: Duration,
    /// For so long whoever answers may be silent: longer than a stamp is good, so that nothing is
    /// begun that nobody waits for any more.
    silence: Duration,
    /// How often it says that it is still there.
    sign: Duration,
}

impl ReplicaDoor {
    pub(crate) fn new(own: &ClusterSettings) -> Self {
        let silence = (own.lease / 2).min(LONGEST_SILENCE);
        let times = ForwardTimes { stamp: silence * 2 / 3, silence, sign: silence / 6 };
        let key = ClusterKey::new(&own.secret, FORWARDS).opening(own.opens.as_ref(), FORWARDS);
        Self { key, stamps: StampBook::new(times.stamp), times }
    }
}

/// The name that stands in what clients get.
pub(crate) fn home_of(replica: &str) -> &str {
    replica.strip_prefix(REPLICA).unwrap_or(replica)
}

/// The name of the replica behind it.
pub(crate) fn replica_of(home: &str) -> String {
    format!("{REPLICA}{home}")
}
