//! Messages of JSON-RPC as clients send them: their form, batches, and which requests are open.
pub(crate) mod batch;
pub(crate) mod open_requests;
pub(crate) mod validation;
