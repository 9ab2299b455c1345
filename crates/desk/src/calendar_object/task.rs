//! Tasks: a VTODO made, read and changed.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use toolcrib_when::{End, Recurrence};

use super::change::touch;
use super::make::{calendar, put_text, stamps};
use super::{Key, Kind, Place, Resource, broken};
use crate::backend::{Change, Due, Fault, NewTask, Task, TaskChange};
use crate::ical::{Component, Length, Moment, Property, Zones, utc_text, written};
use crate::owner::Home;

/// Most times of a task that are passed over to find its next.
const MOST_PASSED: usize = 1_000;

impl Resource {
    /// A new task.
    pub(crate) fn new_task(new: &NewTask, uid: &str, home: &Home, now: Timestamp) -> Self {
        let calendar = calendar();
        let zones = Zones { home: &home.zone, calendar: &calendar };
        let mut task = Component::new(Kind::Task.component());
        stamps(&mut task, uid, now);
        task.push(Property::text("SUMMARY", &new.title));
        put_text(&mut task, "DESCRIPTION", new.notes.as_deref());
        put_due(&mut task, new.due.as_ref(), zones);
        task.push(Property::new("STATUS", "NEEDS-ACTION"));
        let mut made = Self { kind: Kind::Task, calendar };
        made.calendar.components.push(task);
        made.add_zones(now);
        made
    }

    /// The task as a value.
    pub(crate) fn task(&self, place: Place<'_>) -> Result<Task, Fault> {
        let missing = || broken("task", place.id, "there is no task in it");
        let part = self.main().filter(|_| self.kind == Kind::Task).ok_or_else(missing)?;
        let zones = self.zones(place.home);
        Ok(Task {
            id: place.id.to_owned(),
            list: place.collection.to_owned(),
            title: part.text("SUMMARY").unwrap_or_default(),
            notes: part.text("DESCRIPTION"),
            due: due(part, zones),
            done: done(part, zones),
        })
    }

    pub(crate) fn change_task(
        &mut self,
        place: Place<'_>,
        change: &TaskChange,
        now: Timestamp,
    ) -> Result<(), Fault> {
        let calendar = self.calendar.clone();
        let zones = Zones { home: &place.home.zone, calendar: &calendar };
        let missing = || broken("task", place.id, "there is no task in it");
        let part = self.master_mut().ok_or_else(missing)?;
        if let Some(title) = &change.title {
            part.set(Property::text("SUMMARY", title));
        }
        match &change.notes {
            Change::Keep => {}
            Change::Clear => put_text(part, "DESCRIPTION", None),
            Change::Set(notes) => put_text(part, "DESCRIPTION", Some(notes)),
        }
        match &change.due {
            Change::Keep => {}
            Change::Clear => put_due(part, None, zones),
            Change::Set(due) => put_due(part, Some(due), zones),
        }
        match &change.done {
            Change::Keep => {}
            Change::Clear => {
                for name in ["COMPLETED", "PERCENT-COMPLETE"] {
                    part.remove(name);
                }
                part.set(Property::new("STATUS", "NEEDS-ACTION"));
            }
            // What is done of a task that repeats is this one; the next is open.
            Change::Set(_) if advance(part, zones).is_some() => {}
            Change::Set(done) => {
                part.set(Property::new("COMPLETED", utc_text(*done)));
                part.set(Property::new("PERCENT-COMPLETE", "100"));
                part.set(Property::new("STATUS", "COMPLETED"));
            }
        }
        touch(part, now, false);
        self.add_zones(now);
        Ok(())
    }
}

