//! Connections that are kept and used again, and requests over them.
mod h1;
pub(crate) mod route;
