//! A place in the words of a phrase, from which one looks ahead and goes on.

use super::lexer::{PhraseToken, PhraseTokenKind};
use crate::names;

#[derive(Debug, Clone, Copy)]
pub(crate) struct PhraseCursor<'t> {
    pub(crate) text: &'t str,
    pub(crate) tokens: &'t [PhraseToken],
    pub(crate) at: usize,
}

impl<'t> PhraseCursor<'t> {
    pub(crate) fn token(&self) -> Option<&'t PhraseToken> {
        self.tokens.get(self.at)
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The word so many places ahead; nothing where there is none, or no word.
    pub(crate) fn ahead(&self, places: usize) -> &'t str {
        match self.tokens.get(self.at + places) {
            Some(PhraseToken { kind: PhraseTokenKind::Word, text, .. }) => text,
            _ => "",
        }
    }

    pub(crate) fn word(&self) -> &'t str {
        self.ahead(0)
    }

    /// Whether nothing stands between the word before and this one.
    pub(crate) fn is_glued(&self) -> bool {
        self.token().is_some_and(|token| token.is_glued)
    }

    pub(crate) fn eat(&mut self, word: &str) -> bool {
        let is_it = self.word() == word;
        self.at += usize::from(is_it);
        is_it
    }

    pub(crate) fn eat_one(&mut self, words: &[&str]) -> Option<&'t str> {
        let word = self.word();
        words.contains(&word).then(|| {
            self.at += 1;
            word
        })
    }

    /// All of these words in a row, or none.
    pub(crate) fn eat_all(&mut self, words: &[&str]) -> bool {
        let are_there = words.iter().enumerate().all(|(at, word)| self.ahead(at) == *word);
        self.at += if are_there { words.len() } else { 0 };
        are_there
    }

    /// Digits and how many there are.
    pub(crate) fn digits(&mut self) -> Option<(u32, usize)> {
        let Some(PhraseToken { kind: PhraseTokenKind::Number, text, .. }) = self.token() else {
            return None;
        };
        let number = text.parse().ok()?;
        self.at += 1;
        Some((number, text.len()))
    }

    /// A number in digits or in words, below a hundred if in words.
    pub(crate) fn number(&mut self) -> Option<u32> {
        if let Some((number, _)) = self.digits() {
            return Some(number);
        }
        let number = names::number(self.word())?;
        self.at += 1;
        if number < 20 {
            return Some(number);
        }
        let mut ahead = *self;
        ahead.eat("-");
        match names::number(ahead.word()) {
            Some(ones @ 1..=9) => {
                self.at = ahead.at + 1;
                Some(number + ones)
            }
            _ => Some(number),
        }
    }

    /// `24th`, `first`, `twenty-first`.
    pub(crate) fn ordinal(&mut self) -> Option<u32> {
        let start = self.at;
        if let Some((number, _)) = self.digits() {
            if self.eat_one(&["st", "nd", "rd", "th"]).is_some() {
                return Some(number);
            }
            self.at = start;
            return None;
        }
        if let Some(number) = names::ordinal(self.word()) {
            self.at += 1;
            return Some(number);
        }
        let tens = names::number(self.word()).filter(|number| matches!(number, 20 | 30))?;
        self.at += 1;
        self.eat("-");
        if let Some(ones @ 1..=9) = names::ordinal(self.word()) {
            self.at += 1;
            return Some(tens + ones);
        }
        self.at = start;
        None
    }

    /// The words from a place up to here, as they were written.
    pub(crate) fn said(&self, from: usize) -> String {
        self.part(from, self.at)
    }

    pub(crate) fn part(&self, from: usize, to: usize) -> String {
        let first = self.tokens.get(from).map_or(self.text.len(), |token| token.from);
        let last = to.checked_sub(1).and_then(|at| self.tokens.get(at));
        let end = last.map_or(first, |token| token.to).max(first);
        self.text.get(first..end).unwrap_or_default().trim().to_owned()
    }

    /// The whole word, between spaces, that stands here.
    pub(crate) fn chunk(&self) -> String {
        let mut from = self.at;
        while self.tokens.get(from).is_some_and(|token| token.is_glued) {
            from -= 1;
        }
        let mut to = self.at + 1;
        while self.tokens.get(to).is_some_and(|token| token.is_glued) {
            to += 1;
        }
        self.part(from, to).trim_end_matches(',').to_owned()
    }
}
