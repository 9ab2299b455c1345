//! What a TZID means: a zone by its name, or by the rules of its VTIMEZONE.

use std::fmt::Write as _;

use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, Zoned};

use super::component::Component;
use super::line::Property;
use super::time::{Moment, Written, clock_text, date_text, utc_text};
use super::windows::iana;

/// The zones of one calendar object.
#[derive(Clone, Copy)]
pub(crate) struct Zones<'a> {
    /// Times without a zone are of this one.
    pub(crate) home: &'a TimeZone,
    /// The VCALENDAR, with its VTIMEZONEs.
    pub(crate) calendar: &'a Component,
}

impl Zones<'_> {
    /// The date or time of a property; `None` if it is none, or of a zone that nobody knows.
    pub(crate) fn moment(&self, property: &Property) -> Option<Moment> {
        self.moments(property).into_iter().next()
    }

    /// The dates or times of a property that may have several. Those that are none are left out,
    /// and of a PERIOD the start is taken.
    pub(crate) fn moments(&self, property: &Property) -> Vec<Moment> {
        let Some(zone) = self.of(property) else { return Vec::new() };
        let all = property.value.split(',').map(|value| value.split('/').next().unwrap_or(value));
        let read = |value| {
            Some(match Written::read(value)? {
                Written::Day(day) => Moment::Day(day),
                Written::Utc(time) => Moment::At(time.to_zoned(TimeZone::UTC)),
                // Section 3.3.5: left out by a change, the offset before it counts; of two, the
                // first.
                Written::Clock(time) => {
                    Moment::At(zone.to_ambiguous_zoned(time).compatible().ok()?)
                }
            })
        };
        all.filter_map(read).collect()
    }

    /// The moment of a property whose value is one in UTC, such as `DTSTAMP`.
    pub(crate) fn instant(&self, property: &Property) -> Option<Timestamp> {
        self.moment(property).map(|moment| moment.instant(self.home))
    }

    /// Writes a moment in the form of another property: a date, in UTC, or of its zone.
    pub(crate) fn like(&self, name: &str, model: &Property, moment: &Moment) -> Property {
        let (zone, id) = (self.of(model), model.parameter("TZID"));
        match (moment, Written::read(&model.value)) {
            (Moment::At(time), Some(Written::Utc(_))) => {
                Property::new(name, utc_text(time.timestamp()))
            }
            (Moment::At(time), Some(Written::Clock(_))) => {
                let Some(zone) = zone else { return written(name, moment) };
                let clock = clock_text(time.with_time_zone(zone).datetime());
                let property = Property::new(name, clock);
                match id {
                    Some(id) => property.with("TZID", id),
                    None => property,
                }
            }
            _ => written(name, moment),
        }
    }

    /// The zone of a property's times, home for those without one.
    fn of(&self, property: &Property) -> Option<TimeZone> {
        let Some(id) = property.parameter("TZID") else { return Some(self.home.clone()) };
        by_name(id).or_else(|| {
            let mut all = self.calendar.components.iter();
            let own = all.find(|it| {
                it.name == "VTIMEZONE" && it.get("TZID").is_some_and(|known| known.as_text() == id)
            })?;
            own.get("X-LIC-LOCATION").and_then(|place| by_name(&place.value)).or_else(|| ruled(own))
        })
    }
}

/// Writes a moment with the name of its zone; one of a bare offset in UTC.
pub(crate) fn written(name: &str, moment: &Moment) -> Property {
    match moment {
        Moment::Day(day) => Property::new(name, date_text(*day)).with("VALUE", "DATE"),
        Moment::At(time) => match named(time) {
            Some(zone) if !is_utc(zone) => {
                Property::new(name, clock_text(time.datetime())).with("TZID", zone)
            }
            _ => Property::new(name, utc_text(time.timestamp())),
        },
    }
}

