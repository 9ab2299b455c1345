//! Whole objects, as files carry them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::make::calendar;
use super::{CalendarObject, CalendarObjectKind, ObjectLocation};
use crate::ical::{Calendars, IcalComponent, IcalProperty, IcalReadError, is_place, is_zone};
use crate::owner::CalendarOwner;

/// Letters of a title that name an object in a message.
const SHOWN: usize = 60;

/// What a file has.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) objects: Vec<CalendarObject>,
    /// What is not among them, each with its reason.
    pub(crate) left_out: Vec<String>,
    /// What could not be read beside.
    pub(crate) notes: Vec<String>,
}

impl CalendarObject {
    /// The objects of a file, which may be several calendars with many events.
    pub(crate) fn all(
        bytes: &[u8],
        max: usize,
        home: &CalendarOwner,
    ) -> Result<Taken, IcalReadError> {
        let calendars = Calendars::read(bytes, max)?;
        let mut taken =
            Taken { left_out: calendars.cut, notes: calendars.faults, ..Taken::default() };
        let mut places = HashMap::new();
        let mut spoiled = HashSet::new();
        for (kind, part, zones) in calendars.whole.into_iter().flat_map(parts) {
            let uid = part.get("UID").map(|uid| (part.name.clone(), uid.value.clone()));
            let place = uid.as_ref().and_then(|uid| places.get(uid)).copied();
            let Some(object) = place.and_then(|place: usize| taken.objects.get_mut(place)) else {
                let mut own = calendar();
                own.components = wanted(&zones, &part);
                own.components.push(part);
                places.extend(uid.map(|uid| (uid, taken.objects.len())));
                taken.objects.push(Self { kind, calendar: own });
                continue;
            };
            match object.join(part, &zones) {
                Err(NotJoined::Other(part)) => {
                    let other = Self { kind, calendar: alone(part) };
                    let why = "another one of the same UID was taken in its place";
                    taken.left_out.push(format!("{}: {why}", other.name(home)));
                }
                Err(NotJoined::Zone(id)) if spoiled.insert(object.uid().to_owned()) => {
                    let why = format!("its zone `{id}` has other rules elsewhere in the file");
                    taken.left_out.push(format!("{}: {why}", object.name(home)));
                }
                // That was told already.
                Ok(()) | Err(NotJoined::Zone(_)) => {}
            }
        }
        taken.objects.retain(|object| !spoiled.contains(object.uid()));
        taken.objects.iter_mut().for_each(Self::straighten);
        Ok(taken)
    }

    /// Takes another component of its UID in.
    fn join(&mut self, part: IcalComponent, zones: &[IcalComponent]) -> Result<(), NotJoined> {
        for zone in wanted(zones, &part) {
            let id = zone.text("TZID").unwrap_or_default();
            match self.calendar.components.iter().find(|it| is_zone(it, &id)) {
                Some(known) if *known != zone && !is_place(&id) => {
                    return Err(NotJoined::Zone(id));
                }
                Some(_) => {}
                None => self.calendar.components.insert(0, zone),
            }
        }
        let original = |it: &IcalComponent| it.get("RECURRENCE-ID").cloned();
        let same = original(&part);
        let Some(known) = self.parts_mut().find(|it| original(it) == same) else {
            self.calendar.components.push(part);
            return Ok(());
        };
        if is_alike(known, &part) {
            return Ok(());
        }
        let mut other = part;
        if revision(&other) > revision(known) {
            std::mem::swap(known, &mut other);
        }
        Err(NotJoined::Other(other))
    }

    /// What a person knows it by.
    pub(crate) fn name(&self, home: &CalendarOwner) -> String {
        let part = self.main();
        let title = part.and_then(|part| part.text("SUMMARY")).unwrap_or_default();
        let title: String = title.chars().take(SHOWN).collect();
        let start = part.and_then(|part| part.get("DTSTART"));
        let day = start.and_then(|start| self.zones(home).moment(start)).map(|it| it.date());
        let day = day.map(|day| format!(" of {day}")).unwrap_or_default();
        let uid = Some(self.uid()).filter(|uid| !uid.is_empty());
        let uid = uid.map(|uid| format!(" (UID `{uid}`)")).unwrap_or_default();
        format!("`{title}`{day}{uid}")
    }

