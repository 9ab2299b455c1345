//! Dates, times and durations as iCalendar writes them (RFC 5545, sections 3.3.4 to 3.3.6).

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, Zoned};

/// A date or a time: the two that `DTSTART` may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DateOrTime {
    Day(Date),
    At(Zoned),
}

impl DateOrTime {
    /// When it begins, a day being one of `zone`.
    pub(crate) fn instant(&self, zone: &TimeZone) -> Timestamp {
        match self {
            Self::At(time) => time.timestamp(),
            Self::Day(day) => start_of(*day, zone),
        }
    }

    /// The day that its own clock shows.
    pub(crate) fn date(&self) -> Date {
        match self {
            Self::Day(day) => *day,
            Self::At(time) => time.date(),
        }
    }
}

/// When a day begins; at the ends of the calendar the nearest time that there is.
pub(crate) fn start_of(day: Date, zone: &TimeZone) -> Timestamp {
    let start = zone.to_ambiguous_timestamp(day.to_datetime(jiff::civil::Time::midnight()));
    start.compatible().unwrap_or(if day.year() < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

/// What a value of type DATE or DATE-TIME says, before its zone is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnzonedTime {
    Day(Date),
    /// On the clock of the zone that the property names.
    Clock(DateTime),
    Utc(Timestamp),
}

impl UnzonedTime {
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let Some((day, time)) = text.split_once(['T', 't']) else {
            return date(text).map(Self::Day);
        };
        let clock = time.strip_suffix(['Z', 'z']);
        let digits = clock.unwrap_or(time);
        if digits.len() != 6 {
            return None;
        }
        let part = |from: usize| digits.get(from..from + 2).and_then(number::<i8>);
        // A leap second is the one before it: no clock of ours has it.
        let time = jiff::civil::Time::new(part(0)?, part(2)?, part(4)?.min(59), 0).ok()?;
        let time = date(day)?.to_datetime(time);
        Some(match clock {
            Some(_) => Self::Utc(TimeZone::UTC.to_timestamp(time).ok()?),
            None => Self::Clock(time),
        })
    }
}

fn date(text: &str) -> Option<Date> {
    if text.len() != 8 {
        return None;
    }
    let (year, rest) = text.split_at_checked(4)?;
    let (month, day) = rest.split_at_checked(2)?;
    Date::new(number(year)?, number(month)?, number(day)?).ok()
}

fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// `20261123`
pub(crate) fn date_text(day: Date) -> String {
    format!("{:04}{:02}{:02}", day.year(), day.month(), day.day())
}

/// `20261123T090000`
pub(super) fn clock_text(time: DateTime) -> String {
    let day = date_text(time.date());
    format!("{day}T{:02}{:02}{:02}", time.hour(), time.minute(), time.second())
}

/// `20261123T080000Z`
pub(crate) fn utc_text(time: Timestamp) -> String {
    format!("{}Z", clock_text(TimeZone::UTC.to_datetime(time)))
}

/// A value of type DURATION: days that are nominal, and seconds that are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct IcalDuration {
    pub(crate) days: i32,
    pub(crate) seconds: i64,
}

impl IcalDuration {
    /// Reads `P1W`, `PT1H30M` or `-P1DT2H`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_uppercase();
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(&text)),
        };
        let mut rest = rest.strip_prefix('P')?;
        let mut length = Self::default();
        let mut in_time = false;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('T') {
                in_time = true;
                rest = after;
                continue;
            }
            let end = rest.find(|letter: char| !letter.is_ascii_digit())?;
            let (digits, after) = rest.split_at_checked(end)?;
            let count: i32 = number(digits)?;
            let unit = after.chars().next()?;
            let days = |each: i32| count.checked_mul(each);
            let seconds = |each: i64| i64::from(count).checked_mul(each);
            match (unit, in_time) {
                ('W', false) => length.days = length.days.checked_add(days(7)?)?,
                ('D', false) => length.days = length.days.checked_add(count)?,
                ('H', true) => length.seconds = length.seconds.checked_add(seconds(3600)?)?,
                ('M', true) => length.seconds = length.seconds.checked_add(seconds(60)?)?,
                ('S', true) => length.seconds = length.seconds.checked_add(seconds(1)?)?,
                _ => return None,
            }
            rest = after.get(unit.len_utf8()..)?;
        }
        Some(Self { days: length.days * sign, seconds: length.seconds * i64::from(sign) })
    }

    /// The time that is so much later, if the calendar goes so far.
    pub(crate) fn after(self, start: &Zoned) -> Option<Zoned> {
        let days = Span::new().try_days(self.days).ok()?;
        start.checked_add(days).ok()?.checked_add(SignedDuration::from_secs(self.seconds)).ok()
    }

    /// Whole days, a part of one counted as one.
    pub(crate) fn whole_days(self) -> i32 {
        let more = self.seconds.div_euclid(86_400) + i64::from(self.seconds % 86_400 > 0);
        self.days.saturating_add(i32::try_from(more).unwrap_or(i32::MAX))
    }
}
