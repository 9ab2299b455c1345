//! Secrets of a `crib.toml`: references to them, and secrets that somebody wrote down.
pub(crate) mod literal_secret;
pub(crate) mod template;
