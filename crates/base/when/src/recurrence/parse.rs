//! The text of a rule, as RFC 5545 writes it, read within bounds.

use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;

use super::{Frequency, Recurrence, RecurrenceEnd, RecurrenceUntil, RecurrenceWeekday};
use crate::error::{RULES, TimeParseError, TimeParseProblem};

/// The longest text of a rule that is read, in bytes: all days of a year by number fit in.
const LONGEST_RULE: usize = 2_000;
/// The greatest `INTERVAL` and `COUNT`; calendars offer 999 at the most.
const GREATEST: u32 = 100_000;

pub(super) const WEEKDAYS: [(&str, Weekday); 7] = [
    ("MO", Weekday::Monday),
    ("TU", Weekday::Tuesday),
    ("WE", Weekday::Wednesday),
    ("TH", Weekday::Thursday),
    ("FR", Weekday::Friday),
    ("SA", Weekday::Saturday),
    ("SU", Weekday::Sunday),
];

impl FromStr for Recurrence {
    type Err = TimeParseError;

    /// Reads the value of an `RRULE`, with or without that name before it, in any case.
    fn from_str(text: &str) -> Result<Self, TimeParseError> {
        Self::read(text, Clock::Unknown)
    }
}

/// What is known of the start of a rule while it is read.
#[derive(Clone, Copy)]
enum Clock {
    Unknown,
    Day,
    At(Time),
}

impl Recurrence {
    /// Reads a rule that stands beside its start, a time on the clock or, with `None`, a whole day.
    ///
    /// What it says of hours, minutes and seconds says nothing beside a day (RFC 5545, section
    /// 3.3.10), and repeats nothing if it is what the start has.
    pub fn beside(text: &str, start: Option<Time>) -> Result<Self, TimeParseError> {
        Self::read(text, start.map_or(Clock::Day, Clock::At))
    }

    fn read(text: &str, clock: Clock) -> Result<Self, TimeParseError> {
        if text.len() > LONGEST_RULE {
            let why = format!("is longer than the {LONGEST_RULE} bytes that are read of a rule");
            return Err(TimeParseError::new(TimeParseProblem::TooLong, text, &why, RULES));
        }
        let upper = text.trim().to_ascii_uppercase();
        let body = upper.strip_prefix("RRULE:").unwrap_or(&upper);
        if body.is_empty() {
            return Err(TimeParseError::new(TimeParseProblem::Empty, text, "is no rule", RULES));
        }
        let parts: Vec<&str> = body.strip_suffix(';').unwrap_or(body).split(';').collect();
        let mut rule = Self::every(1, frequency(&parts, body)?, Weekday::Monday);
        let mut seen: Vec<&str> = Vec::new();
        for part in parts {
            let (name, value) = part.split_once('=').ok_or_else(|| unknown(part))?;
            if seen.contains(&name) {
                return Err(TimeParseError::new(
                    TimeParseProblem::Conflict,
                    part,
                    "says it twice",
                    RULES,
                ));
            }
            seen.push(name);
            rule.take((part, name, value), clock)?;
        }
        if seen.contains(&"COUNT") && seen.contains(&"UNTIL") {
            let why = "has both COUNT and UNTIL";
            return Err(TimeParseError::new(
                TimeParseProblem::Conflict,
                body,
                why,
                "leave one of them out",
            ));
        }
        rule.check(body)?;
        Ok(rule)
    }
}

impl Recurrence {
    fn take(
        &mut self,
        (part, name, value): (&str, &str, &str),
        clock: Clock,
    ) -> Result<(), TimeParseError> {
        match name {
            "FREQ" => {}
            "INTERVAL" => self.interval = positive(part, value)?,
            "COUNT" => self.end = RecurrenceEnd::Count(positive(part, value)?),
            "UNTIL" => self.end = RecurrenceEnd::Until(until(part, value)?),
            "BYMONTH" => self.months = numbers(part, value, 1, 12)?,
            "BYWEEKNO" => self.weeks = numbers(part, value, -53, 53)?,
            "BYYEARDAY" => self.year_days = numbers(part, value, -366, 366)?,
            "BYMONTHDAY" => self.month_days = numbers(part, value, -31, 31)?,
            "BYSETPOS" => self.positions = numbers(part, value, -366, 366)?,
            "BYDAY" => self.days = days(part, value)?,
            "WKST" => self.week_starts = weekday(value).ok_or_else(|| unknown(part))?,
            "BYHOUR" | "BYMINUTE" | "BYSECOND" => within_day((part, name, value), clock)?,
            _ => return Err(unknown(part)),
        }
        Ok(())
    }

