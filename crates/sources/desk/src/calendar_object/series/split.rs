//! A series parted in two before one of its occurrences: what comes later goes on by itself.

use jiff::Timestamp;

use crate::backend::{BackendError, EventChange};
use crate::calendar_object::change::touch;
use crate::calendar_object::{
    CalendarObject, ObjectLocation, ObjectRemainder, OccurrenceKey, invalid, unread,
};
use crate::ical::{DateOrTime, IcalComponent, IcalProperty, ObjectZones, utc_text, written};
use crate::recurrence_rule::parted;

impl CalendarObject {
    /// Changes an occurrence and all after it, which become an object of their own with a new UID.
    /// `None`: that is all of it, which was changed as it is.
    pub(crate) fn change_following(
        &mut self,
        place: ObjectLocation<'_>,
        key: Option<OccurrenceKey>,
        (change, uid): (&EventChange, &str),
        now: Timestamp,
    ) -> Result<Option<Self>, BackendError> {
        let Some(key) = self.narrowed(place, key)? else {
            self.change(place, None, change, now)?;
            return Ok(None);
        };
        if change.slot.is_some() {
            self.is_unmoved(place, key)?;
        }
        let Some(mut rest) = self.split(place, key, uid, now)? else {
            self.change(place, None, change, now)?;
            return Ok(None);
        };
        rest.change(place, None, change, now)?;
        Ok(Some(rest))
    }

    /// Takes an occurrence and all after it out.
    pub(crate) fn remove_following(
        &mut self,
        place: ObjectLocation<'_>,
        key: Option<OccurrenceKey>,
        now: Timestamp,
    ) -> Result<ObjectRemainder, BackendError> {
        let Some(key) = self.narrowed(place, key)? else { return Ok(ObjectRemainder::Nothing) };
        let rest = self.split(place, key, "", now)?;
        Ok(if rest.is_some() { ObjectRemainder::Some } else { ObjectRemainder::Nothing })
    }

    /// All after it would go where it alone was put.
    fn is_unmoved(
        &self,
        place: ObjectLocation<'_>,
        key: OccurrenceKey,
    ) -> Result<(), BackendError> {
        let series = self.series(place.home).map_err(|why| unread(place, &why))?;
        let original = series.original(key).map(|start| series.slot_at(&start));
        if series.one(key).map(|own| own.slot) == original {
            return Ok(());
        }
        Err(invalid(
            "this repetition was moved by itself: move it alone, or begin with another one",
        ))
    }

    /// Takes off what occurs from an occurrence on. `None`: that is all of it, and it stays.
    fn split(
        &mut self,
        place: ObjectLocation<'_>,
        key: OccurrenceKey,
        uid: &str,
        now: Timestamp,
    ) -> Result<Option<Self>, BackendError> {
        let home = place.home;
        let whole = self.clone();
        let series = whole.series(home).map_err(|why| unread(place, &why))?;
        let none = || BackendError::no("event", &format!("{}@{key}", place.id));
        let at = series.original(key).ok_or_else(none)?;
        if OccurrenceKey::of(&series.first()) == key {
            return Ok(None);
        }
        series.is_plain()?;
        let mut rules = series.master.all("RRULE");
        let rule = rules.next().map(|rule| parted(&rule.value, &series.slot, &at)).transpose()?;
        if rules.next().is_some() {
            let message = "it repeats by several rules, which are not parted here: change this \
                           one alone, or all";
            return Err(invalid(message));
        }
        let (before, after) = rule.unzip();
        let slot = series.slot_at(&at);
        let zones = series.zones;
        let is_later = |it: &DateOrTime| it.instant(&home.zone) >= at.instant(&home.zone);
        let mut rest = self.clone();
        self.keep(zones, |it| !is_later(it));
        rest.keep(zones, is_later);
        for (object, rule) in [(&mut *self, before), (&mut rest, after)] {
            if let (Some(master), Some(rule)) = (object.master_mut(), rule) {
                master.set(IcalProperty::new("RRULE", rule));
            }
        }
        if let Some(master) = self.master_mut() {
            touch(master, now, true);
        }
        if let Some(master) = rest.master_mut() {
            let model = master.get("DTSTART").cloned();
            crate::calendar_object::make::put_slot(master, &slot);
            // A zone without a name of the world is kept in the form of the start alone.
            if let Some(model) = model {
                master.set(zones.like("DTSTART", &model, &at));
            }
            master.set(IcalProperty::new("CREATED", utc_text(now)));
        }
        for part in rest.parts_mut() {
            part.set(IcalProperty::new("UID", uid));
            part.remove("SEQUENCE");
            touch(part, now, false);
        }
        Ok(Some(rest))
    }

    /// Leaves the dates and the changed occurrences that are wanted.
    fn keep(&mut self, zones: ObjectZones<'_>, is_wanted: impl Fn(&DateOrTime) -> bool) {
        let original =
            |part: &IcalComponent| part.get("RECURRENCE-ID").and_then(|id| zones.moment(id));
        self.calendar.components.retain(|part| original(part).is_none_or(|it| is_wanted(&it)));
        let Some(master) = self.master_mut() else { return };
        for name in ["EXDATE", "RDATE"] {
            let all: Vec<DateOrTime> = master.all(name).flat_map(|it| zones.moments(it)).collect();
            master.remove(name);
            for moment in all.iter().filter(|it| is_wanted(it)) {
                // A day stays one: it takes out whatever is on it.
                master.push(written(name, moment));
            }
        }
    }
}
