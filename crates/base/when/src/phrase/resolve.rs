//! A phrase against a clock: a moment, a day, days, a stretch or a recurrence, with its notes.

mod day;
mod moment;
mod night;
mod period;
mod range;
mod recurrence;

use jiff::Zoned;
use jiff::civil::Date;

use super::syntax::{ClockPhrase, DayPhrase, Determiner, WithWords};
use crate::error::{TIMES, TimeParseError, TimeParseProblem};
use crate::iso::zone_of_day;
use crate::phrase::parse::cursor::PhraseCursor;
use crate::phrase::parse::lexer::lex;
use crate::phrase::parse::sentence::{Sentence, sentence};
use crate::phrase::parse::time_expression::TimeExpression;
use crate::{PhraseNote, PhraseReading, PhraseTime, ReferenceTime};
use day::DayResolver;
use moment::ClockTime;
use period::plus_days;
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

/// A number that nothing else explains is an hour, if there is a day to it.
pub(crate) fn settle_number(side: &mut TimeExpression) -> Result<(), TimeParseError> {
    let Some(number) = side.bare.take() else { return Ok(()) };
    let is_hour = side.day.is_some() || side.part.is_some();
    if !is_hour || side.clock.is_some() {
        let WithWords { what, said } = &number;
        let cure = format!(
            "say `{what}:00`, `at {what}` or `the {}`",
            crate::recurrence::ordinal(i64::from(*what))
        );
        return Err(TimeParseError::new(
            TimeParseProblem::Ambiguous,
            said,
            "may be an hour or a day",
            &cure,
        ));
    }
    side.clock = Some(hour_of(number)?);
    Ok(())
}

pub(crate) fn hour_of(number: WithWords<u32>) -> Result<WithWords<ClockPhrase>, TimeParseError> {
    let WithWords { what, said } = number;
    let is_24 = what == 0 || what > 12 || said.starts_with('0');
    let what = match i8::try_from(what) {
        Ok(hour @ 0..=23) if is_24 => ClockPhrase::Exact(
            jiff::civil::Time::new(hour, 0, 0, 0).unwrap_or(jiff::civil::Time::MIN),
        ),
        Ok(hour @ 1..=12) => ClockPhrase::Bare { hour, minute: 0, is_full: false },
        Ok(24) => ClockPhrase::DayEnd,
        Ok(_) | Err(_) => {
            return Err(TimeParseError::new(
                TimeParseProblem::Impossible,
                &said,
                "is no time of day",
                TIMES,
            ));
        }
    };
    Ok(WithWords { what, said })
}

pub(crate) fn point(
    days: &mut DayResolver<'_>,
    mut side: TimeExpression,
    text: &str,
) -> Result<PhraseTime, TimeParseError> {
    settle_number(&mut side)?;
    if let Some(moment) = days.own_moment(&side)? {
        return Ok(PhraseTime::Moment(moment));
    }
    let Some(hour) = days.hour(&side)? else { return whole_days(days, &side, text) };
    if let Some(said) = &side.all_day {
        return Err(not_all_day(said));
    }
    start(days, &side, hour).map(PhraseTime::Moment)
}

pub(crate) fn two_ends(said: &str) -> TimeParseError {
    let why = "may be an end of it or of each time";
    let cure = "say `until` before the last day, and `from 9 to 10` for the time of day";
    TimeParseError::new(TimeParseProblem::Ambiguous, said, why, cure)
}

pub(crate) fn one_moment(said: &str) -> TimeParseError {
    let (why, cure) = ("is one moment alone", "say the day and the time of day");
    TimeParseError::new(TimeParseProblem::Conflict, said, why, cure)
}

pub(crate) fn not_all_day(said: &str) -> TimeParseError {
    let why = "has a time of day beside it";
    TimeParseError::new(TimeParseProblem::Conflict, said, why, "leave out the time or `all day`")
}

