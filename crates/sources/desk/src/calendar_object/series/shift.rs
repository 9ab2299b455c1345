//! A whole series moved to another time.

use super::Series;
use super::series_move::SeriesMove;
use crate::backend::{BackendError, EventSlot};
use crate::calendar_object::make::put_slot;
use crate::calendar_object::slot::{placed, slot, start_of};
use crate::calendar_object::{CalendarObject, ObjectLocation, OccurrenceKey, invalid, unread};
use crate::ical::{DateOrTime, IcalComponent, ObjectZones, written};
use crate::recurrence_rule::moved;

/// What a component becomes.
enum ComponentShift {
    Same,
    /// Where its times are, and which original start it stands for.
    Moved {
        slot: Option<EventSlot>,
        original: Option<DateOrTime>,
    },
}

impl CalendarObject {
    /// Moves all of it, so that the occurrence that is shown for all lies at `target`. `rule`: the
    /// rule stays and moves along.
    pub(crate) fn shift(
        &mut self,
        place: ObjectLocation<'_>,
        target: &EventSlot,
        rule: bool,
    ) -> Result<(), BackendError> {
        let series = self.series(place.home).map_err(|why| unread(place, &why))?;
        series.is_plain()?;
        let first = series.first();
        let step = SeriesMove { from: first.clone(), to: start_of(target) };
        let start = step.apply(&series.start).ok_or_else(|| invalid("the calendar ends there"))?;
        let whole = placed(target, &start);
        let text = series.master.get("RRULE").map(|rule| rule.value.clone());
        let text = match text.filter(|_| rule) {
            Some(text) => Some(moved(&text, &series.slot, &whole)?),
            None => None,
        };
        let calendar = self.calendar.clone();
        let zones = ObjectZones { home: &place.home.zone, calendar: &calendar };
        let becomes: Vec<ComponentShift> = calendar
            .components
            .iter()
            .map(|part| become_of(part, &series, &step, target))
            .collect();
        let kind = self.kind.component();
        for (part, becomes) in self.calendar.components.iter_mut().zip(becomes) {
            let ComponentShift::Moved { slot, original } = becomes else { continue };
            if let Some(slot) = slot {
                put_slot(part, &slot);
            }
            if let Some(original) = original {
                part.set(written("RECURRENCE-ID", &original));
            }
        }
        let master = self.calendar.components.iter_mut();
        let mut masters = master.filter(|it| it.name == kind && it.get("RECURRENCE-ID").is_none());
        if let Some(master) = masters.next() {
            put_slot(master, &whole);
            move_dates(master, zones, &step);
            if let Some(text) = text {
                master.set(crate::ical::IcalProperty::new("RRULE", text));
            }
        }
        Ok(())
    }
}

fn become_of(
    part: &IcalComponent,
    series: &Series<'_>,
    step: &SeriesMove,
    target: &EventSlot,
) -> ComponentShift {
    let Some(original) = part.get("RECURRENCE-ID").and_then(|id| series.zones.moment(id)) else {
        return ComponentShift::Same;
    };
    let to = step.apply(&original);
    // One that was moved by itself stays where it is.
    let own = slot(series.zones, part).ok();
    let is_moved = own.is_some_and(|own| own != series.slot_at(&original));
    let slot = to.as_ref().filter(|_| !is_moved).map(|to| placed(target, to));
    ComponentShift::Moved { slot, original: to }
}

fn move_dates(master: &mut IcalComponent, zones: ObjectZones<'_>, step: &SeriesMove) {
    for name in ["EXDATE", "RDATE"] {
        let all: Vec<DateOrTime> = master
            .all(name)
            .flat_map(|it| zones.moments(it))
            .filter_map(|it| step.apply(&it))
            .collect();
        master.remove(name);
        let mut seen: Vec<OccurrenceKey> = Vec::new();
        for moment in all {
            if !seen.contains(&OccurrenceKey::of(&moment)) {
                seen.push(OccurrenceKey::of(&moment));
                master.push(written(name, &moment));
            }
        }
    }
}
