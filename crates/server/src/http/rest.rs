//! The REST door: each route of `table` has its answer here.

pub(crate) mod calls;
pub(crate) mod figures;
pub(crate) mod health;
mod hearing;
pub(crate) mod ledger;
pub(crate) mod plan;
pub(crate) mod resolving;
pub(crate) mod results;
pub(crate) mod sources;
pub(crate) mod tickets;
pub(crate) mod tools;
pub(crate) mod work;