    /// What the standard forbids together.
    fn check(&self, text: &str) -> Result<(), TimeParseError> {
        use Frequency::{Daily, Monthly, Weekly, Yearly};
        let has_nth = self.days.iter().any(|day| day.nth != 0);
        let is_numbered = matches!(self.frequency, Monthly | Yearly) && self.weeks.is_empty();
        let is_bare = self.is_bare() && self.months.is_empty();
        let faults = [
            (has_nth && !is_numbered, "has BYDAY with a number outside months and years"),
            (!self.month_days.is_empty() && self.frequency == Weekly, "has BYMONTHDAY in weeks"),
            (!self.weeks.is_empty() && self.frequency != Yearly, "has BYWEEKNO outside years"),
            (
                !self.year_days.is_empty() && matches!(self.frequency, Daily | Weekly | Monthly),
                "has BYYEARDAY outside years",
            ),
            (!self.positions.is_empty() && is_bare, "has BYSETPOS without days to choose from"),
        ];
        for (is_fault, why) in faults {
            if is_fault {
                return Err(TimeParseError::new(TimeParseProblem::Conflict, text, why, RULES));
            }
        }
        Ok(())
    }
}

/// Passes over a part that repeats nothing within a day, and refuses any other.
fn within_day((part, name, value): (&str, &str, &str), clock: Clock) -> Result<(), TimeParseError> {
    let says = |number: i8| {
        value.split(',').all(|text| {
            text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse() == Ok(number)
        })
    };
    let (why, cure) = match (clock, name) {
        (Clock::Day, _) => return Ok(()),
        (Clock::At(time), "BYHOUR") if says(time.hour()) => return Ok(()),
        (Clock::At(time), "BYMINUTE") if says(time.minute()) => return Ok(()),
        (Clock::At(time), "BYSECOND") if says(time.second()) => return Ok(()),
        (Clock::At(_), _) if !value.contains(',') => {
            ("is another time of day than that of the start", "start it at that time")
        }
        (Clock::At(_) | Clock::Unknown, _) => {
            ("repeats within a day, which is not followed here", "make an event of each hour")
        }
    };
    Err(TimeParseError::new(TimeParseProblem::Unsupported, part, why, cure))
}

fn unknown(part: &str) -> TimeParseError {
    TimeParseError::new(TimeParseProblem::Unknown, part, "is no part of a recurrence rule", RULES)
}

/// `FREQ`, which the standard wants and lets stand anywhere.
fn frequency(parts: &[&str], text: &str) -> Result<Frequency, TimeParseError> {
    let Some(part) = parts.iter().find(|part| part.starts_with("FREQ=")) else {
        let why = "does not say how often";
        return Err(TimeParseError::new(TimeParseProblem::Unknown, text, why, RULES));
    };
    match part.strip_prefix("FREQ=").unwrap_or_default() {
        "DAILY" => Ok(Frequency::Daily),
        "WEEKLY" => Ok(Frequency::Weekly),
        "MONTHLY" => Ok(Frequency::Monthly),
        "YEARLY" => Ok(Frequency::Yearly),
        "HOURLY" | "MINUTELY" | "SECONDLY" => {
            let why = "repeats within a day, which is not followed here";
            let cure = "say DAILY, WEEKLY, MONTHLY or YEARLY";
            Err(TimeParseError::new(TimeParseProblem::Unsupported, part, why, cure))
        }
        _ => Err(unknown(part)),
    }
}

