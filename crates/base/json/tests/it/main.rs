//! What the crate promises, tested through its public functions.

mod repair;
mod schema_bounds;
mod schema_coercion;
mod schema_containers;
mod schema_errors;
mod schema_lenient;
mod schema_property;
mod schema_signature;
mod schema_suite;
mod schema_verdicts;
mod schema_work;
mod strings;
mod unseen;
