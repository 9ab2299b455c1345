//! Looks ahead: what stands at a place, judged by a bounded number of signs.

use super::parser::{OpenContainer, RepairParser};

/// Characters that a key or a word may have to be known as one by looking ahead.
const KEY: usize = 128;

/// Where in the grammar a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrammarPlace {
    Key,
    /// The value of a member.
    Member,
    /// An item of an array, tuple or set.
    Item,
    /// The whole document.
    Top,
}

pub(super) fn opens_string(character: char) -> bool {
    matches!(character, '"' | '\'' | '`' | '“' | '”' | '„' | '‘' | '’')
}

pub(super) fn closes_string(open: char, character: char) -> bool {
    match open {
        '“' | '”' | '„' => matches!(character, '“' | '”' | '"'),
        '‘' | '’' => matches!(character, '‘' | '’'),
        _ => character == open,
    }
}

pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '-')
}

impl RepairParser<'_> {
    pub(super) fn is_fence(&self, at: usize) -> bool {
        self.cursor.starts_with(at, "```")
    }

    /// The end of a short quoted text on one line that begins at `at`.
    fn quoted_end(&self, at: usize) -> Option<usize> {
        let open = self.cursor.char(at).filter(|character| opens_string(*character))?;
        let mut end = self.cursor.after(at);
        for _ in 0..KEY {
            let character = self.cursor.char(end)?;
            end += character.len_utf8();
            match character {
                '\n' => return None,
                '\\' => end = self.cursor.after(end),
                _ if closes_string(open, character) => return Some(end),
                _ => {}
            }
        }
        None
    }

    /// Where the colon stands if a quoted key begins at `at`.
    pub(super) fn quoted_key_colon(&self, at: usize) -> Option<usize> {
        let colon = self.cursor.skip_space(self.quoted_end(at)?);
        (self.cursor.char(colon) == Some(':')).then_some(colon)
    }

    /// Whether a key, quoted or bare, and its colon begin at `at`.
    pub(super) fn key_begins(&self, at: usize) -> bool {
        if self.quoted_key_colon(at).is_some() {
            return true;
        }
        let end = self.word_end(at);
        let colon = self.cursor.skip_space(end);
        end > at && self.cursor.char(colon) == Some(':') && !self.cursor.starts_with(colon, "://")
    }

    /// Whether a quoted key and, after its colon or without one, a value begin at `at`.
    pub(super) fn quoted_member_begins(&self, at: usize) -> bool {
        let Some(end) = self.quoted_end(at) else {
            return false;
        };
        let next = self.cursor.skip_space(end);
        match self.cursor.char(next) {
            Some(':') => true,
            Some(character) => opens_string(character),
            None => false,
        }
    }

    /// Whether what begins at `at` can only be a value: a quote, a bracket, a number, a literal.
    pub(super) fn value_begins(&self, at: usize) -> bool {
        match self.cursor.char(at) {
            Some('{' | '[' | '-' | '0'..='9') => true,
            Some(character) if opens_string(character) => true,
            Some(character) if character.is_alphabetic() => {
                let word = self.cursor.slice(at, self.word_end(at));
                matches!(word, "true" | "false" | "null" | "True" | "False" | "None")
            }
            _ => false,
        }
    }

    /// The end of the short word at `at`; `at` itself if none begins there.
    pub(super) fn word_end(&self, at: usize) -> usize {
        let mut end = at;
        for _ in 0..KEY {
            match self.cursor.char(end).filter(|character| is_word(*character)) {
                Some(character) => end += character.len_utf8(),
                None => return end,
            }
        }
        at
    }

    /// Whether a value may end before `at`: the end, a comma, a closing bracket, a comment.
    pub(super) fn separates(&self, at: usize) -> bool {
        match self.cursor.char(at) {
            None | Some(',' | '}' | ']') => true,
            Some(')') => self.frames.contains(&OpenContainer::Tuple),
            Some(_) => self.is_fence(at) || self.cursor.begins_comment(at),
        }
    }

    /// Whether an open container, from the innermost outward, is closed by `closer`, and which.
    pub(super) fn frame_closed_by(&self, closer: char) -> Option<usize> {
        self.frames.iter().rposition(|frame| frame.closer() == closer)
    }

    /// Whether the closing bracket at `at` is followed by what may follow one.
    pub(super) fn closer_is_plausible(&self, at: usize) -> bool {
        let Some(closer) = self.cursor.char(at) else {
            return true;
        };
        let frame = self.frame_closed_by(closer);
        let behind = self.cursor.after(at);
        let next = self.cursor.skip_space(behind);
        match (frame, self.cursor.char(next)) {
            (_, None) => true,
            // Behind the document prose may follow, but a quote shows that it is not over.
            (Some(0), Some(quote)) => next > behind || self.is_fence(next) || !opens_string(quote),
            (None, _) if closer == ')' => false,
            (_, Some(',' | '}' | ']')) => true,
            (Some(_), Some(')')) => self.frames.contains(&OpenContainer::Tuple),
            (Some(_), Some(_)) => {
                self.is_fence(next)
                    || self.cursor.begins_comment(next)
                    || self.key_begins(next)
                    || (next > behind && self.value_begins(next))
            }
            (None, Some(_)) => false,
        }
    }

    /// Whether an inline object, such as `{"key":`, begins at the brace at `at` in a string whose
    /// quote is the same.
    pub(super) fn inline_object_begins(&self, at: usize, quote: char) -> bool {
        let key = self.cursor.skip_space(self.cursor.after(at));
        let same = self.cursor.char(key).is_some_and(|open| closes_string(quote, open));
        same && self.cursor.char(self.cursor.after(key)).is_some_and(is_word)
            && self.quoted_key_colon(key).is_some()
    }
}
