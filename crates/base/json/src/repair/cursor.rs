//! The text under repair, and a count of how often it was looked at.

use std::cell::Cell;

/// Looks per byte of text before the repair is given up.
///
/// Ordinary broken text costs fewer than ten; the bound makes any text cost linear time.
const LOOKS_PER_BYTE: usize = 48;

pub(super) struct TextCursor<'t> {
    pub(super) text: &'t str,
    /// Where the parser stands, a byte offset on a character boundary.
    pub(super) at: usize,
    looks: Cell<usize>,
}

impl<'t> TextCursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let looks = text.len().saturating_mul(LOOKS_PER_BYTE).saturating_add(4096);
        Self { text, at: 0, looks: Cell::new(looks) }
    }

    /// Whether the work bound is met; from then on every look finds the end of the text.
    pub(super) fn exhausted(&self) -> bool {
        self.looks.get() == 0
    }

    pub(super) fn char(&self, at: usize) -> Option<char> {
        let left = self.looks.get().checked_sub(1)?;
        self.looks.set(left);
        let byte = *self.text.as_bytes().get(at)?;
        if byte.is_ascii() {
            return Some(char::from(byte));
        }
        self.text.get(at..)?.chars().next()
    }

    /// The character that ends at `at`.
    pub(super) fn before(&self, at: usize) -> Option<char> {
        let left = self.looks.get().checked_sub(1)?;
        self.looks.set(left);
        self.text.get(..at)?.chars().next_back()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.char(self.at)
    }

    /// The offset behind the character at `at`.
    pub(super) fn after(&self, at: usize) -> usize {
        at + self.char(at).map_or(0, char::len_utf8)
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or_default()
    }

    pub(super) fn starts_with(&self, at: usize, prefix: &str) -> bool {
        self.text.get(at..).is_some_and(|rest| rest.starts_with(prefix))
    }

    /// The offset of the first character from `at` on that fails `belongs`.
    pub(super) fn skip(&self, mut at: usize, belongs: impl Fn(char) -> bool) -> usize {
        while let Some(character) = self.char(at).filter(|character| belongs(*character)) {
            at += character.len_utf8();
        }
        at
    }

    pub(super) fn skip_space(&self, at: usize) -> usize {
        self.skip(at, is_space)
    }

    /// The last character before `at` that is no white space, with its offset, not before `floor`.
    pub(super) fn solid_before(&self, mut at: usize, floor: usize) -> Option<(usize, char)> {
        while at > floor {
            let character = self.before(at)?;
            at -= character.len_utf8();
            if !is_space(character) {
                return Some((at, character));
            }
        }
        None
    }

    /// The end of the comment that begins at `at`, if one does.
    pub(super) fn comment_end(&self, at: usize) -> Option<usize> {
        if self.starts_with(at, "/*") {
            let mut end = at + 2;
            while self.char(end).is_some() && !self.starts_with(end, "*/") {
                end = self.after(end);
            }
            return Some((end + 2).min(self.text.len()));
        }
        self.begins_comment(at).then(|| self.skip(at, |character| character != '\n'))
    }

    pub(super) fn begins_comment(&self, at: usize) -> bool {
        self.starts_with(at, "//") || self.starts_with(at, "/*") || self.char(at) == Some('#')
    }
}

/// White space, and what some editors and models put in its place.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{feff}' | '\u{200b}')
}
