//! What a TZID means: a zone by its name, or by the rules of its VTIMEZONE.

use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{Timestamp, Zoned};

use super::component::IcalComponent;
use super::content_line::IcalProperty;
use super::observance::{HORIZON, iana_name, is_made, observed};
use super::time::{DateOrTime, UnzonedTime, clock_text, date_text, utc_text};
use super::windows_zones::iana;

/// Letters of a value that are repeated in a message.
const SHOWN: usize = 60;
/// From the start of one year to that of another.
const YEARS_COMPARED: [i16; 2] = [2010, 2036];

/// The zones of one calendar object.
#[derive(Clone, Copy)]
pub(crate) struct ObjectZones<'a> {
    /// Times without a zone are of this one.
    pub(crate) home: &'a TimeZone,
    /// The VCALENDAR, with its VTIMEZONEs.
    pub(crate) calendar: &'a IcalComponent,
}

/// A date or time, and the text of the end of the PERIOD that it begins.
pub(crate) type Begun<'a> = (DateOrTime, Option<&'a str>);

impl ObjectZones<'_> {
    /// The date or time of a property; `None` if it is none, or of a zone that nobody knows.
    pub(crate) fn moment(&self, property: &IcalProperty) -> Option<DateOrTime> {
        self.moments(property).into_iter().next()
    }

    /// The dates or times of a property that may have several, and of a PERIOD its start; none if
    /// one of them cannot be read.
    pub(crate) fn moments(&self, property: &IcalProperty) -> Vec<DateOrTime> {
        let all = self.read(property).unwrap_or_default();
        all.into_iter().map(|(moment, _)| moment).collect()
    }

    /// The only date or time of a property, or why it has none.
    pub(crate) fn one(&self, property: &IcalProperty) -> Result<DateOrTime, String> {
        match <[_; 1]>::try_from(self.read(property)?) {
            Ok([(moment, None)]) => Ok(moment),
            Ok([(_, Some(_))]) | Err(_) => Err(unread(property, &property.value)),
        }
    }

    /// The dates, times and PERIODs of a property, or why one of them cannot be read.
    pub(crate) fn read<'a>(&self, property: &'a IcalProperty) -> Result<Vec<Begun<'a>>, String> {
        if property.value.trim().is_empty() {
            return Ok(Vec::new());
        }
        let read = |value: &'a str| {
            let (start, end) = value.split_once('/').map_or((value, None), |(a, b)| (a, Some(b)));
            let moment = match UnzonedTime::read(start).ok_or_else(|| unread(property, value))? {
                UnzonedTime::Day(day) => DateOrTime::Day(day),
                UnzonedTime::Utc(time) => DateOrTime::At(time.to_zoned(TimeZone::UTC)),
                UnzonedTime::Clock(time) => {
                    let zone = self.of(property)?;
                    if is_made(&zone) && time.year() >= HORIZON {
                        return Err(unread(property, value));
                    }
                    // Section 3.3.5: left out by a change, the offset before it counts; of two,
                    // the first.
                    let time = zone.to_ambiguous_zoned(time).compatible();
                    DateOrTime::At(time.map_err(|_| unread(property, value))?)
                }
            };
            Ok((moment, end))
        };
        property.value.split(',').map(read).collect()
    }

    /// What the clocks of its place were to show at the time of a property, be it left out there
    /// or not.
    pub(crate) fn shown(property: &IcalProperty) -> Option<jiff::civil::Time> {
        match UnzonedTime::read(&property.value)? {
            UnzonedTime::Clock(time) => Some(time.time()),
            UnzonedTime::Utc(time) => Some(TimeZone::UTC.to_datetime(time).time()),
            UnzonedTime::Day(_) => None,
        }
    }

    /// The moment of a property whose value is one in UTC, such as `DTSTAMP`.
    pub(crate) fn instant(&self, property: &IcalProperty) -> Option<Timestamp> {
        self.moment(property).map(|moment| moment.instant(self.home))
    }

    /// Writes a moment in the form of another property: a date, in UTC, or of its zone.
    pub(crate) fn like(
        &self,
        name: &str,
        model: &IcalProperty,
        moment: &DateOrTime,
    ) -> IcalProperty {
        let (zone, id) = (self.of(model).ok(), model.parameter("TZID"));
        match (moment, UnzonedTime::read(&model.value)) {
            (DateOrTime::At(time), Some(UnzonedTime::Utc(_))) => {
                IcalProperty::new(name, utc_text(time.timestamp()))
            }
            (DateOrTime::At(time), Some(UnzonedTime::Clock(_))) => {
                let Some(zone) = zone else { return written(name, moment) };
                let clock = clock_text(time.with_time_zone(zone).datetime());
                let property = IcalProperty::new(name, clock);
                match id {
                    Some(id) => property.with("TZID", id),
                    None => property,
                }
            }
            _ => written(name, moment),
        }
    }

    /// The zone of a property's times, home for those without one, or why it has none.
    fn of(&self, property: &IcalProperty) -> Result<TimeZone, String> {
        let Some(id) = property.parameter("TZID") else { return Ok(self.home.clone()) };
        let mut all = self.calendar.components.iter();
        let Some(own) = all.find(|it| is_zone(it, id)) else {
            let known = place(id).or_else(|| word(id));
            return known.ok_or_else(|| format!("its zone `{id}` is one that nobody knows"));
        };
        let said = || own.get("X-LIC-LOCATION").and_then(|it| place(&it.value));
        if let Some(zone) = place(id).or_else(said) {
            return Ok(zone);
        }
        // A word such as `EST` is given to all kinds of rules: those that are told count.
        match (observed(own), word(id)) {
            (Ok(told), Some(known)) if !agree(&told, &known) => Ok(told),
            (Ok(_) | Err(_), Some(known)) => Ok(known),
            (read, None) => read,
        }
    }
}

