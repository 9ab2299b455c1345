//! The commands, one file for each.
pub(crate) mod audit;
pub(crate) mod chat;
pub(crate) mod connect;
pub(crate) mod crib;
pub(crate) mod desk;
pub(crate) mod mcp;
pub(crate) mod policy;
pub(crate) mod remote;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod token;
