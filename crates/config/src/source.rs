//! The sources of a running program, made from their settings.
pub(crate) mod builtin;
pub(crate) mod desk;
pub(crate) mod handle;
pub(crate) mod registry;
