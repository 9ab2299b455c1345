//! Results that were too large for a model, for a while.

use sha2::{Digest, Sha256};
use toolcrib_core::{Caller, Content, Part};

use crate::options::StoreOptions;

/// A result that is about to be kept.
pub struct NewResult {
    pub tenant: String,
    pub subject: String,
    pub hash: [u8; 32],
    pub bytes: Vec<u8>,
}

impl NewResult {
    /// `None` if it has no JSON or is larger than all that its tenant may keep.
    pub fn of(caller: &Caller, content: &Content, options: &StoreOptions) -> Option<Self> {
        let bytes = serde_json::to_vec(content).ok()?;
        let fits = u64::try_from(bytes.len()).ok()? <= options.result_bytes_per_tenant;
        let Caller { tenant, subject, .. } = caller.clone();
        fits.then(|| Self { tenant, subject, hash: Sha256::digest(&bytes).into(), bytes })
    }
}

/// A part of a kept result's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPiece {
    pub text: String,
    /// Bytes of the whole text.
    pub of: usize,
    /// Where the next piece begins, in bytes; `None` after the last.
    pub next: Option<usize>,
}

impl ResultPiece {
    /// At most `bytes` bytes from `from`, cut between characters, but one character at the least.
    pub(crate) fn cut(content: &Content, from: usize, bytes: usize) -> Self {
        let parts: Vec<_> = content.parts.iter().map(Part::in_words).collect();
        let whole = parts.join("\n\n");
        let from = whole.floor_char_boundary(from);
        let rest = whole.get(from..).unwrap_or_default();
        let one = rest.chars().next().map_or(0, char::len_utf8);
        let text = rest.get(..rest.floor_char_boundary(bytes.max(one))).unwrap_or(rest);
        let next = from + text.len();
        Self { text: text.to_owned(), of: whole.len(), next: (next < whole.len()).then_some(next) }
    }
}
