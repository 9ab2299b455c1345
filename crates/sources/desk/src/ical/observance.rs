//! What a VTIMEZONE says: every onset of its observances, one after the other, made to a zone.

use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, Mutex, PoisonError};

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};
use toolcrib_when::Recurrence;

use super::component::IcalComponent;
use super::content_line::IcalProperty;
use super::time::UnzonedTime;
use super::tzif::{Turn, tzif};

/// The first year that is not told any more. Rules that never end are followed so far.
pub(super) const HORIZON: i16 = 2200;
/// Most observances of a zone; the longest histories have some hundred.
const MOST_OBSERVANCES: usize = 500;
/// Most onsets of a zone: two a year would do for five thousand years.
const MOST_ONSETS: usize = 10_000;
/// Zones that are remembered: objects of one program have the same few.
const REMEMBERED: usize = 64;
/// What the name of such a zone ends with, as that of no zone of the world does.
const MARK: &str = " (VTIMEZONE)";

type Read = Result<TimeZone, String>;

/// To follow the rules of a zone takes longer than to read many events of it.
static LATELY: LazyLock<Mutex<HashMap<IcalComponent, Read>>> = LazyLock::new(Mutex::default);

/// The zone of a VTIMEZONE, or why there is none.
pub(super) fn observed(zone: &IcalComponent) -> Read {
    let lately = || LATELY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lately().get(zone) {
        return known.clone();
    }
    let read = followed(zone);
    let mut lately = lately();
    if lately.len() >= REMEMBERED {
        lately.clear();
    }
    lately.insert(zone.clone(), read.clone());
    read
}

/// The name of a zone of the world; none for one that was made here.
pub(crate) fn iana_name(zone: &TimeZone) -> Option<&str> {
    zone.iana_name().filter(|name| !name.ends_with(MARK))
}

/// Whether a zone was made here, and is known up to the horizon alone.
pub(super) fn is_made(zone: &TimeZone) -> bool {
    zone.iana_name().is_some_and(|name| name.ends_with(MARK))
}

fn followed(zone: &IcalComponent) -> Read {
    let id = zone.text("TZID").unwrap_or_default();
    let fault = |why: &str| format!("its zone `{id}` cannot be used: {why}");
    let is_one = |it: &&IcalComponent| matches!(it.name.as_str(), "STANDARD" | "DAYLIGHT");
    let observances: Vec<&IcalComponent> = zone.components.iter().filter(is_one).collect();
    if observances.is_empty() || observances.len() > MOST_OBSERVANCES {
        let why = format!("it has not 1 to {MOST_OBSERVANCES} times that are observed");
        return Err(fault(&why));
    }
    let mut turns: BTreeMap<Timestamp, Turn> = BTreeMap::new();
    let mut before: BTreeMap<Timestamp, Offset> = BTreeMap::new();
    for part in observances {
        let observance = Observance::read(part).map_err(|why| fault(&why))?;
        for at in observance.onsets(part, MOST_ONSETS - turns.len()).map_err(|why| fault(&why))? {
            before.entry(at).or_insert(observance.from);
            let turn = Turn { at, to: observance.to, is_dst: observance.is_dst };
            if turns.insert(at, turn).is_some_and(|other| other.to != turn.to) {
                return Err(fault(&format!("at {at} it turns to two offsets at once")));
            }
        }
    }
    let first = before.values().next().copied().ok_or_else(|| fault("it never begins"))?;
    let turns: Vec<Turn> = turns.into_values().collect();
    check_distances(first, &turns).map_err(|why| fault(&why))?;
    let bytes = tzif(first, &turns).ok_or_else(|| fault("it has too many offsets"))?;
    TimeZone::tzif(&format!("{id}{MARK}"), &bytes).map_err(|_| fault("it is no zone of clocks"))
}

/// Two changes so near to each other that a clock would have to go back twice mean nothing.
fn check_distances(first: Offset, turns: &[Turn]) -> Result<(), String> {
    let mut latest: Option<(Timestamp, i32)> = None;
    let mut offset = first;
    for turn in turns {
        let jump = (turn.to.seconds() - offset.seconds()).abs();
        if jump == 0 {
            continue;
        }
        if let Some((at, before)) = latest
            && turn.at.as_second() - at.as_second() < i64::from(jump + before)
        {
            return Err(format!("it changes twice at {}", turn.at));
        }
        latest = Some((turn.at, jump));
        offset = turn.to;
    }
    Ok(())
}

