//! Brings a schema as people write it to one that the validator can use.
pub(crate) mod draft4;
pub(crate) mod lenient;
pub(crate) mod tidy;
mod walk;
