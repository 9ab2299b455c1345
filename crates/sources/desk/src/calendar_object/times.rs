//! The times of an object, read from its components, or why they cannot be.
//!
//! Nothing that says when something is may be passed over: an event at another hour is worse than
//! one that is told to be unreadable.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Time;
use toolcrib_when::Recurrence;

use super::import_export::sequence;
use super::series::Series;
use super::slot::{length_of, slot};
use super::{CalendarObject, ObjectLocation, OccurrenceKey};
use crate::backend::EventSlot;
use crate::calendar_object::series::onward::{Onward, is_onward};
use crate::ical::{DateOrTime, IcalComponent, IcalDuration, ObjectZones};
use crate::owner::CalendarOwner;

/// What a component has once, or not at all.
const ONCE: [&str; 6] = ["DTSTART", "DTEND", "DURATION", "DUE", "RECURRENCE-ID", "UID"];

impl CalendarObject {
    /// Its times, or why they cannot be understood.
    pub(super) fn series<'a>(&'a self, home: &'a CalendarOwner) -> Result<Series<'a>, String> {
        let zones = self.zones(home);
        let master = self.main().ok_or_else(|| "there is nothing in it".to_owned())?;
        self.parts().try_for_each(check)?;
        let first = master.get("DTSTART").ok_or_else(|| "it has no DTSTART".to_owned())?;
        let start = zones.one(first)?;
        let shown = ObjectZones::shown(first);
        let mut series = Series {
            zones,
            master,
            shown,
            slot: slot(zones, master)?,
            nominal: nominal(master),
            rules: Vec::new(),
            dates: Vec::new(),
            lengths: BTreeMap::new(),
            without: BTreeSet::new(),
            changed: BTreeMap::new(),
            onward: Vec::new(),
            start,
        };
        self.read_changed(&mut series)?;
        if self.master().is_none() {
            series.without = [OccurrenceKey::of(&series.start)].into();
            return Ok(series);
        }
        // A rule without a word says nothing.
        for rule in master.all("RRULE").filter(|rule| !rule.value.trim().is_empty()) {
            series.rules.push(rule_of(&rule.value, shown)?);
        }
        read_dates(&mut series)?;
        for property in master.all("EXDATE") {
            for (date, _) in zones.read(property)? {
                series.without.insert(key_of(&date, &series.start, "EXDATE")?);
            }
        }
        series.drop_outdated();
        Ok(series)
    }

    /// Reads the occurrences that have a component of their own.
    fn read_changed<'a>(&'a self, series: &mut Series<'a>) -> Result<(), String> {
        for part in self.parts() {
            let Some(id) = part.get("RECURRENCE-ID") else { continue };
            let original = series.zones.one(id)?;
            let key = key_of(&original, &series.start, "RECURRENCE-ID")?;
            if let (DateOrTime::Day(_), DateOrTime::At(_)) = (&original, &series.start) {
                return Err("its RECURRENCE-ID is a day, and its start a time".to_owned());
            }
            let slot = slot(series.zones, part)?;
            if is_onward(id)? {
                if self.master().is_none() {
                    return Err("it tells of all after a repetition that is not there".to_owned());
                }
                series.onward.push(Onward::new(part, original, slot)?);
            }
            series.changed.insert(key, part);
        }
        let home = series.zones.home;
        series.onward.sort_by_key(|it| it.original.instant(home));
        Ok(())
    }

    /// Why the times of a task cannot be understood, if they cannot.
    pub(super) fn task_times(&self, place: ObjectLocation<'_>) -> Result<(), String> {
        self.task(place).map_err(|fault| fault.message)?;
        let zones = self.zones(place.home);
        for part in self.parts() {
            check(part)?;
            let mut shown = None;
            for name in ["DUE", "DTSTART"] {
                if let Some(property) = part.get(name) {
                    zones.one(property)?;
                    shown = ObjectZones::shown(property);
                }
            }
            for rule in part.all("RRULE") {
                rule_of(&rule.value, shown)?;
            }
            for property in part.all("EXDATE").chain(part.all("RDATE")) {
                zones.read(property)?;
            }
            length_of(part)?;
        }
        Ok(())
    }
}

impl Series<'_> {
    /// Leaves out what was changed of occurrences that a later version of the series has no more.
    fn drop_outdated(&mut self) {
        let version = sequence(self.master);
        let is_older = |part: &IcalComponent| sequence(part) < version;
        let older = self.changed.iter().filter(|(_, part)| is_older(part));
        let gone: Vec<OccurrenceKey> =
            older.map(|(key, _)| *key).filter(|key| self.original(*key).is_none()).collect();
        for key in gone {
            self.changed.remove(&key);
            self.onward.retain(|it| OccurrenceKey::of(&it.original) != key);
        }
    }
}

fn check(part: &IcalComponent) -> Result<(), String> {
    if part.get("EXRULE").is_some() {
        return Err("it has an EXRULE, which is not followed here".to_owned());
    }
    for name in ONCE {
        let mut all = part.all(name);
        if let Some(first) = all.next()
            && all.any(|other| other != first)
        {
            return Err(format!("it has several {name}"));
        }
    }
    Ok(())
}

/// The dates that are added to a series, some with a length of their own.
fn read_dates(series: &mut Series<'_>) -> Result<(), String> {
    let master = series.master;
    for property in master.all("RDATE") {
        for (date, end) in series.zones.read(property)? {
            if let Some(end) = end {
                let unread = || format!("its RDATE has a PERIOD that ends at `{end}`");
                let slot = period(series.zones, (&date, end), property.parameter("TZID"));
                series.lengths.insert(OccurrenceKey::of(&date), slot.ok_or_else(unread)?);
            }
            series.dates.push(date);
        }
    }
    Ok(())
}

/// From the start of a PERIOD to its end, which is a time or a length.
fn period(
    zones: ObjectZones<'_>,
    (start, end): (&DateOrTime, &str),
    id: Option<&str>,
) -> Option<EventSlot> {
    let DateOrTime::At(start) = start else { return None };
    let end = if let Some(length) = IcalDuration::read(end) {
        length.after(start)?
    } else {
        let property = crate::ical::IcalProperty::new("RDATE", end);
        let property = id.map_or(property.clone(), |id| property.with("TZID", id));
        match zones.one(&property).ok()? {
            DateOrTime::At(end) => end,
            DateOrTime::Day(_) => return None,
        }
    };
    (end >= *start).then(|| EventSlot::Timed { start: start.clone(), end })
}

/// The key of what names an occurrence of a start. A time can name no whole day.
fn key_of(moment: &DateOrTime, start: &DateOrTime, name: &str) -> Result<OccurrenceKey, String> {
    match (moment, start) {
        (DateOrTime::At(_), DateOrTime::Day(_)) => {
            Err(format!("its {name} is a time, and its start a whole day"))
        }
        _ => Ok(OccurrenceKey::of(moment)),
    }
}

fn rule_of(text: &str, shown: Option<Time>) -> Result<Recurrence, String> {
    Recurrence::beside(text, shown).map_err(|unread| format!("its rule cannot be used: {unread}"))
}

/// Days and weeks of a DURATION are as long as the clocks make them, each time anew.
fn nominal(part: &IcalComponent) -> Option<IcalDuration> {
    length_of(part).ok().flatten().filter(|_| part.get("DTEND").is_none())
}
