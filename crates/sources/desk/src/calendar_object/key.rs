//! What names an occurrence: when it would be by the rule of its series.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::ical::{DateOrTime, date_text, utc_text};

/// The original start of an occurrence, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum OccurrenceKey {
    Day(Date),
    At(Timestamp),
}

impl OccurrenceKey {
    pub(crate) fn of(moment: &DateOrTime) -> Self {
        match moment {
            DateOrTime::Day(day) => Self::Day(*day),
            DateOrTime::At(time) => Self::At(time.timestamp()),
        }
    }

    fn read(text: &str) -> Option<Self> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let date = |text: &str| Date::strptime("%Y%m%d", text).ok();
        match text.split_once('T') {
            None if text.len() == 8 && digits(text) => date(text).map(Self::Day),
            None => None,
            Some((day, time)) => {
                let time = time.strip_suffix('Z').filter(|time| time.len() == 6 && digits(time))?;
                let time = jiff::civil::Time::strptime("%H%M%S", time).ok()?;
                let time = date(day)?.to_datetime(time);
                TimeZone::UTC.to_timestamp(time).ok().map(Self::At)
            }
        }
    }
}

impl fmt::Display for OccurrenceKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(day) => out.write_str(&date_text(*day)),
            Self::At(time) => out.write_str(&utc_text(*time)),
        }
    }
}

/// An id as the tools have it: of an object, or of one of its occurrences
/// (`{object}@20261123T080000Z`, and `{object}@20261123` for whole days).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventId<'a> {
    pub(crate) object: &'a str,
    pub(crate) key: Option<OccurrenceKey>,
}

impl<'a> EventId<'a> {
    pub(crate) fn read(id: &'a str) -> Self {
        let parts = id.rsplit_once('@');
        let parts = parts.and_then(|(object, key)| Some((object, OccurrenceKey::read(key)?)));
        match parts {
            Some((object, key)) => Self { object, key: Some(key) },
            None => Self { object: id, key: None },
        }
    }
}
