//! Reading and writing the protocol's messages, for the client half and the door alike.
pub(crate) mod content;
pub(crate) mod frame;
pub(crate) mod id;
pub(crate) mod json;
pub(crate) mod levels;
pub(crate) mod lines;
pub(crate) mod methods;
pub(crate) mod mirrored_headers;
pub(crate) mod revisions;
pub(crate) mod rpc;
pub(crate) mod text;
