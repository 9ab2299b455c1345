//! The only way out to the network: guarded, bounded, without redirects.
//!
//! Read in this order: [`Egress`], [`Request`], [`Response`], [`EgressError`], then `rules` (who
//! may be reached), `address` (what is public) and `connect` (the judge before each connection).
//!
//! Mail is no HTTP: a [`Line`] is a bare connection, judged as a request is.
//!
//! No other crate names an HTTP client. A URL is judged twice: as it is written, and by every
//! address its name leads to at the moment of connecting; what was judged is what is connected to.

mod address;
mod callback;
mod connect;
mod egress;
mod error;
mod lane;
mod line;
mod lookup;
mod network;
mod origin;
mod request;
mod response;
mod route;
mod rules;
#[cfg(test)]
mod tests;
mod tls;
mod unpack;

pub use address::{is_of_this_machine, not_public};
pub use callback::{Callback, Visit};
pub use egress::Egress;
pub use error::{EgressError, Kind, Phase};
pub use line::Line;
pub use lookup::{Looking, Lookup, SystemLookup};
pub use network::{Network, NotANetwork, Target};
pub use request::{Body, Request, Timeouts};
pub use response::Response;
pub use route::{Route, Streamed};
pub use rules::Reach;
