//! What the repair parser knows at a place: the text, the open containers and the notes.

use super::bounds::RepairBounds;
use super::cursor::TextCursor;
use super::note::RepairNotes;

/// An open container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenContainer {
    Object,
    Array,
    /// Python's `(1, 2)`.
    Tuple,
    /// Python's `{1, 2}`.
    Set,
}

impl OpenContainer {
    pub(super) const fn closer(self) -> char {
        match self {
            Self::Object | Self::Set => '}',
            Self::Array => ']',
            Self::Tuple => ')',
        }
    }
}

pub(super) struct RepairParser<'t> {
    pub(super) cursor: TextCursor<'t>,
    pub(super) notes: RepairNotes,
    /// The open containers, outermost first.
    pub(super) frames: Vec<OpenContainer>,
    pub(super) bounds: RepairBounds,
    /// How many were read.
    pub(super) values: usize,
}
