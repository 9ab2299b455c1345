//! How much of a text is read.

/// How much of a text is read. The defaults are for what models and strangers write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairBounds {
    /// Longest text, in bytes.
    pub bytes: usize,
    /// Objects and lists inside each other; `serde_json` itself stops at 128.
    pub depth: usize,
    /// Values in all: in memory each of them is a multiple of its text.
    pub values: usize,
}

impl Default for RepairBounds {
    fn default() -> Self {
        Self { bytes: 4 * 1024 * 1024, depth: 64, values: 200_000 }
    }
}
