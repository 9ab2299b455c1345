//! Requests over real sockets of this machine, and refusals that open none.

mod answers;
mod bounds;
mod failures;
mod refusals;
mod server;
mod streams;
mod timeouts;
mod tls;
