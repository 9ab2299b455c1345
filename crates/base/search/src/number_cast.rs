//! Numbers of one kind as numbers of another, where that is harmless.

/// A count that is never near the bound: what would be above it is at it.
pub(crate) fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A number of something that was counted, as a place.
pub(crate) fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A count for reckoning, exact up to 16 million.
#[expect(clippy::cast_precision_loss, reason = "a score needs no more")]
pub(crate) fn real(number: usize) -> f32 {
    number as f32
}
