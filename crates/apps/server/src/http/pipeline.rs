//! What every request passes before its route answers: host, caller, limits and body.
mod access_log;
pub(crate) mod authentication;
mod body;
mod compression;
pub(crate) mod concurrency;
mod guarded_body;
pub(crate) mod handler;
pub(crate) mod handshake;
pub(crate) mod host_check;
mod wake_filter;
