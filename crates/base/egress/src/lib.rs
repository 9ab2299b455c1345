//! The only way out to the network: guarded, bounded, without redirects.
//!
//! Read in this order: [`Egress`], [`EgressRequest`], [`EgressResponse`], [`EgressError`], then
//! `rules` (who may be reached), `rules::address` (what is public) and `connect` (the judge before
//! each connection).
//!
//! Mail is no HTTP: a [`EgressStream`] is a bare connection, judged as a request is.
//!
//! No other crate names an HTTP client. A URL is judged twice: as it is written, and by every
//! address its name leads to at the moment of connecting; what was judged is what is connected to.

mod callback;
mod connect;
mod decompress;
mod egress;
mod error;
mod origin;
mod pool;
mod request;
mod response;
mod rules;
mod stream;
#[cfg(test)]
mod tests;

pub use callback::{CallbackVerdict, LoopbackListener};
pub use connect::lookup::{AddressLookup, AddressLookupFuture, SystemLookup};
pub use egress::Egress;
pub use error::{EgressError, EgressErrorKind, EgressPhase};
pub use pool::route::{EgressRoute, StreamedResponse};
pub use request::{EgressBody, EgressRequest, EgressTimeouts};
pub use response::EgressResponse;
pub use rules::EgressScope;
pub use rules::address::{is_of_this_machine, not_public};
pub use rules::is_public_by_looks;
pub use rules::network::{Network, NotANetwork, PrivateTarget};
pub use stream::EgressStream;
