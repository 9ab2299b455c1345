//! JSON that is read in parts, and JSON that is written without a tree of it.

pub(crate) mod borrowed_json;
pub(crate) mod object_writer;
pub(crate) mod raw_fields;
pub(crate) mod strict_object;