fn positive(part: &str, value: &str) -> Result<u32, TimeParseError> {
    let is_digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let number = value.parse().ok().filter(|number| (1..=GREATEST).contains(number));
    number.filter(|_| is_digits).ok_or_else(|| {
        let why = format!("is no number from 1 to {GREATEST}");
        TimeParseError::new(TimeParseProblem::OutOfRange, part, &why, RULES)
    })
}

/// A list of numbers without zero, sorted, each once.
fn numbers<N>(part: &str, value: &str, least: i16, greatest: i16) -> Result<Vec<N>, TimeParseError>
where
    N: TryFrom<i16> + Ord,
{
    let read = |text: &str| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: i16 = text.parse().ok().filter(|_| is_plain)?;
        let is_within = number != 0 && (least..=greatest).contains(&number);
        N::try_from(number).ok().filter(|_| is_within)
    };
    let numbers: Option<Vec<N>> = value.split(',').map(read).collect();
    let mut numbers = numbers.ok_or_else(|| {
        let why = format!("has a number that is not from {least} to {greatest}, or is zero");
        TimeParseError::new(TimeParseProblem::OutOfRange, part, &why, RULES)
    })?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

fn weekday(text: &str) -> Option<Weekday> {
    WEEKDAYS.iter().find(|(name, _)| *name == text).map(|(_, weekday)| *weekday)
}

fn days(part: &str, value: &str) -> Result<Vec<RecurrenceWeekday>, TimeParseError> {
    let read = |text: &str| -> Option<RecurrenceWeekday> {
        let (nth, name) = text.split_at_checked(text.len().checked_sub(2)?)?;
        let weekday = weekday(name)?;
        if nth.is_empty() {
            return Some(RecurrenceWeekday { nth: 0, weekday });
        }
        let [nth] = numbers::<i8>(part, nth, -53, 53).ok()?.try_into().ok()?;
        Some(RecurrenceWeekday { nth, weekday })
    };
    let days: Option<Vec<RecurrenceWeekday>> = value.split(',').map(read).collect();
    let mut days = days.ok_or_else(|| {
        let why = "has what is no weekday, such as MO, 1MO or -1FR";
        TimeParseError::new(TimeParseProblem::Unknown, part, why, RULES)
    })?;
    days.sort_unstable_by_key(|day| (day.nth, day.weekday.to_monday_zero_offset()));
    days.dedup();
    Ok(days)
}

/// `20261224`, `20261224T180000` or `20261224T180000Z`.
fn until(part: &str, value: &str) -> Result<RecurrenceUntil, TimeParseError> {
    let read = || -> Option<RecurrenceUntil> {
        let (day, time) = value.split_once('T').map_or((value, None), |(d, t)| (d, Some(t)));
        let day = basic_date(day)?;
        let Some(time) = time else { return Some(RecurrenceUntil::Day(day)) };
        let (time, is_utc) = time.strip_suffix('Z').map_or((time, false), |time| (time, true));
        let moment: DateTime = day.to_datetime(basic_time(time)?);
        if !is_utc {
            return Some(RecurrenceUntil::Local(moment));
        }
        let instant: Timestamp = TimeZone::UTC.to_timestamp(moment).ok()?;
        Some(RecurrenceUntil::Instant(instant))
    };
    read().ok_or_else(|| {
        let cure = "say it like `UNTIL=20261224` or `UNTIL=20261224T170000Z`";
        TimeParseError::new(TimeParseProblem::Impossible, part, "is no time of the calendar", cure)
    })
}

fn digits(text: &str, at: usize, length: usize) -> Option<i16> {
    let part = text.get(at..at + length)?;
    part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
}

fn basic_date(text: &str) -> Option<Date> {
    let month = i8::try_from(digits(text, 4, 2)?).ok()?;
    let day = i8::try_from(digits(text, 6, 2)?).ok()?;
    (text.len() == 8).then(|| Date::new(digits(text, 0, 4)?, month, day).ok())?
}

fn basic_time(text: &str) -> Option<Time> {
    let part = |at| i8::try_from(digits(text, at, 2)?).ok();
    (text.len() == 6).then(|| Time::new(part(0)?, part(2)?, part(4)?.min(59), 0).ok())?
}
