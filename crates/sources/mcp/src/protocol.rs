//! Reading and writing the protocol's messages, for the client half and the door alike.
pub(crate) mod borrowed_json;
pub(crate) mod content;
pub(crate) mod frame;
pub(crate) mod id;
pub(crate) mod levels;
pub(crate) mod lines;
pub(crate) mod methods;
pub(crate) mod mirrored_headers;
pub(crate) mod object_writer;
pub(crate) mod raw_fields;
pub(crate) mod revisions;
pub(crate) mod rpc;
pub(crate) mod strict_object;
pub(crate) mod text;
