//! Why a schema is refused: what is wrong, where, and the cure.

use super::excerpt::{line, place};

/// A schema that is not taken. It costs that one schema, never its neighbours.
///
/// `at` is a JSON Pointer into the schema (empty for its root), behind the address of another
/// document where a reference led there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The document is larger than [`SchemaBounds::bytes`](super::SchemaBounds::bytes).
    #[error("the schema is larger than {limit} bytes: shorten it or split the tool")]
    TooLarge { limit: usize },
    /// Objects and arrays nest deeper than [`SchemaBounds::depth`](super::SchemaBounds::depth).
    #[error(
        "the schema nests deeper than {limit} levels at {}: move the parts into `$defs`",
        place(at)
    )]
    TooDeep { at: String, limit: usize },
    /// More than [`SchemaBounds::subschemas`](super::SchemaBounds::subschemas) are reached.
    #[error(
        "the schema has more than {limit} subschemas (counted up to {}): drop or merge some",
        place(at)
    )]
    TooManySubschemas { at: String, limit: usize },
    /// One value would be checked against more than
    /// [`SchemaBounds::unfold`](super::SchemaBounds::unfold) subschemas.
    #[error(
        "{} checks one value more than {limit} times by `allOf`, `anyOf`, `oneOf` and `$ref`: \
         flatten the alternatives",
        place(at)
    )]
    TooMuchUnfolding { at: String, limit: u64 },
    /// Applicators and references at one place nest deeper than any real schema's do.
    #[error(
        "{} nests more than {limit} references or alternatives for one value: flatten them",
        place(at)
    )]
    ChainTooLong { at: String, limit: usize },
    /// Parts with an `$id` refer to each other in too many ways.
    #[error("the parts with an `$id` refer to each other in more than {limit} ways: use one `$id`")]
    TooManyWays { limit: usize },
    /// A reference that leads back to itself before any part of the value is consumed.
    #[error(
        "the reference at {} leads back to itself: let it pass `properties` or `items`",
        place(at)
    )]
    Cycle { at: String },
    /// A reference to something that is not there, or not in this document. Nothing is fetched.
    #[error("cannot resolve `{}` at {}: {reason}", line(reference), place(at))]
    Reference { at: String, reference: String, reason: String },
    /// A pattern that the linear engine does not take.
    #[error("the pattern `{pattern}` at {} is refused: {reason}", place(at))]
    Pattern { at: String, pattern: String, reason: String },
    /// There are more than [`SchemaBounds::patterns`](super::SchemaBounds::patterns).
    #[error("the schema has more than {limit} patterns (counted up to {}): drop some", place(at))]
    TooManyPatterns { at: String, limit: usize },
    /// The document is no schema of its draft, for example for an unknown `type`.
    #[error("not a JSON Schema at {}: {reason}", place(at))]
    Invalid { at: String, reason: String },
}