/// One STANDARD or DAYLIGHT (RFC 5545, section 3.6.5).
struct Observance {
    from: Offset,
    to: Offset,
    is_dst: bool,
    /// On the clock before it.
    start: DateTime,
}

impl Observance {
    fn read(part: &IcalComponent) -> Result<Self, String> {
        let offset = |name: &str| {
            let text = property_of(part, name)?.value.as_str();
            offset(text).ok_or_else(|| format!("`{text}` is no offset from UTC"))
        };
        if part.get("EXRULE").is_some() || part.get("EXDATE").is_some() {
            return Err("it takes onsets out, which no zone can".to_owned());
        }
        let start = property_of(part, "DTSTART")?.value.as_str();
        let start = match UnzonedTime::read(start) {
            Some(UnzonedTime::Clock(time)) => time,
            Some(UnzonedTime::Day(day)) => day.at(0, 0, 0, 0),
            Some(UnzonedTime::Utc(_)) | None => {
                return Err(format!("it begins at `{start}`, which is no local time"));
            }
        };
        let is_dst = part.name == "DAYLIGHT";
        Ok(Self { from: offset("TZOFFSETFROM")?, to: offset("TZOFFSETTO")?, is_dst, start })
    }

    /// When it begins, each time that it does.
    fn onsets(&self, part: &IcalComponent, most: usize) -> Result<Vec<Timestamp>, String> {
        let start = self.at(self.start)?;
        let mut all = Vec::new();
        for rule in part.all("RRULE") {
            let rule = Recurrence::beside(&rule.value, Some(start.time()))
                .map_err(|unread| unread.to_string())?;
            let told = rule.moments(&start).take_while(|at| at.year() < HORIZON);
            all.extend(told.map(|at| at.timestamp()).take(most.saturating_sub(all.len()) + 1));
        }
        // A start that its rule does not fall on means nothing, and programs write any.
        if all.is_empty() || part.get("RRULE").is_none() {
            all.push(start.timestamp());
        }
        for date in part.all("RDATE").flat_map(|it| it.value.split(',')) {
            all.push(match UnzonedTime::read(date.split('/').next().unwrap_or(date)) {
                Some(UnzonedTime::Clock(time)) => self.at(time)?.timestamp(),
                Some(UnzonedTime::Day(day)) => self.at(day.at(0, 0, 0, 0))?.timestamp(),
                Some(UnzonedTime::Utc(time)) => time,
                None => return Err(format!("`{date}` is no time of an onset")),
            });
        }
        if all.len() > most {
            return Err(format!("it has more than {MOST_ONSETS} onsets"));
        }
        Ok(all)
    }

    fn at(&self, time: DateTime) -> Result<Zoned, String> {
        let zone = TimeZone::fixed(self.from);
        zone.to_zoned(time).map_err(|_| format!("{time} is beyond the calendar"))
    }
}

/// A property that has to be there.
fn property_of<'a>(part: &'a IcalComponent, name: &str) -> Result<&'a IcalProperty, String> {
    part.get(name).ok_or_else(|| format!("it has no {name}"))
}

/// `+0530` or `-080000`.
fn offset(text: &str) -> Option<Offset> {
    let (sign, digits) = match text.trim().split_at_checked(1)? {
        ("-", digits) => (-1, digits),
        ("+", digits) => (1, digits),
        _ => return None,
    };
    let is_whole = matches!(digits.len(), 4 | 6) && digits.bytes().all(|it| it.is_ascii_digit());
    let part = |from: usize| digits.get(from..from + 2).and_then(|two| two.parse::<i32>().ok());
    let (hours, minutes, seconds) = (part(0)?, part(2)?, part(4).unwrap_or(0));
    let is_clock = hours < 24 && minutes < 60 && seconds < 60;
    let seconds = sign * (hours * 3600 + minutes * 60 + seconds);
    Offset::from_seconds(seconds).ok().filter(|_| is_whole && is_clock)
}
