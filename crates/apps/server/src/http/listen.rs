//! Takes connections and serves each: TLS, limits per peer, timers and the answer when there is no
//! room.
pub(crate) mod accept;
mod connection;
mod header_timer;
pub(crate) mod overload;
pub(crate) mod peers;
mod spare_descriptor;
pub(crate) mod tls;
pub(crate) mod workers;
mod write_timeout;
