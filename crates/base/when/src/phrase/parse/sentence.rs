//! The places of a phrase, which its words fill in any order.

use jiff::Span;

use super::amount::amount;
use super::cursor::PhraseCursor;
use super::day::{place, which};
use super::recurrence::{RepeatPhrase, repeat};
use super::time_expression::{TimeExpression, set};
use crate::PhraseNote;
use crate::error::{TIMES, TimeParseError, TimeParseProblem};
use crate::phrase::syntax::WithWords;

/// A phrase with its places filled.
#[derive(Debug, Default)]
pub(crate) struct Sentence {
    pub(crate) left: TimeExpression,
    pub(crate) right: Option<TimeExpression>,
    pub(crate) length: Option<WithWords<Span>>,
    pub(crate) repeat: Option<WithWords<RepeatPhrase>>,
    pub(crate) until: Option<TimeExpression>,
    pub(crate) starting: Option<TimeExpression>,
    pub(crate) times: Option<WithWords<u32>>,
    pub(crate) notes: Vec<PhraseNote>,
}

/// Which side is being filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SentencePart {
    Left,
    Right,
    Until,
    Starting,
}

const APPROXIMATE: [&str; 8] =
    ["around", "about", "approximately", "approx", "roughly", "circa", "ish", "~"];
const FILLERS: [&str; 19] = [
    ",", "on", "in", "of", "the", "by", "please", "pls", "kindly", "thanks", "due", "during", "is",
    "it's", "o'clock", ".", "sharp", "exactly", "hrs",
];

/// Fills the places of a phrase, or names the first words that fill none.
pub(crate) fn sentence(cursor: &mut PhraseCursor<'_>) -> Result<Sentence, TimeParseError> {
    let mut sentence = Sentence::default();
    let mut filling = SentencePart::Left;
    let mut is_between = false;
    let mut is_at = false;
    while !cursor.is_at_end() {
        if cursor.eat_one(&["at", "@"]).is_some() {
            is_at = true;
            continue;
        }
        let start = cursor.at;
        if cursor.eat_one(&APPROXIMATE).is_some() {
            sentence.notes.push(PhraseNote::Approximate { said: cursor.said(start) });
            continue;
        }
        if cursor.eat("between") {
            is_between = true;
            continue;
        }
        if sentence.joint(cursor, &mut filling, is_between)? {
            is_at = false;
            continue;
        }
        if sentence.ending(cursor)? {
            continue;
        }
        if matches!(filling, SentencePart::Left | SentencePart::Starting)
            && let Some(found) = repeat(cursor)?
        {
            filling = SentencePart::Left;
            set(&mut sentence.repeat, found, "says twice how often")?;
            continue;
        }
        if sentence.side(filling).fill(cursor, is_at)? {
            is_at = false;
            continue;
        }
        if cursor.eat_one(&FILLERS).is_none() {
            return Err(unknown(cursor));
        }
    }
    Ok(sentence)
}

fn unknown(cursor: &PhraseCursor<'_>) -> TimeParseError {
    let why = match cursor.word() {
        "before" | "after" | "since" | "past" => "says no exact time",
        "and" | "or" | "&" => "joins two times, of which only one is read",
        _ => "is no time that can be read",
    };
    let mut ahead = *cursor;
    let part = if which(&mut ahead).is_some() && !ahead.is_at_end() {
        // `next` alone would not tell what is wrong.
        cursor.part(cursor.at, ahead.at + 1)
    } else if cursor.word().chars().all(char::is_alphabetic) && !cursor.word().is_empty() {
        cursor.part(cursor.at, cursor.at + 1)
    } else {
        cursor.chunk()
    };
    TimeParseError::new(TimeParseProblem::Unknown, &part, why, TIMES)
}

impl Sentence {
    fn side(&mut self, filling: SentencePart) -> &mut TimeExpression {
        match filling {
            SentencePart::Left => &mut self.left,
            SentencePart::Right => self.right.get_or_insert_default(),
            SentencePart::Until => self.until.get_or_insert_default(),
            SentencePart::Starting => self.starting.get_or_insert_default(),
        }
    }

    /// Words after which another side is filled.
    fn joint(
        &mut self,
        cursor: &mut PhraseCursor<'_>,
        filling: &mut SentencePart,
        is_between: bool,
    ) -> Result<bool, TimeParseError> {
        let start = cursor.at;
        let next = match cursor.word() {
            "from" => {
                cursor.at += 1;
                let mut ahead = *cursor;
                if self.repeat.is_some() && place(&mut ahead)?.is_some() {
                    SentencePart::Starting
                } else {
                    return Ok(true);
                }
            }
            "starting" | "effective" | "commencing" => SentencePart::Starting,
            "beginning" if cursor.ahead(1) != "of" => SentencePart::Starting,
            "until" | "till" | "til" | "through" | "thru" | "ending" if self.repeat.is_some() => {
                SentencePart::Until
            }
            "to" | "-" if *filling == SentencePart::Starting => SentencePart::Until,
            "to" | "-" | "until" | "till" | "til" | "through" | "thru" => SentencePart::Right,
            "and" if is_between && *filling == SentencePart::Left => SentencePart::Right,
            _ => return Ok(false),
        };
        let is_taken = match next {
            SentencePart::Left => false,
            SentencePart::Right => self.right.is_some(),
            SentencePart::Until => self.until.is_some(),
            SentencePart::Starting => self.starting.is_some(),
        };
        cursor.at = cursor.at.max(start + 1);
        if is_taken {
            let why = "says another end";
            let cure = "say one start and one end";
            return Err(TimeParseError::new(
                TimeParseProblem::Conflict,
                &cursor.said(start),
                why,
                cure,
            ));
        }
        if next == SentencePart::Starting {
            cursor.eat("from");
        }
        *filling = next;
        self.side(next);
        Ok(true)
    }

    /// `for 2 hours`, `for 6 weeks`, `6 times`.
    fn ending(&mut self, cursor: &mut PhraseCursor<'_>) -> Result<bool, TimeParseError> {
        let start = cursor.at;
        let mut ahead = *cursor;
        let is_for = ahead.eat("for");
        ahead.eat_all(&["the", "next"]);
        let at = ahead.at;
        if let Some(number) = ahead.number()
            && ahead.eat_one(&["times", "time", "occurrences"]).is_some()
        {
            *cursor = ahead;
            let found = WithWords { what: number, said: cursor.said(start) };
            set(&mut self.times, found, "says twice how many times")?;
            return Ok(true);
        }
        ahead.at = at;
        if is_for {
            let length = amount(&mut ahead)?;
            *cursor = ahead;
            if let Some(what) = length {
                let found = WithWords { what, said: cursor.said(start) };
                set(&mut self.length, found, "says twice how long")?;
            }
            return Ok(true);
        }
        Ok(false)
    }
}
