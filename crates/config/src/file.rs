//! The text of a `crib.toml`: parsed with the place of every value, and checked against its schema.
pub(crate) mod document;
pub(crate) mod findings;
mod format_hint;
mod former_lookup;
pub(crate) mod former_options;
pub(crate) mod problem;
pub(crate) mod schema;
pub(crate) mod schema_check;
pub(crate) mod toml_path;
pub(crate) mod units;
