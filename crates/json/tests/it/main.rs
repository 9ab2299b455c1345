//! What the crate promises, tested through its public functions.

mod repair;
mod schema_suite;
