//! A whole series moved to another time.

use jiff::Zoned;
use jiff::civil::DateTime;

use super::Series;
use crate::backend::{BackendError, EventSlot};
use crate::calendar_object::change::{start_of, unread};
use crate::calendar_object::make::put_slot;
use crate::calendar_object::read::slot;
use crate::calendar_object::{CalendarObject, ObjectLocation, OccurrenceKey, invalid};
use crate::ical::{DateOrTime, IcalComponent, ObjectZones, written};
use crate::recurrence_rule::moved;

/// How the start of an occurrence moves with its series.
pub(crate) struct SeriesMove {
    pub(crate) from: DateOrTime,
    pub(crate) to: DateOrTime,
}

impl SeriesMove {
    /// Where another start of the series goes, as clocks show it.
    pub(crate) fn apply(&self, start: &DateOrTime) -> Option<DateOrTime> {
        let day = || start.date().checked_add(self.to.date() - self.from.date()).ok();
        match (&self.to, &self.from, start) {
            (DateOrTime::Day(_), _, _) => day().map(DateOrTime::Day),
            (DateOrTime::At(to), DateOrTime::At(from), DateOrTime::At(start)) => {
                let shown = start.with_time_zone(from.time_zone().clone()).datetime();
                let by = from.datetime().duration_until(to.datetime());
                at(to, shown.checked_add(by).ok()?)
            }
            (DateOrTime::At(to), _, _) => at(to, day()?.to_datetime(to.time())),
        }
    }
}

/// A time on the clock of another's zone.
fn at(model: &Zoned, time: DateTime) -> Option<DateOrTime> {
    model.time_zone().to_ambiguous_zoned(time).compatible().ok().map(DateOrTime::At)
}

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

/// A slot as long as another, from a start on.
pub(crate) fn placed(model: &EventSlot, start: &DateOrTime) -> EventSlot {
    match (model, start) {
        (EventSlot::Timed { start: from, end }, DateOrTime::At(start)) => {
            let moved = start.checked_add(from.duration_until(end));
            let moved = moved.unwrap_or_else(|_| start.clone());
            EventSlot::Timed {
                start: start.clone(),
                end: moved.with_time_zone(end.time_zone().clone()),
            }
        }
        (EventSlot::Days { first, last }, DateOrTime::Day(day)) => {
            EventSlot::Days { first: *day, last: day.checked_add(*last - *first).unwrap_or(*day) }
        }
        (EventSlot::Timed { .. }, DateOrTime::Day(_))
        | (EventSlot::Days { .. }, DateOrTime::At(_)) => model.clone(),
    }
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
