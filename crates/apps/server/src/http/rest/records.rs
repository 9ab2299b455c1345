//! `/v1/calls` and `/v1/record`: the recorded calls, and how a call ended of which nobody knew.
pub(crate) mod export;
pub(crate) mod listing;
pub(crate) mod resolution;
