//! Where a string ends: at the first quote behind which the grammar goes on.
//!
//! In a well-formed text that is the first unescaped quote.
//! A quote behind which words go on is taken to belong to the string, and a quote that begins
//! the next key shows that the string should have ended before it.

use crate::repair::lookahead::{GrammarPlace, closes_string, is_word, opens_string};
use crate::repair::parser::{OpenContainer, RepairParser};

/// The extent of a string's content and where reading goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StringSpan {
    pub(super) content_end: usize,
    pub(super) resume: usize,
    pub(super) closing: StringClosing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringClosing {
    Quote,
    /// More than one quote where one is meant.
    Repeated,
    Missing,
    /// The text ended in the string, and a quote in it, at `content_end`, was likely its end.
    Lost,
}

/// A string whose opening quotes were read.
#[derive(Clone, Copy)]
pub(super) struct StringOpening {
    pub(super) content: usize,
    pub(super) quote: char,
    /// Opening quotes: 1, or 2 and 3 where they were repeated.
    pub(super) count: usize,
    pub(super) place: GrammarPlace,
}

/// What was met on the way through the string.
#[derive(Clone, Copy, Default)]
pub(super) struct StringScan {
    /// A quoted passage inside the string is open.
    passage: bool,
    pub(super) inner_quotes: usize,
    /// The first quote that opens no passage and stands in no word.
    pub(super) unpaired: Option<usize>,
    /// The first colon, if only words stand before it.
    pub(super) colon: Option<usize>,
    /// Whether something else than words was met.
    odd: bool,
    /// Whether the string has an opening bracket.
    bracket: bool,
}

