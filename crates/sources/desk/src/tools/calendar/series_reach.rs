//! How far an act on a series reaches.

/// What is done to an event reaches so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeriesReach {
    /// An event that does not repeat, or one repetition.
    One,
    Following,
    Series,
}
