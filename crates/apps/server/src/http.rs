//! One listener and what it serves.
//!
//! Read in this order: `listen` (connections), `pipeline` (what every request passes), `routes`
//! (the table of them), `rest`, `mcp`, `agents`, `a2a`, `page` and `changes` (their answers). What
//! all requests share is the `state`, and `gateway` makes it.
//!
//! No route is served but those of the table, and no row of the table is without its access.

pub(crate) mod a2a;
pub(crate) mod agents;
pub(crate) mod changes;
pub(crate) mod gateway;
pub(crate) mod listen;
pub(crate) mod mcp;
pub(crate) mod page;
pub(crate) mod pipeline;
pub(crate) mod rest;
pub(crate) mod routes;
pub(crate) mod state;