/// The IANA name of a time's zone, if writing it loses nothing: the clock alone does not tell the
/// second of two equal times.
fn named(time: &Zoned) -> Option<&str> {
    let zone = time.time_zone();
    let is_second = match zone.to_ambiguous_zoned(time.datetime()).offset() {
        AmbiguousOffset::Fold { before, .. } => before != time.offset(),
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Gap { .. } => false,
    };
    zone.iana_name().filter(|_| !is_second)
}

pub(super) fn is_utc(name: &str) -> bool {
    matches!(name, "UTC" | "Etc/UTC" | "Etc/UCT" | "Zulu" | "Etc/Zulu")
}

/// A zone by what programs write for one: an IANA name, also at the end of a path, or a name of
/// Windows.
fn by_name(id: &str) -> Option<TimeZone> {
    let id = id.trim().trim_matches('"');
    if let Ok(zone) = TimeZone::get(id) {
        return Some(zone);
    }
    if let Some(zone) = iana(id).and_then(|name| TimeZone::get(name).ok()) {
        return Some(zone);
    }
    // `/freeassociation.sourceforge.net/Europe/Zurich`, `/citadel.org/20210210_1/Europe/Zurich`
    let starts = id.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| at + 1);
    starts.filter_map(|at| id.get(at..)).find_map(|name| TimeZone::get(name).ok())
}

/// The zone that a VTIMEZONE's rules of today make, if they are of the plain form.
fn ruled(zone: &Component) -> Option<TimeZone> {
    let latest = |kind: &str| {
        let of_kind = zone.components.iter().filter(|it| it.name == kind);
        of_kind.max_by_key(|it| it.get("DTSTART").map(|start| start.value.clone()))
    };
    let standard = latest("STANDARD")?;
    let offset = |it: &Component| offset(&it.get("TZOFFSETTO")?.value);
    let mut text = format!("<STD>{}", posix(-offset(standard)?));
    if let Some(daylight) = latest("DAYLIGHT").filter(|it| it.get("RRULE").is_some()) {
        let _ = write!(text, "<DST>{}", posix(-offset(daylight)?));
        for change in [daylight, standard] {
            let _ = write!(text, ",{}", changed(change)?);
        }
    }
    TimeZone::posix(&text).ok()
}

/// When a change comes, as POSIX writes it: `M3.5.0/2:00:00`.
fn changed(change: &Component) -> Option<String> {
    let rule = change.get("RRULE")?.value.to_ascii_uppercase();
    let part = |name: &str| {
        let mut parts = rule.split(';').filter_map(|part| part.split_once('='));
        parts.find(|(known, _)| *known == name).map(|(_, value)| value)
    };
    if part("FREQ") != Some("YEARLY") || part("BYMONTHDAY").is_some() {
        return None;
    }
    let month: u8 = part("BYMONTH")?.parse().ok()?;
    let by_day = part("BYDAY")?;
    let (nth, day) = by_day.split_at_checked(by_day.len().checked_sub(2)?)?;
    let week = match nth.parse::<i8>().ok()? {
        -1 => 5,
        nth @ 1..=4 => nth,
        _ => return None,
    };
    let day = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"].iter().position(|known| *known == day)?;
    let Written::Clock(start) = Written::read(&change.get("DTSTART")?.value)? else { return None };
    let (hour, minute, second) = (start.hour(), start.minute(), start.second());
    Some(format!("M{month}.{week}.{day}/{hour}:{minute:02}:{second:02}"))
}

/// Seconds of `+0530` or `-080000`.
fn offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.trim().split_at_checked(1)? {
        ("-", digits) => (-1, digits),
        ("+", digits) => (1, digits),
        _ => return None,
    };
    let part = |from: usize| digits.get(from..from + 2).and_then(|two| two.parse::<i32>().ok());
    let seconds = part(0)? * 3600 + part(2)? * 60 + part(4).unwrap_or(0);
    (seconds < 86_400).then_some(sign * seconds)
}

fn posix(seconds: i32) -> String {
    let (sign, all) = (if seconds < 0 { "-" } else { "" }, seconds.abs());
    format!("{sign}{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60)
}
