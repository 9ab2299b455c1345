//! The places of a phrase, which its words fill in any order.

use jiff::Span;

use super::amount::amount;
use super::cursor::Cursor;
use super::day::{place, which};
use super::recurrence::{Repeat, repeat};
use super::time_expression::{Side, set};
use crate::Note;
use crate::error::{Problem, TIMES, Unread};
use crate::phrase::syntax::Said;

/// A phrase with its places filled.
#[derive(Debug, Default)]
pub(crate) struct Sentence {
    pub(crate) left: Side,
    pub(crate) right: Option<Side>,
    pub(crate) length: Option<Said<Span>>,
    pub(crate) repeat: Option<Said<Repeat>>,
    pub(crate) until: Option<Side>,
    pub(crate) starting: Option<Side>,
    pub(crate) times: Option<Said<u32>>,
    pub(crate) notes: Vec<Note>,
}

/// Which side is being filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filling {
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
pub(crate) fn sentence(cursor: &mut Cursor<'_>) -> Result<Sentence, Unread> {
    let mut sentence = Sentence::default();
    let mut filling = Filling::Left;
    let mut is_between = false;
    let mut is_at = false;
    while !cursor.is_at_end() {
        if cursor.eat_one(&["at", "@"]).is_some() {
            is_at = true;
            continue;
        }
        let start = cursor.at;
        if cursor.eat_one(&APPROXIMATE).is_some() {
            sentence.notes.push(Note::Approximate { said: cursor.said(start) });
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
        if matches!(filling, Filling::Left | Filling::Starting)
            && let Some(found) = repeat(cursor)?
        {
            filling = Filling::Left;
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

fn unknown(cursor: &Cursor<'_>) -> Unread {
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
    Unread::new(Problem::Unknown, &part, why, TIMES)
}

impl Sentence {
    fn side(&mut self, filling: Filling) -> &mut Side {
        match filling {
            Filling::Left => &mut self.left,
            Filling::Right => self.right.get_or_insert_default(),
            Filling::Until => self.until.get_or_insert_default(),
            Filling::Starting => self.starting.get_or_insert_default(),
        }
    }

    /// Words after which another side is filled.
    fn joint(
        &mut self,
        cursor: &mut Cursor<'_>,
        filling: &mut Filling,
        is_between: bool,
    ) -> Result<bool, Unread> {
        let start = cursor.at;
        let next = match cursor.word() {
            "from" => {
                cursor.at += 1;
                let mut ahead = *cursor;
                if self.repeat.is_some() && place(&mut ahead)?.is_some() {
                    Filling::Starting
                } else {
                    return Ok(true);
                }
            }
            "starting" | "effective" | "commencing" => Filling::Starting,
            "beginning" if cursor.ahead(1) != "of" => Filling::Starting,
            "until" | "till" | "til" | "through" | "thru" | "ending" if self.repeat.is_some() => {
                Filling::Until
            }
            "to" | "-" if *filling == Filling::Starting => Filling::Until,
            "to" | "-" | "until" | "till" | "til" | "through" | "thru" => Filling::Right,
            "and" if is_between && *filling == Filling::Left => Filling::Right,
            _ => return Ok(false),
        };
        let is_taken = match next {
            Filling::Left => false,
            Filling::Right => self.right.is_some(),
            Filling::Until => self.until.is_some(),
            Filling::Starting => self.starting.is_some(),
        };
        cursor.at = cursor.at.max(start + 1);
        if is_taken {
            let why = "says another end";
            let cure = "say one start and one end";
            return Err(Unread::new(Problem::Conflict, &cursor.said(start), why, cure));
        }
        if next == Filling::Starting {
            cursor.eat("from");
        }
        *filling = next;
        self.side(next);
        Ok(true)
    }

    /// `for 2 hours`, `for 6 weeks`, `6 times`.
    fn ending(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Unread> {
        let start = cursor.at;
        let mut ahead = *cursor;
        let is_for = ahead.eat("for");
        ahead.eat_all(&["the", "next"]);
        let at = ahead.at;
        if let Some(number) = ahead.number()
            && ahead.eat_one(&["times", "time", "occurrences"]).is_some()
        {
            *cursor = ahead;
            let found = Said { what: number, said: cursor.said(start) };
            set(&mut self.times, found, "says twice how many times")?;
            return Ok(true);
        }
        ahead.at = at;
        if is_for {
            let length = amount(&mut ahead)?;
            *cursor = ahead;
            if let Some(what) = length {
                let found = Said { what, said: cursor.said(start) };
                set(&mut self.length, found, "says twice how long")?;
            }
            return Ok(true);
        }
        Ok(false)
    }
}
