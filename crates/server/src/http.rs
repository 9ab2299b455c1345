//! One listener and what it serves.
//!
//! Read in this order: `accept` (connections), `connection` (one of them), `front` (the one way
//! in), `table` (every route), `rest` (their answers). What all requests share is the `house`.
//!
//! No route is served but those of the table, and no row of the table is without its access.

pub(crate) mod listen;
pub(crate) mod mcp;
pub(crate) mod pipeline;
pub(crate) mod rest;
pub(crate) mod routes;
pub(crate) mod state;
