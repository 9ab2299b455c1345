//! Connections that are kept and used again, and requests over them.
pub(crate) mod failure;
mod h1;
pub(crate) mod route;
