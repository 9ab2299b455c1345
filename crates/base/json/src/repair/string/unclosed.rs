//! Where a string ends whose closing quote never comes.

use super::end::{StringClosing, StringOpening, StringScan, StringSpan};
use crate::repair::lookahead::GrammarPlace;
use crate::repair::parser::RepairParser;

impl RepairParser<'_> {
    /// The string without a closing quote: brackets at the end of the text still close containers.
    pub(super) fn unclosed(&self, opening: StringOpening, seen: StringScan) -> StringSpan {
        let end = self.cursor.text.len();
        if let Some(quote) = seen.unpaired
            && opening.place != GrammarPlace::Key
        {
            return StringSpan { content_end: quote, resume: quote, closing: StringClosing::Lost };
        }
        match opening.place {
            GrammarPlace::Top => Self::missing(end),
            GrammarPlace::Key => Self::missing(seen.colon.unwrap_or(end)),
            GrammarPlace::Member | GrammarPlace::Item => {
                let content_end = self.closers_before(end, opening.content);
                let comma = (content_end < end
                    && seen.inner_quotes == 0
                    && opening.place == GrammarPlace::Member)
                    .then(|| self.comma_before_bare_member(opening.content, content_end))
                    .flatten();
                Self::missing(comma.unwrap_or(content_end))
            }
        }
    }

    /// The place before the closing brackets, and a code fence behind them, that end the text.
    fn closers_before(&self, end: usize, floor: usize) -> usize {
        let mut content_end = end;
        let mut at = end;
        let mut frames = self.frames.iter();
        while let Some((solid, character)) = self.cursor.solid_before(at, floor) {
            let is_closer = match character {
                '`' => content_end == end,
                _ => frames.any(|frame| frame.closer() == character),
            };
            if !is_closer {
                break;
            }
            at = solid;
            if character != '`' {
                content_end = solid;
            }
        }
        match self.cursor.solid_before(content_end, floor) {
            Some((solid, _)) if content_end < end => self.cursor.after(solid),
            _ => content_end,
        }
    }

    /// The first comma that a bare key and its colon follow.
    fn comma_before_bare_member(&self, from: usize, to: usize) -> Option<usize> {
        let mut at = from;
        while at < to {
            let character = self.cursor.char(at)?;
            if character == ',' && self.key_begins(self.cursor.skip_space(at + 1)) {
                return Some(at);
            }
            at += character.len_utf8();
        }
        None
    }
}