/// Whole days, which have no zone.
pub(crate) fn whole_days(
    days: &mut DayResolver<'_>,
    side: &TimeExpression,
    text: &str,
) -> Result<PhraseTime, TimeParseError> {
    if let Some(zone) = &side.zone {
        return Err(zone_of_day(&zone.said));
    }
    let Some(day) = &side.day else {
        if side.all_day.is_some() {
            return Ok(PhraseTime::Day(days.today));
        }
        return Err(TimeParseError::new(
            TimeParseProblem::Unknown,
            text.trim(),
            "says no time",
            TIMES,
        ));
    };
    let (first, last) = days.days(day, None)?;
    checked(side, first)?;
    Ok(from_to(first, last))
}

pub(crate) fn from_to(first: Date, last: Date) -> PhraseTime {
    if first == last { PhraseTime::Day(first) } else { PhraseTime::Days { first, last } }
}

/// Whether the weekday that was said is the day's.
pub(crate) fn checked(side: &TimeExpression, day: Date) -> Result<(), TimeParseError> {
    let Some(check) = side.check.as_ref().filter(|check| check.what != day.weekday()) else {
        return Ok(());
    };
    let why = format!("is not the weekday of {}", crate::wording::day_words(day));
    let cure = "leave out the weekday or correct the date";
    Err(TimeParseError::new(TimeParseProblem::Conflict, &check.said, &why, cure))
}

/// The one day of a side.
pub(crate) fn one_day(
    days: &mut DayResolver<'_>,
    day: &WithWords<DayPhrase>,
    after: Option<Date>,
) -> Result<Date, TimeParseError> {
    let (first, last) = days.days(day, after)?;
    if first != last {
        let why = "is more than one day";
        let cure = "say which day, such as `Monday next week at 9`";
        return Err(TimeParseError::new(TimeParseProblem::Ambiguous, &day.said, why, cure));
    }
    Ok(first)
}

/// The moment of a side with a time of day; without a day, the next one that is to come.
fn start(
    days: &mut DayResolver<'_>,
    side: &TimeExpression,
    hour: ClockTime,
) -> Result<Zoned, TimeParseError> {
    let today = days.today_of(side);
    let zone = side.zone.as_ref();
    let mark = days.notes.len();
    let Some(day) = &side.day else {
        let hour = hour.without_night();
        let moment = days.moment(today, hour, zone)?;
        if moment >= days.frame.now {
            ends(days, side, hour, today);
            return Ok(moment);
        }
        days.notes.truncate(mark);
        let taken = plus_days(today, 1, "tomorrow")?;
        let moment = days.moment(taken, hour, zone)?;
        let said = said_clock(side);
        days.notes.push(PhraseNote::RolledOver { said, taken });
        return Ok(moment);
    };
    let date = one_day(days, day, None)?;
    checked(side, date)?;
    if let Some(moment) = days.this_night(side, date, hour)? {
        return Ok(moment);
    }
    let moment = days.moment(date, hour, zone)?;
    let is_weekday =
        matches!(day.what, DayPhrase::Weekday(Determiner::Plain | Determiner::This, _));
    if is_weekday && date == days.today && moment < days.frame.now {
        days.notes.truncate(mark);
        let taken = plus_days(date, 7, &day.said)?;
        let moment = days.moment(taken, hour, zone)?;
        let said = format!("{} {}", day.said, said_clock(side));
        days.notes.push(PhraseNote::RolledOver { said, taken });
        return Ok(moment);
    }
    ends(days, side, hour, date);
    Ok(moment)
}

pub(crate) fn said_clock(side: &TimeExpression) -> String {
    let clock = side.clock.as_ref().map(|clock| clock.said.clone());
    clock.or(side.part.as_ref().map(|part| part.said.clone())).unwrap_or_default()
}

/// Tells that a time ends its day or is of the night after it.
fn ends(days: &mut DayResolver<'_>, side: &TimeExpression, hour: ClockTime, day: Date) {
    if !hour.is_end {
        return;
    }
    if !hour.is_of_night() {
        days.notes.push(PhraseNote::Midnight { ends: day });
    } else if let Ok(taken) = day.tomorrow() {
        days.notes.push(PhraseNote::NightAfter { said: said_clock(side), night: day, taken });
    }
}