/// Whether a component is the VTIMEZONE of a name.
pub(crate) fn is_zone(it: &IcalComponent, id: &str) -> bool {
    let is_named = |known: &IcalProperty| known.as_text() == id || known.value == id;
    it.name == "VTIMEZONE" && it.get("TZID").is_some_and(is_named)
}

/// Whether a name is that of a place, whose zone needs no VTIMEZONE.
pub(crate) fn is_place(id: &str) -> bool {
    place(id).is_some()
}

/// That a value of a property is no date and no time.
fn unread(property: &IcalProperty, value: &str) -> String {
    let value: String = value.chars().take(SHOWN).collect();
    format!("its {} `{value}` is no date or time that is read here", property.name)
}

/// Whether two zones change their clocks alike in the years that most events are of.
fn agree(one: &TimeZone, other: &TimeZone) -> bool {
    let changes = |zone: &TimeZone| -> Option<Vec<(Timestamp, Offset)>> {
        let [from, until] = YEARS_COMPARED.map(|year| {
            let start = jiff::civil::Date::new(year, 1, 1).ok()?.at(0, 0, 0, 0);
            TimeZone::UTC.to_timestamp(start).ok()
        });
        let (from, until) = (from?, until?);
        let (mut offset, mut latest) = (zone.to_offset(from), from);
        let mut all = vec![(from, offset)];
        for change in zone.following(from) {
            // A zone that was made here tells its last change again and again.
            if change.timestamp() <= latest || change.timestamp() >= until {
                break;
            }
            latest = change.timestamp();
            if change.offset() != offset {
                offset = change.offset();
                all.push((latest, offset));
            }
        }
        Some(all)
    };
    changes(one) == changes(other)
}

/// Writes a moment with the name of its zone; one of a bare offset in UTC.
pub(crate) fn written(name: &str, moment: &DateOrTime) -> IcalProperty {
    match moment {
        DateOrTime::Day(day) => IcalProperty::new(name, date_text(*day)).with("VALUE", "DATE"),
        DateOrTime::At(time) => match named(time) {
            Some(zone) if !is_utc(zone) => {
                IcalProperty::new(name, clock_text(time.datetime())).with("TZID", zone)
            }
            _ => IcalProperty::new(name, utc_text(time.timestamp())),
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
    iana_name(zone).filter(|_| !is_second)
}

pub(super) fn is_utc(name: &str) -> bool {
    matches!(name, "UTC" | "Etc/UTC" | "Etc/UCT" | "Zulu" | "Etc/Zulu")
}

/// A zone by the name of a place: an IANA name, also at the end of a path, or a name of Windows.
fn place(id: &str) -> Option<TimeZone> {
    let id = id.trim().trim_matches('"');
    if let Some(zone) = iana(id).and_then(|name| TimeZone::get(name).ok()) {
        return Some(zone);
    }
    // `/freeassociation.sourceforge.net/Europe/Zurich`, `/citadel.org/20210210_1/Europe/Zurich`
    let slashes = id.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| at + 1);
    let ends = std::iter::once(0).chain(slashes).filter_map(|at| id.get(at..));
    ends.filter(|name| name.contains('/')).find_map(|name| TimeZone::get(name).ok())
}

/// A zone by one word, such as `CET` or `Japan`, also at the end of a path.
fn word(id: &str) -> Option<TimeZone> {
    let id = id.trim().trim_matches('"');
    TimeZone::get(id.rsplit('/').next().unwrap_or(id)).ok()
}
