//! An event changed or removed: one of its occurrences, or all of them.

use jiff::Timestamp;

use super::make::{put_busy, put_guests, put_slot, put_text, settled};
use super::slot::start_of;
use super::{CalendarObject, ObjectLocation, ObjectRemainder, OccurrenceKey, invalid, unread};
use crate::backend::{BackendError, EventChange, FieldChange};
use crate::ical::{IcalComponent, IcalProperty, utc_text};
use crate::owner::CalendarOwner;
use crate::recurrence_rule::fitted;

/// What stands in the master alone.
const OF_SERIES: [&str; 4] = ["RRULE", "RDATE", "EXDATE", "EXRULE"];

impl CalendarObject {
    /// Changes one occurrence or all of it.
    pub(crate) fn change(
        &mut self,
        place: ObjectLocation<'_>,
        key: Option<OccurrenceKey>,
        change: &EventChange,
        now: Timestamp,
    ) -> Result<(), BackendError> {
        match self.narrowed(place, key)? {
            Some(key) => self.change_one(place, key, change, now)?,
            None => self.change_all(place, change, now)?,
        }
        self.add_zones(now);
        Ok(())
    }

    fn change_one(
        &mut self,
        place: ObjectLocation<'_>,
        key: OccurrenceKey,
        change: &EventChange,
        now: Timestamp,
    ) -> Result<(), BackendError> {
        if change.rule != FieldChange::Keep {
            let message = format!("the rule is that of the whole series: change `{}`", place.id);
            return Err(invalid(message));
        }
        let home = place.home;
        let slot = change.slot.as_ref().map(|slot| settled(slot, home, false)).transpose()?;
        let part = self.own_part(place, key)?;
        describe(part, change, home)?;
        if let Some(slot) = slot {
            put_slot(part, &slot);
        }
        touch(part, now, change.slot.is_some());
        Ok(())
    }

    /// The component of one occurrence, made of the master if it has none yet.
    pub(super) fn own_part(
        &mut self,
        place: ObjectLocation<'_>,
        key: OccurrenceKey,
    ) -> Result<&mut IcalComponent, BackendError> {
        let none = || BackendError::no("event", &format!("{}@{key}", place.id));
        let series = self.series(place.home).map_err(|why| unread(place, &why))?;
        let at = if let Some(part) = series.changed.get(&key) {
            is_alone(part)?;
            self.calendar.components.iter().position(|it| std::ptr::eq(it, *part))
        } else {
            let original = series.original(key).ok_or_else(none)?;
            let zones = series.zones;
            let found = series.occurrence(&original);
            let mut part = found.part.clone();
            part.properties.retain(|it| !OF_SERIES.contains(&it.name.as_str()));
            part.remove("RECURRENCE-ID");
            let model = series.master.get("DTSTART").ok_or_else(none)?;
            put_slot(&mut part, &found.slot);
            // The same form as the start of the series, or others do not find it.
            part.set(zones.like("DTSTART", model, &start_of(&found.slot)));
            part.push(zones.like("RECURRENCE-ID", model, &original));
            self.calendar.components.push(part);
            self.calendar.components.len().checked_sub(1)
        };
        at.and_then(|at| self.calendar.components.get_mut(at)).ok_or_else(none)
    }

    fn change_all(
        &mut self,
        place: ObjectLocation<'_>,
        change: &EventChange,
        now: Timestamp,
    ) -> Result<(), BackendError> {
        let home = place.home;
        if self.master().is_none() {
            let message = "only single occurrences of this series are here: change those";
            return Err(invalid(message));
        }
        if let Some(slot) = &change.slot {
            let repeats = matches!(change.rule, FieldChange::Set(_))
                || self.series(home).is_ok_and(|series| series.repeats());
            let slot = settled(slot, home, repeats)?;
            self.shift(place, &slot, change.rule == FieldChange::Keep)?;
        }
        match &change.rule {
            FieldChange::Keep => {}
            FieldChange::Clear => self.end_series(place)?,
            FieldChange::Set(rule) => self.put_rule(place, rule)?,
        }
        let before = self.master().cloned().unwrap_or_default();
        for part in self.parts_mut() {
            describe(part, &unless_own(part, &before, change), home)?;
            touch(part, now, change.slot.is_some() || change.rule != FieldChange::Keep);
        }
        Ok(())
    }

    /// Makes one event of a series: its first.
    fn end_series(&mut self, place: ObjectLocation<'_>) -> Result<(), BackendError> {
        let series = self.series(place.home).map_err(|why| unread(place, &why))?;
        let slot = series.slot_at(&series.first());
        self.calendar.components.retain(|part| part.get("RECURRENCE-ID").is_none());
        if let Some(master) = self.master_mut() {
            master.properties.retain(|it| !OF_SERIES.contains(&it.name.as_str()));
            put_slot(master, &slot);
        }
        Ok(())
    }

