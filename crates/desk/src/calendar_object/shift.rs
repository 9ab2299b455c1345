//! A whole series moved to another time.

use jiff::Zoned;
use jiff::civil::DateTime;

use super::change::{start_of, unread};
use super::make::put_slot;
use super::read::slot;
use super::series::Series;
use super::{Key, Place, Resource, invalid};
use crate::backend::{Fault, Slot};
use crate::ical::{Component, Moment, Zones, written};
use crate::recurrence_rule::moved;

/// How the start of an occurrence moves with its series.
pub(super) struct Move {
    pub(super) from: Moment,
    pub(super) to: Moment,
}

impl Move {
    /// Where another start of the series goes, as clocks show it.
    pub(super) fn apply(&self, start: &Moment) -> Option<Moment> {
        let day = || start.date().checked_add(self.to.date() - self.from.date()).ok();
        match (&self.to, &self.from, start) {
            (Moment::Day(_), _, _) => day().map(Moment::Day),
            (Moment::At(to), Moment::At(from), Moment::At(start)) => {
                let shown = start.with_time_zone(from.time_zone().clone()).datetime();
                let by = from.datetime().duration_until(to.datetime());
                at(to, shown.checked_add(by).ok()?)
            }
            (Moment::At(to), _, _) => at(to, day()?.to_datetime(to.time())),
        }
    }
}

/// A time on the clock of another's zone.
fn at(model: &Zoned, time: DateTime) -> Option<Moment> {
    model.time_zone().to_ambiguous_zoned(time).compatible().ok().map(Moment::At)
}

/// What a component becomes.
enum Becomes {
    Same,
    /// Where its times are, and which original start it stands for.
    Moved {
        slot: Option<Slot>,
        original: Option<Moment>,
    },
}

impl Resource {
    /// Moves all of it, so that the occurrence that is shown for all lies at `target`. `rule`: the
    /// rule stays and moves along.
    pub(super) fn shift(
        &mut self,
        place: Place<'_>,
        target: &Slot,
        rule: bool,
    ) -> Result<(), Fault> {
        let series = self.series(place.home).map_err(|why| unread(place, &why))?;
        series.is_plain()?;
        let first = series.first();
        let step = Move { from: first.clone(), to: start_of(target) };
        let start = step.apply(&series.start).ok_or_else(|| invalid("the calendar ends there"))?;
        let whole = placed(target, &start);
        let text = series.master.get("RRULE").map(|rule| rule.value.clone());
        let text = match text.filter(|_| rule) {
            Some(text) => Some(moved(&text, &series.slot, &whole)?),
            None => None,
        };
        let calendar = self.calendar.clone();
        let zones = Zones { home: &place.home.zone, calendar: &calendar };
        let becomes: Vec<Becomes> = calendar
            .components
            .iter()
            .map(|part| become_of(part, &series, &step, target))
            .collect();
        let kind = self.kind.component();
        for (part, becomes) in self.calendar.components.iter_mut().zip(becomes) {
            let Becomes::Moved { slot, original } = becomes else { continue };
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
                master.set(crate::ical::Property::new("RRULE", text));
            }
        }
        Ok(())
    }
}

fn become_of(part: &Component, series: &Series<'_>, step: &Move, target: &Slot) -> Becomes {
    let Some(original) = part.get("RECURRENCE-ID").and_then(|id| series.zones.moment(id)) else {
        return Becomes::Same;
    };
    let to = step.apply(&original);
    // One that was moved by itself stays where it is.
    let own = slot(series.zones, part).ok();
    let is_moved = own.is_some_and(|own| own != series.slot_at(&original));
    let slot = to.as_ref().filter(|_| !is_moved).map(|to| placed(target, to));
    Becomes::Moved { slot, original: to }
}

/// A slot as long as another, from a start on.
pub(super) fn placed(model: &Slot, start: &Moment) -> Slot {
    match (model, start) {
        (Slot::Timed { start: from, end }, Moment::At(start)) => {
            let moved = start.checked_add(from.duration_until(end));
            let moved = moved.unwrap_or_else(|_| start.clone());
            Slot::Timed { start: start.clone(), end: moved.with_time_zone(end.time_zone().clone()) }
        }
        (Slot::Days { first, last }, Moment::Day(day)) => {
            Slot::Days { first: *day, last: day.checked_add(*last - *first).unwrap_or(*day) }
        }
        (Slot::Timed { .. }, Moment::Day(_)) | (Slot::Days { .. }, Moment::At(_)) => model.clone(),
    }
}

fn move_dates(master: &mut Component, zones: Zones<'_>, step: &Move) {
    for name in ["EXDATE", "RDATE"] {
        let all: Vec<Moment> = master
            .all(name)
            .flat_map(|it| zones.moments(it))
            .filter_map(|it| step.apply(&it))
            .collect();
        master.remove(name);
        let mut seen: Vec<Key> = Vec::new();
        for moment in all {
            if !seen.contains(&Key::of(&moment)) {
                seen.push(Key::of(&moment));
                master.push(written(name, &moment));
            }
        }
    }
}
