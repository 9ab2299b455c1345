//! A phrase against a clock: a moment, a day, days, a stretch or a recurrence, with its notes.

mod calendar;
mod clock_time;
mod day;
mod hour;
mod moment;
mod night;
mod period;
mod point;
mod range;
mod recurrence;
mod refusal;

use crate::error::{TIMES, TimeParseError, TimeParseProblem};
use crate::phrase::parse::cursor::PhraseCursor;
use crate::phrase::parse::lexer::lex;
use crate::phrase::parse::sentence::{Sentence, sentence};
use crate::{PhraseReading, PhraseTime, ReferenceTime};
use day::DayResolver;
use point::point;
use range::{lasting, range};
use recurrence::recurring;

/// Reads a phrase against the frame's clock: what it means, and what was decided about it.
///
/// It reads English phrases and ISO 8601, RFC 3339 and RFC 9557, up to 200 characters; what it
/// cannot read is an error that names the part and says what can be read. See
/// `docs/reference/times.md`.
pub fn read(text: &str, frame: &ReferenceTime) -> Result<PhraseReading, TimeParseError> {
    let tokens = lex(text, TIMES)?;
    let mut cursor = PhraseCursor { text, tokens: &tokens, at: 0 };
    let mut sentence = sentence(&mut cursor)?;
    let notes = std::mem::take(&mut sentence.notes);
    let mut days = DayResolver { frame, today: frame.today(), notes };
    let when = if sentence.repeat.is_some() {
        recurring(&mut days, sentence)?
    } else {
        once(&mut days, sentence, text)?
    };
    Ok(PhraseReading { when, notes: days.notes })
}

fn once(
    days: &mut DayResolver<'_>,
    sentence: Sentence,
    text: &str,
) -> Result<PhraseTime, TimeParseError> {
    let Sentence { mut left, right, length, until, starting, times, .. } = sentence;
    if let Some(times) = times {
        let why = "does not say how often";
        return Err(TimeParseError::new(
            TimeParseProblem::Conflict,
            &times.said,
            why,
            crate::error::REPEATS,
        ));
    }
    if until.is_some() {
        return Err(TimeParseError::new(
            TimeParseProblem::Conflict,
            text.trim(),
            "ends what never begins",
            TIMES,
        ));
    }
    // `starting tomorrow` is tomorrow.
    if let Some(starting) = starting {
        if !left.is_empty() {
            let cure = "say the start alone";
            return Err(TimeParseError::new(
                TimeParseProblem::Conflict,
                text.trim(),
                "says two starts",
                cure,
            ));
        }
        left = starting;
    }
    match (right, length) {
        (Some(_), Some(length)) => {
            let cure = "say the end or how long it takes";
            Err(TimeParseError::new(
                TimeParseProblem::Conflict,
                &length.said,
                "says another end",
                cure,
            ))
        }
        (Some(right), None) => range(days, left, right, text),
        (None, Some(length)) => lasting(days, left, &length),
        (None, None) => point(days, left, text),
    }
}