/// Moves a task that repeats on to its next time; `None` if there is none.
fn advance(part: &mut Component, zones: Zones<'_>) -> Option<()> {
    let due = part.get("DUE").and_then(|due| zones.moment(due));
    let model = part.get("DTSTART").or_else(|| part.get("DUE"))?.clone();
    let rule = Recurrence::beside(&part.get("RRULE")?.value, zones.shown(&model)).ok()?;
    let start = zones.moment(&model)?;
    let without: Vec<Key> =
        part.all("EXDATE").flat_map(|it| zones.moments(it)).map(|it| Key::of(&it)).collect();
    let mut passed = 0;
    let mut is_next = |moment: &Moment| {
        passed += 1;
        Key::of(moment) > Key::of(&start) && !without.contains(&Key::of(moment))
    };
    let next = match &start {
        Moment::At(start) => {
            rule.moments(start).take(MOST_PASSED).map(Moment::At).find(|it| is_next(it))
        }
        Moment::Day(start) => {
            rule.dates(*start).take(MOST_PASSED).map(Moment::Day).find(|it| is_next(it))
        }
    };
    let next = next?;
    let due = match (due, &start, &next) {
        (Some(Moment::At(due)), Moment::At(from), Moment::At(to)) => {
            Some(Moment::At(due.checked_add(from.duration_until(to)).ok()?))
        }
        (Some(due), from, to) => {
            let day = due.date().checked_add(to.date() - from.date()).ok()?;
            Some(match due {
                Moment::Day(_) => Moment::Day(day),
                Moment::At(due) => {
                    let zone = due.time_zone();
                    let time = zone.to_ambiguous_zoned(day.to_datetime(due.time()));
                    Moment::At(time.compatible().ok()?)
                }
            })
        }
        (None, _, _) => None,
    };
    if let End::Count(count) = rule.end() {
        // Those that have passed are counted from the new start no more.
        let left = count.saturating_sub(passed.max(2) - 1).max(1);
        part.set(Property::new("RRULE", rule.ending(End::Count(left)).to_string()));
    }
    if model.name == "DTSTART" {
        part.set(zones.like("DTSTART", &model, &next));
    }
    if let (Some(due), Some(model)) = (due, part.get("DUE").cloned()) {
        part.set(zones.like("DUE", &model, &due));
    }
    for name in ["COMPLETED", "PERCENT-COMPLETE"] {
        part.remove(name);
    }
    part.set(Property::new("STATUS", "NEEDS-ACTION"));
    Some(())
}

fn put_due(part: &mut Component, due: Option<&Due>, zones: Zones<'_>) {
    let Some(due) = due else {
        part.remove("DUE");
        part.remove("DURATION");
        return;
    };
    let moment = match due {
        Due::Day(day) => Moment::Day(*day),
        Due::At(time) => Moment::At(time.clone()),
    };
    // A start must be of the same kind and before it (RFC 5545, section 3.8.2.3).
    let fits = part.get("DTSTART").and_then(|start| zones.moment(start)).is_none_or(|start| {
        let is_alike = matches!(start, Moment::Day(_)) == matches!(moment, Moment::Day(_));
        is_alike && start.instant(zones.home) <= moment.instant(zones.home)
    });
    if !fits {
        part.remove("DTSTART");
    }
    part.remove("DURATION");
    part.set(written("DUE", &moment));
}

fn due(part: &Component, zones: Zones<'_>) -> Option<Due> {
    let at_home = |time: jiff::Zoned| {
        if time.time_zone() == &TimeZone::UTC {
            time.with_time_zone(zones.home.clone())
        } else {
            time
        }
    };
    let moment = if let Some(due) = part.get("DUE") {
        zones.moment(due)?
    } else {
        let length = Length::read(&part.get("DURATION")?.value)?;
        match zones.moment(part.get("DTSTART")?)? {
            Moment::At(start) => Moment::At(length.after(&start)?),
            Moment::Day(start) => {
                let days = jiff::Span::new().try_days(length.whole_days()).ok()?;
                Moment::Day(start.checked_add(days).ok()?)
            }
        }
    };
    Some(match moment {
        Moment::Day(day) => Due::Day(day),
        Moment::At(time) => Due::At(at_home(time)),
    })
}

/// When it was completed. One that was given up is no open one either.
fn done(part: &Component, zones: Zones<'_>) -> Option<Timestamp> {
    let at = |name: &str| part.get(name).and_then(|it| zones.instant(it));
    let status = part.get("STATUS").map(|it| it.value.trim().to_ascii_uppercase());
    match status.as_deref() {
        Some("COMPLETED" | "CANCELLED") => {
            let known = at("COMPLETED").or_else(|| at("LAST-MODIFIED")).or_else(|| at("DTSTAMP"));
            Some(known.unwrap_or(Timestamp::UNIX_EPOCH))
        }
        Some(_) => None,
        None => at("COMPLETED"),
    }
}