    fn put_rule(&mut self, place: ObjectLocation<'_>, rule: &str) -> Result<(), BackendError> {
        let series = self.series(place.home).map_err(|why| unread(place, &why))?;
        series.is_plain()?;
        let slot = settled(&series.slot, place.home, true)?;
        let rule = fitted(rule, &slot)?;
        if let Some(master) = self.master_mut() {
            put_slot(master, &slot);
            master.set(IcalProperty::new("RRULE", rule));
        }
        // What was changed of days that the new rule does not have is gone with them.
        let series = self.series(place.home).map_err(|why| unread(place, &why))?;
        let lost: Vec<OccurrenceKey> =
            series.changed.keys().copied().filter(|key| series.original(*key).is_none()).collect();
        self.drop_parts(place.home, &lost);
        Ok(())
    }

    pub(super) fn drop_parts(&mut self, home: &CalendarOwner, keys: &[OccurrenceKey]) {
        let calendar = self.calendar.clone();
        let zones = crate::ical::ObjectZones { home: &home.zone, calendar: &calendar };
        self.calendar.components.retain(|part| {
            let original = part.get("RECURRENCE-ID").and_then(|id| zones.moment(id));
            original.is_none_or(|original| !keys.contains(&OccurrenceKey::of(&original)))
        });
    }

    /// Takes one occurrence out, or says that all of it goes.
    pub(crate) fn remove(
        &mut self,
        place: ObjectLocation<'_>,
        key: Option<OccurrenceKey>,
        now: Timestamp,
    ) -> Result<ObjectRemainder, BackendError> {
        let Some(key) = key else { return Ok(ObjectRemainder::Nothing) };
        let Some(key) = self.narrowed(place, Some(key))? else {
            return Ok(ObjectRemainder::Nothing);
        };
        let series = self.series(place.home).map_err(|why| unread(place, &why))?;
        let id = || format!("{}@{key}", place.id);
        series.one(key).ok_or_else(|| BackendError::no("event", &id()))?;
        series.changed.get(&key).map_or(Ok(()), |part| is_alone(part))?;
        let model = series
            .master
            .get("DTSTART")
            .cloned()
            .ok_or_else(|| BackendError::no("event", &id()))?;
        let excluded = series.original(key).map(|it| series.zones.like("EXDATE", &model, &it));
        self.drop_parts(place.home, &[key]);
        if let (Some(master), Some(excluded)) = (self.master_mut(), excluded) {
            master.push(excluded);
            touch(master, now, true);
        }
        let is_empty = self.series(place.home).map_or(true, |series| series.is_empty());
        Ok(if is_empty { ObjectRemainder::Nothing } else { ObjectRemainder::Some })
    }
}

/// What a change of all does to one component: what was changed of an occurrence by itself stays.
fn unless_own(part: &IcalComponent, before: &IcalComponent, change: &EventChange) -> EventChange {
    let is_own =
        |name: &str| part.get(name).map(|it| &it.value) != before.get(name).map(|it| &it.value);
    let mut change = change.clone();
    if is_own("SUMMARY") {
        change.title = None;
    }
    if is_own("DESCRIPTION") {
        change.description = FieldChange::Keep;
    }
    if is_own("LOCATION") {
        change.location = FieldChange::Keep;
    }
    if is_own("TRANSP") {
        change.busy = None;
    }
    change
}

/// Writes all that says nothing of time.
fn describe(
    part: &mut IcalComponent,
    change: &EventChange,
    home: &CalendarOwner,
) -> Result<(), BackendError> {
    if let Some(title) = &change.title {
        part.set(IcalProperty::text("SUMMARY", title));
    }
    for (name, change) in [("DESCRIPTION", &change.description), ("LOCATION", &change.location)] {
        match change {
            FieldChange::Keep => {}
            FieldChange::Clear => put_text(part, name, None),
            FieldChange::Set(text) => put_text(part, name, Some(text)),
        }
    }
    if change.description != FieldChange::Keep {
        // The same text as HTML, which is out of date now.
        part.remove("X-ALT-DESC");
    }
    if let Some(guests) = &change.guests {
        put_guests(part, guests, home)?;
    }
    if let Some(busy) = change.busy {
        put_busy(part, busy);
    }
    Ok(())
}

/// Notes that a component was changed; `is_new` says that guests have to be told.
pub(super) fn touch(part: &mut IcalComponent, now: Timestamp, is_new: bool) {
    for name in ["DTSTAMP", "LAST-MODIFIED"] {
        part.set(IcalProperty::new(name, utc_text(now)));
    }
    if is_new {
        let sequence = part.get("SEQUENCE").and_then(|it| it.value.trim().parse::<u32>().ok());
        let next = sequence.unwrap_or(0).saturating_add(1);
        part.set(IcalProperty::new("SEQUENCE", next.to_string()));
    }
}

/// Refuses an occurrence that speaks for all after it.
fn is_alone(part: &IcalComponent) -> Result<(), BackendError> {
    if part.get("RECURRENCE-ID").is_some_and(|id| id.parameter("RANGE").is_some()) {
        let message = "this repetition was changed together with all after it, so it cannot be \
                       changed or removed alone: change another one, or make the series anew";
        return Err(invalid(message));
    }
    Ok(())
}