impl RepairParser<'_> {
    pub(super) fn string_end(&self, opening: StringOpening) -> StringSpan {
        if opening.count == 3
            && let Some(span) = self.triple_end(opening)
        {
            return span;
        }
        // An inline object that never ends was none.
        self.scan(opening, true)
            .or_else(|| self.scan(opening, false))
            .unwrap_or_else(|| Self::missing(self.cursor.text.len()))
    }

    fn triple_end(&self, opening: StringOpening) -> Option<StringSpan> {
        let mut at = opening.content;
        loop {
            let character = self.cursor.char(at)?;
            let next = at + character.len_utf8();
            match character {
                '\\' => at = self.cursor.after(next),
                _ if character == opening.quote
                    && self.cursor.char(next) == Some(character)
                    && self.cursor.char(next + 1) == Some(character)
                    && self.cursor.char(next + 2) != Some(character) =>
                {
                    let resume = next + 2;
                    return Some(StringSpan {
                        content_end: at,
                        resume,
                        closing: StringClosing::Repeated,
                    });
                }
                _ => at = next,
            }
        }
    }

    /// `None` if an inline object was still open at the end of the text.
    fn scan(&self, opening: StringOpening, inline: bool) -> Option<StringSpan> {
        let mut seen = StringScan::default();
        let mut depth = 0_usize;
        let mut at = opening.content;
        loop {
            let Some(character) = self.cursor.char(at) else {
                return (depth == 0).then(|| self.unclosed(opening, seen));
            };
            let next = at + character.len_utf8();
            seen.odd |= !is_word(character) && !matches!(character, ' ' | '.' | ':');
            match character {
                '\\' => {
                    at = self.cursor.after(next);
                    continue;
                }
                '[' => seen.bracket = true,
                '{' if depth == 0 && self.inline_object_begins(at, opening.quote) => {
                    if let Some(end) = self.item_end_before(at, opening.content, seen) {
                        return Some(Self::missing(end));
                    }
                    seen.bracket = true;
                    depth += usize::from(inline);
                }
                '{' => {
                    depth += usize::from(depth > 0);
                    seen.bracket = true;
                }
                '}' => depth = depth.saturating_sub(1),
                ':' if seen.colon.is_none() && !seen.odd => seen.colon = Some(at),
                _ if depth == 0 && closes_string(opening.quote, character) => {
                    if let Some(span) = self.judge(at, opening, &mut seen) {
                        return Some(span);
                    }
                }
                _ => {}
            }
            at = next;
        }
    }

    /// Whether the string ends at, or should have ended before, the quote at `at`.
    fn judge(
        &self,
        at: usize,
        opening: StringOpening,
        seen: &mut StringScan,
    ) -> Option<StringSpan> {
        let after = self.cursor.after(at);
        let next = self.cursor.char(after);
        if next.is_some_and(|next| closes_string(opening.quote, next)) {
            let behind = self.cursor.after(after);
            let solid = self.cursor.skip_space(behind);
            let goes_on = match opening.place {
                GrammarPlace::Key => self.cursor.char(solid) == Some(':'),
                GrammarPlace::Member | GrammarPlace::Item | GrammarPlace::Top => {
                    self.separates(solid)
                }
            };
            if opening.count > 1 || (goes_on && !seen.passage) {
                let closing = StringClosing::Repeated;
                return Some(StringSpan { content_end: at, resume: behind, closing });
            }
        }
        if self.ends(at, after, opening.place, seen.passage) {
            return Some(StringSpan {
                content_end: at,
                resume: after,
                closing: StringClosing::Quote,
            });
        }
        let before = self.ends_before(at, opening, *seen);
        if before.is_none() {
            let leans_open = next.is_some_and(|next| !next.is_whitespace())
                && !self.cursor.before(at).is_some_and(char::is_alphanumeric);
            let in_word = next.is_some_and(char::is_alphanumeric);
            if !seen.passage && !leans_open && !in_word {
                seen.unpaired = seen.unpaired.or(Some(at));
            }
            seen.passage = !seen.passage && leans_open;
            seen.inner_quotes += 1;
        }
        before
    }

    /// Whether the grammar goes on behind the quote at `at`.
    fn ends(&self, at: usize, after: usize, place: GrammarPlace, passage: bool) -> bool {
        let solid = self.cursor.skip_space(after);
        let gap = solid > after;
        match self.cursor.char(solid) {
            None => true,
            Some(_) if place == GrammarPlace::Top => true,
            Some(':') => match place {
                GrammarPlace::Key => true,
                GrammarPlace::Item => !passage,
                GrammarPlace::Member | GrammarPlace::Top => false,
            },
            Some('=') => place == GrammarPlace::Key,
            Some(',') => self.ends_before_comma(solid, place, passage),
            Some('}' | ']') => self.closer_is_plausible(solid),
            Some(')') if self.separates(solid) => self.closer_is_plausible(solid),
            Some(_) if self.is_fence(solid) => true,
            Some(_) if self.cursor.begins_comment(solid) => gap && !passage,
            Some(character) if opens_string(character) => match place {
                GrammarPlace::Key => gap && !passage,
                GrammarPlace::Member => self.quoted_key_colon(solid).is_some(),
                GrammarPlace::Item | GrammarPlace::Top => !passage,
            },
            Some(_) => {
                let leans_closed = gap && !self.cursor.before(at).is_some_and(char::is_whitespace);
                leans_closed && !passage && self.ends_before_word(solid, place)
            }
        }
    }

    fn ends_before_comma(&self, comma: usize, place: GrammarPlace, passage: bool) -> bool {
        let solid = self.cursor.skip_space(comma + 1);
        let Some(character) = self.cursor.char(solid) else {
            return true;
        };
        if place == GrammarPlace::Key {
            return !passage;
        }
        if matches!(character, '}' | ']' | ')') {
            return self.closer_is_plausible(solid);
        }
        if place == GrammarPlace::Item {
            return !passage || self.value_begins(solid);
        }
        if self.key_begins(solid) {
            return true;
        }
        let word_end = self.word_end(solid);
        let noise =
            word_end > solid && self.quoted_key_colon(self.cursor.skip_space(word_end)).is_some();
        let other = opens_string(character)
            || matches!(character, '[' | '{' | '.' | '…' | ',')
            || self.cursor.begins_comment(solid);
        !passage && (noise || other)
    }

    /// Whether one word behind a closed string is noise, a bare key or the next item.
    fn ends_before_word(&self, word: usize, place: GrammarPlace) -> bool {
        let end = self.word_end(word);
        let solid = self.cursor.skip_space(end);
        match place {
            GrammarPlace::Item => end > word,
            GrammarPlace::Key => self.value_begins(word) && self.separates(solid),
            GrammarPlace::Member => match self.cursor.char(solid) {
                None => end > word,
                Some('}' | ']') => end > word && self.closer_is_plausible(solid),
                _ => end > word && (self.key_begins(word) || self.key_begins(solid)),
            },
            GrammarPlace::Top => true,
        }
    }

    /// The string that should have ended before the quote at `at`, if that quote shows it.
    fn ends_before(
        &self,
        at: usize,
        opening: StringOpening,
        seen: StringScan,
    ) -> Option<StringSpan> {
        let (solid, character) = self.cursor.solid_before(at, opening.content)?;
        match (opening.place, character) {
            (GrammarPlace::Key, ':') => Some(Self::missing(solid)),
            (GrammarPlace::Key, _) if self.quoted_key_colon(at).is_some() => {
                seen.colon.map(Self::missing)
            }
            (GrammarPlace::Member, ':') => {
                let comma = self.bare_key_before(solid, opening.content)?;
                let value = self.short_string_ends_well(at);
                value.then(|| Self::missing(comma))
            }
            (GrammarPlace::Member, _) => {
                let colon = self.quoted_key_colon(at)?;
                let value = self.cursor.skip_space(colon + 1);
                let behind = self.cursor.after(solid);
                let next_line = self.cursor.slice(behind, at).contains('\n');
                if !self.value_begins(value) {
                    return None;
                }
                match character {
                    ',' => {
                        let end = self.bracket_before(
                            solid,
                            OpenContainer::Object,
                            opening.content,
                            seen,
                        );
                        Some(Self::missing(end.unwrap_or(solid)))
                    }
                    _ if next_line => Some(Self::missing(behind)),
                    _ => None,
                }
            }
            (GrammarPlace::Item | GrammarPlace::Key | GrammarPlace::Top, _) => None,
        }
    }

    /// The end of a string that lacks its quote before the next object of an array, at `at`.
    fn item_end_before(&self, at: usize, floor: usize, seen: StringScan) -> Option<usize> {
        let (comma, character) = self.cursor.solid_before(at, floor)?;
        if character != ',' || self.frames.last() != Some(&OpenContainer::Object) {
            return None;
        }
        self.bracket_before(comma, OpenContainer::Array, floor, seen)
    }

    /// The closing bracket before the comma at `comma` if it closes the container that the string
    /// stands in, an `outer` one goes on, and the string has no bracket that it could close.
    fn bracket_before(
        &self,
        comma: usize,
        outer: OpenContainer,
        floor: usize,
        seen: StringScan,
    ) -> Option<usize> {
        let (bracket, closer) = self.cursor.solid_before(comma, floor)?;
        let mut frames = self.frames.iter().rev();
        let matches = frames.next()?.closer() == closer && frames.next() == Some(&outer);
        (matches && !seen.bracket).then_some(bracket)
    }

    /// The comma before the bare key that ends at the colon at `colon`.
    fn bare_key_before(&self, colon: usize, floor: usize) -> Option<usize> {
        let mut at = colon;
        while let Some(character) = self.cursor.before(at).filter(|character| is_word(*character)) {
            at -= character.len_utf8();
            if at <= floor {
                return None;
            }
        }
        let (comma, character) = self.cursor.solid_before(at, floor)?;
        (at < colon && character == ',').then_some(comma)
    }

    fn short_string_ends_well(&self, at: usize) -> bool {
        let quote = self.cursor.char(at);
        let content = self.cursor.after(at);
        let end =
            self.cursor.skip(content, |character| Some(character) != quote && character != '\n');
        let solid = self.cursor.skip_space(self.cursor.after(end));
        self.cursor.char(end) == quote && self.separates(solid)
    }

    pub(super) const fn missing(content_end: usize) -> StringSpan {
        StringSpan { content_end, resume: content_end, closing: StringClosing::Missing }
    }
}
