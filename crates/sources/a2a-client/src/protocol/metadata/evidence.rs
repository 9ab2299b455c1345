//! What an agent of toolcrib says of its answer beside the words: in the metadata of the artifact.

/// The sources that the answer rests on: a list of `{"number", "id", "title", "url"}`. The answer
/// cites them by their numbers, `[1]`.
pub const REFERENCES: &str = "toolcrib/references";

/// What the agent's own checks of the answer came to: a list of `{"name", "outcome", "reason"}`.
/// An outcome is `passed`, `failed` or `unknown`.
pub const CHECKS: &str = "toolcrib/checks";
