//! What an operator reads about a `crib.toml`: what it reaches, and which of its tools are not
//! shown.
pub(crate) mod literal_mask;
pub(crate) mod name_conflicts;
pub(crate) mod outline;
pub(crate) mod trust;
