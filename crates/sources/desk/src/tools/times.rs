//! Phrases of time against the desk's clock and zone, and times in words: all that the tools
//! know of `toolcrib-when`.

pub(crate) mod range;
pub(crate) mod slot;

use std::sync::LazyLock;

use jiff::civil::Date;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, SpanRelativeTo, Timestamp, Zoned};
use toolcrib_core::ToolError;
use toolcrib_when::{
    PhraseNote, PhraseReading, PhraseTime, Recurrence, ReferenceTime, TimeParseError,
};

use crate::backend::{EventSlot, TaskDue};
use crate::time_settings::DeskTimeSettings;

/// The zones compiled in: the same on every machine.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A clock that stands still during a call, in the zone of the call.
pub(crate) struct CallClock {
    /// At the beginning of the minute: `in 2 hours` is meant as a clock shows it.
    frame: ReferenceTime,
    exact: Timestamp,
    /// Where the owner is: times of another zone are told with it.
    home: TimeZone,
}

impl CallClock {
    /// In the zone of the desk, or in another.
    pub(crate) fn new(
        settings: &DeskTimeSettings,
        timezone: Option<&str>,
    ) -> Result<Self, ToolError> {
        let zone = match timezone {
            None => settings.zone.clone(),
            Some(name) => ZONES.get(name.trim()).map_err(|error| {
                let shown = super::quoting::plain(name, 64);
                let message = format!(
                    "`{shown}` is no known time zone: write an IANA name such as `Europe/Zurich`"
                );
                ToolError::told(message).because(error)
            })?,
        };
        Ok(Self::starting((settings.clock)(), zone, settings.zone.clone()))
    }

    fn starting(exact: Timestamp, zone: TimeZone, home: TimeZone) -> Self {
        let minute = exact.as_second().div_euclid(60) * 60;
        let minute = Timestamp::from_second(minute).unwrap_or(exact);
        Self { frame: ReferenceTime::new(minute.to_zoned(zone)), exact, home }
    }

    /// The time it is now, exactly.
    pub(crate) fn now(&self) -> Zoned {
        self.at(self.exact)
    }

    pub(crate) fn zone(&self) -> TimeZone {
        self.frame.now.time_zone().clone()
    }

    /// The name of the zone, or its offset where it has no name.
    pub(crate) fn zone_name(&self) -> String {
        let zone = self.frame.now.time_zone();
        zone.iana_name().map_or_else(|| self.frame.now.offset().to_string(), str::to_owned)
    }

    /// A moment as people see it here.
    pub(crate) fn at(&self, moment: Timestamp) -> Zoned {
        moment.to_zoned(self.zone())
    }

    /// The same moment as people see it here.
    pub(crate) fn here(&self, moment: &Zoned) -> Zoned {
        moment.with_time_zone(self.zone())
    }

    /// `Tue 24 Nov 2026 14:00 to 15:00`, `Tue 24 Nov 2026 (all day)`.
    pub(crate) fn say(&self, slot: &EventSlot) -> String {
        self.told(&self.when(slot))
    }

    /// `Tue 24 Nov 2026 14:00`.
    pub(crate) fn say_moment(&self, moment: &Zoned) -> String {
        self.told(&PhraseTime::Moment(self.here(moment)))
    }

    fn told(&self, when: &PhraseTime) -> String {
        let now = self.exact.to_zoned(self.home.clone());
        toolcrib_when::say(when, &ReferenceTime { now, ..self.frame.clone() })
    }

    /// `Tue 24 Nov 2026`, with the time if there is one.
    pub(crate) fn say_due(&self, due: &TaskDue) -> String {
        match due {
            TaskDue::Day(day) => say_day(*day),
            TaskDue::At(moment) => self.say_moment(moment),
        }
    }

    /// `every Monday`; a rule that is not read is told as it is.
    pub(crate) fn say_rule(&self, rule: &str) -> String {
        match rule.parse::<Recurrence>() {
            Ok(rule) => rule.words(&self.zone()),
            Err(_) => super::quoting::plain(rule, 200),
        }
    }

    /// From when to when a slot is; whole days as they are here.
    pub(crate) fn bounds(&self, slot: &EventSlot) -> Option<(Timestamp, Timestamp)> {
        let (start, end) = self.when(slot).bounds(&self.frame)?;
        Some((start.timestamp(), end.timestamp()))
    }

    /// A warning if something new lies in the past.
    pub(crate) fn past(&self, slot: &EventSlot, rule: Option<&str>) -> Option<String> {
        let first = self.when(slot);
        let when = match rule.and_then(|rule| rule.parse().ok()) {
            Some(rule) => PhraseTime::Recurring { first: Box::new(first), rule },
            None => first,
        };
        when.is_past(&self.frame).then(|| format!("{} is in the past", self.say(slot)))
    }

    /// The slot as a time of the reader, in the zone of the call.
    fn when(&self, slot: &EventSlot) -> PhraseTime {
        match slot {
            EventSlot::Timed { start, end } if start < end => {
                PhraseTime::Stretch { start: self.here(start), end: self.here(end) }
            }
            EventSlot::Timed { start, .. } => PhraseTime::Moment(self.here(start)),
            EventSlot::Days { first, last } if first < last => {
                PhraseTime::Days { first: *first, last: *last }
            }
            EventSlot::Days { first, .. } => PhraseTime::Day(*first),
        }
    }

    fn read(&self, field: &str, text: &str) -> Result<PhraseReading, ToolError> {
        read(field, text, &self.frame)
    }

    /// A clock that shows the beginning of a day.
    fn on(&self, day: Date) -> Result<ReferenceTime, ToolError> {
        let now = day.to_zoned(self.zone()).map_err(beyond)?;
        Ok(ReferenceTime { now, ..self.frame.clone() })
    }
}

fn read(field: &str, text: &str, frame: &ReferenceTime) -> Result<PhraseReading, ToolError> {
    toolcrib_when::read(text, frame).map_err(|unread| unreadable(field, &unread))
}

fn unreadable(field: &str, unread: &TimeParseError) -> ToolError {
    ToolError::told(format!("`{field}`: {unread}"))
}

/// Of a time before the first or after the last that there is here.
fn beyond(error: jiff::Error) -> ToolError {
    const CURE: &str = "that leads beyond the days that are counted here, which end with the year \
                        9999: say another time";
    ToolError::told(CURE).because(error)
}

fn notes(reading: &PhraseReading) -> Vec<String> {
    reading.notes.iter().map(PhraseNote::to_string).collect()
}

/// A length of time; days have 24 hours.
pub(crate) fn length(field: &str, text: &str) -> Result<SignedDuration, ToolError> {
    let span = toolcrib_when::duration(text).map_err(|unread| unreadable(field, &unread))?;
    span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|error| {
        let message = format!("`{field}`: months and years have no length: say it in days");
        ToolError::told(message).because(error)
    })
}

/// ISO 8601 with offset, without a fraction of the second.
pub(crate) fn iso(moment: &Zoned) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn say_day(day: Date) -> String {
    day.strftime("%a %-d %b %Y").to_string()
}
