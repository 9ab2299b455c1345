//! The sources that a configuration made, for those who want to know how each is doing.

pub(crate) use toolcrib::config::{Behind, Sources};
