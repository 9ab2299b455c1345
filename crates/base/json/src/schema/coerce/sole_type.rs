//! How many kinds of value a schema leaves.

/// Whether a schema leaves only one kind of value, so that a number may become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SoleType {
    Yes,
    No,
}
