//! JSON as models write it and schemas as people write them: repair, bounds, validation, coercion.

pub mod number;
pub mod repair;
pub mod schema;
mod strict;
pub mod strings;
mod told;
pub mod unseen;

pub use told::told;
