//! One listener and what it serves.
//!
//! Read in this order: `accept` (connections), `connection` (one of them), `front` (the one way
//! in), `table` (every route), `rest` (their answers). What all requests share is the `house`.
//!
//! No route is served but those of the table, and no row of the table is without its access.

pub(crate) mod accept;
mod asked;
mod body;
mod busy;
mod clock;
pub(crate) mod connection;
mod events;
mod front;
pub(crate) mod house;
mod idempotency;
pub(crate) mod keys;
pub(crate) mod mcp;
mod metadata;
pub(crate) mod names;
pub(crate) mod openapi;
pub(crate) mod peers;
mod plans;
mod porch;
mod problem;
mod reply;
pub(crate) mod rest;
mod routes;
mod running;
mod schemas;
mod seen;
mod spare;
mod stall;
mod table;
pub(crate) mod tls;
mod until;
mod woken;
pub(crate) mod workers;