    /// Why it cannot be kept, if it cannot be understood.
    pub(crate) fn not_understood(&self, place: ObjectLocation<'_>) -> Option<String> {
        match self.kind {
            CalendarObjectKind::Task => self.task_times(place).err(),
            CalendarObjectKind::Event => self.series(place.home).err(),
        }
    }

    /// Many objects as one file.
    pub(crate) fn together(objects: impl Iterator<Item = Self>) -> String {
        let mut whole = calendar();
        let mut parts = Vec::new();
        for part in objects.flat_map(|object| object.calendar.components) {
            if part.name != "VTIMEZONE" {
                parts.push(part);
            } else if !whole.components.contains(&part) {
                let is_named = |it: &crate::ical::IcalComponent| it.get("TZID") == part.get("TZID");
                if !whole.components.iter().any(is_named) {
                    whole.components.push(part);
                }
            }
        }
        whole.components.extend(parts);
        whole.write()
    }
}

/// Why a component was not taken into an object.
enum NotJoined {
    /// There was another one in its place; this one is left.
    Other(IcalComponent),
    /// A zone of this name is there with other rules.
    Zone(String),
}

/// The events and tasks of a calendar, or one that stands in none, each with the zones beside it.
fn parts(calendar: IcalComponent) -> Vec<(CalendarObjectKind, IcalComponent, Rc<[IcalComponent]>)> {
    let kind_of = |name: &str| {
        [CalendarObjectKind::Event, CalendarObjectKind::Task]
            .into_iter()
            .find(|kind| kind.component() == name)
    };
    if let Some(kind) = kind_of(&calendar.name) {
        return vec![(kind, calendar, Rc::from([]))];
    }
    let (zones, others): (Vec<_>, Vec<_>) =
        calendar.components.into_iter().partition(|it| it.name == "VTIMEZONE");
    let zones: Rc<[IcalComponent]> = zones.into();
    let known = others.into_iter().filter_map(|it| Some((kind_of(&it.name)?, it)));
    known.map(|(kind, part)| (kind, part, Rc::clone(&zones))).collect()
}

fn alone(part: IcalComponent) -> IcalComponent {
    let mut whole = calendar();
    whole.components.push(part);
    whole
}

/// Those of a file's zones that a component may name.
fn wanted(zones: &[IcalComponent], part: &IcalComponent) -> Vec<IcalComponent> {
    let is_named = |zone: &&IcalComponent| {
        let mut ids = part.properties.iter().filter_map(|it| it.parameter("TZID"));
        ids.any(|id| is_zone(zone, id))
    };
    zones.iter().filter(is_named).cloned().collect()
}

/// Whether two components differ in nothing but when they were written.
fn is_alike(one: &IcalComponent, other: &IcalComponent) -> bool {
    let told = |it: &IcalComponent| {
        let mut all: Vec<IcalProperty> =
            it.properties.iter().filter(|it| it.name != "DTSTAMP").cloned().collect();
        all.sort_by(|one, other| (&one.name, &one.value).cmp(&(&other.name, &other.value)));
        all
    };
    told(one) == told(other)
}

/// Which of several versions of a component it is: the later one is greater.
fn revision(part: &IcalComponent) -> (u32, String) {
    let stamp = part.get("DTSTAMP").map(|it| it.value.trim().to_owned());
    (sequence(part), stamp.unwrap_or_default())
}

/// The number of its version.
pub(super) fn sequence(part: &IcalComponent) -> u32 {
    part.get("SEQUENCE").and_then(|it| it.value.trim().parse().ok()).unwrap_or(0)
}
