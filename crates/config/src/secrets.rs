//! Secrets of a `crib.toml`: references to them, where those lead, and secrets that somebody wrote
//! down.

pub(crate) mod literal_secret;
pub(crate) mod process;
pub(crate) mod template;
