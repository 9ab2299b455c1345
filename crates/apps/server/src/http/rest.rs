//! The REST door: each route of `table` has its answer here.

pub(crate) mod batch;
pub(crate) mod calls;
pub(crate) mod health;
pub(crate) mod metrics;
pub(crate) mod plan;
pub(crate) mod profiles;
pub(crate) mod records;
pub(crate) mod results;
pub(crate) mod selection;
pub(crate) mod sources;
pub(crate) mod tickets;
pub(crate) mod tools;
