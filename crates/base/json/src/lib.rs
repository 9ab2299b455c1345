//! JSON as models write it and schemas as people write them: repair, bounds, validation, coercion.

pub mod broken_strings;
pub mod invisible;
pub mod number;
pub mod repair;
pub mod schema;
mod serde_error;
mod strict;

pub use serde_error::told;
