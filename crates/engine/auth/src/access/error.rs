//! Why somebody does not come in.

/// Why somebody does not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessError {
    /// What was presented is none of ours, with what is wrong about it: nothing of that helps
    /// whoever guesses.
    Rejected(&'static str),
    /// Nobody can tell now: the keys of the issuer are not to be had.
    Unavailable,
}
