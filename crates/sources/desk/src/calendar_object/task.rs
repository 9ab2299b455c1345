//! Tasks: a VTODO made, read and changed.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use toolcrib_when::{Recurrence, RecurrenceEnd};

use super::change::touch;
use super::make::{calendar, put_text, stamps};
use super::{CalendarObject, CalendarObjectKind, ObjectLocation, OccurrenceKey, broken};
use crate::backend::{BackendError, FieldChange, NewTask, Task, TaskChange, TaskDue};
use crate::ical::{
    DateOrTime, IcalComponent, IcalDuration, IcalProperty, ObjectZones, utc_text, written,
};
use crate::owner::CalendarOwner;

/// Most times of a task that are passed over to find its next.
const MOST_PASSED: usize = 1_000;

impl CalendarObject {
    /// A new task.
    pub(crate) fn new_task(new: &NewTask, uid: &str, home: &CalendarOwner, now: Timestamp) -> Self {
        let calendar = calendar();
        let zones = ObjectZones { home: &home.zone, calendar: &calendar };
        let mut task = IcalComponent::new(CalendarObjectKind::Task.component());
        stamps(&mut task, uid, now);
        task.push(IcalProperty::text("SUMMARY", &new.title));
        put_text(&mut task, "DESCRIPTION", new.notes.as_deref());
        put_due(&mut task, new.due.as_ref(), zones);
        task.push(IcalProperty::new("STATUS", "NEEDS-ACTION"));
        let mut made = Self { kind: CalendarObjectKind::Task, calendar };
        made.calendar.components.push(task);
        made.add_zones(now);
        made
    }

    /// The task as a value.
    pub(crate) fn task(&self, place: ObjectLocation<'_>) -> Result<Task, BackendError> {
        let missing = || broken("task", place.id, "there is no task in it");
        let part =
            self.main().filter(|_| self.kind == CalendarObjectKind::Task).ok_or_else(missing)?;
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
        place: ObjectLocation<'_>,
        change: &TaskChange,
        now: Timestamp,
    ) -> Result<(), BackendError> {
        let calendar = self.calendar.clone();
        let zones = ObjectZones { home: &place.home.zone, calendar: &calendar };
        let missing = || broken("task", place.id, "there is no task in it");
        let part = self.master_mut().ok_or_else(missing)?;
        if let Some(title) = &change.title {
            part.set(IcalProperty::text("SUMMARY", title));
        }
        match &change.notes {
            FieldChange::Keep => {}
            FieldChange::Clear => put_text(part, "DESCRIPTION", None),
            FieldChange::Set(notes) => put_text(part, "DESCRIPTION", Some(notes)),
        }
        match &change.due {
            FieldChange::Keep => {}
            FieldChange::Clear => put_due(part, None, zones),
            FieldChange::Set(due) => put_due(part, Some(due), zones),
        }
        match &change.done {
            FieldChange::Keep => {}
            FieldChange::Clear => {
                for name in ["COMPLETED", "PERCENT-COMPLETE"] {
                    part.remove(name);
                }
                part.set(IcalProperty::new("STATUS", "NEEDS-ACTION"));
            }
            // What is done of a task that repeats is this one; the next is open.
            FieldChange::Set(_) if advance(part, zones).is_some() => {}
            FieldChange::Set(done) => {
                part.set(IcalProperty::new("COMPLETED", utc_text(*done)));
                part.set(IcalProperty::new("PERCENT-COMPLETE", "100"));
                part.set(IcalProperty::new("STATUS", "COMPLETED"));
            }
        }
        touch(part, now, false);
        self.add_zones(now);
        Ok(())
    }
}

/// Moves a task that repeats on to its next time; `None` if there is none.
fn advance(part: &mut IcalComponent, zones: ObjectZones<'_>) -> Option<()> {
    let due = part.get("DUE").and_then(|due| zones.moment(due));
    let model = part.get("DTSTART").or_else(|| part.get("DUE"))?.clone();
    let rule = Recurrence::beside(&part.get("RRULE")?.value, ObjectZones::shown(&model)).ok()?;
    let start = zones.moment(&model)?;
    let without: Vec<OccurrenceKey> = part
        .all("EXDATE")
        .flat_map(|it| zones.moments(it))
        .map(|it| OccurrenceKey::of(&it))
        .collect();
    let mut passed = 0;
    let mut is_next = |moment: &DateOrTime| {
        passed += 1;
        OccurrenceKey::of(moment) > OccurrenceKey::of(&start)
            && !without.contains(&OccurrenceKey::of(moment))
    };
    let next = match &start {
        DateOrTime::At(start) => {
            rule.moments(start).take(MOST_PASSED).map(DateOrTime::At).find(|it| is_next(it))
        }
        DateOrTime::Day(start) => {
            rule.dates(*start).take(MOST_PASSED).map(DateOrTime::Day).find(|it| is_next(it))
        }
    };
    let next = next?;
    let due = match (due, &start, &next) {
        (Some(DateOrTime::At(due)), DateOrTime::At(from), DateOrTime::At(to)) => {
            Some(DateOrTime::At(due.checked_add(from.duration_until(to)).ok()?))
        }
        (Some(due), from, to) => {
            let day = due.date().checked_add(to.date() - from.date()).ok()?;
            Some(match due {
                DateOrTime::Day(_) => DateOrTime::Day(day),
                DateOrTime::At(due) => {
                    let zone = due.time_zone();
                    let time = zone.to_ambiguous_zoned(day.to_datetime(due.time()));
                    DateOrTime::At(time.compatible().ok()?)
                }
            })
        }
        (None, _, _) => None,
    };
    if let RecurrenceEnd::Count(count) = rule.end() {
        // Those that have passed are counted from the new start no more.
        let left = count.saturating_sub(passed.max(2) - 1).max(1);
        part.set(IcalProperty::new("RRULE", rule.ending(RecurrenceEnd::Count(left)).to_string()));
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
    part.set(IcalProperty::new("STATUS", "NEEDS-ACTION"));
    Some(())
}

fn put_due(part: &mut IcalComponent, due: Option<&TaskDue>, zones: ObjectZones<'_>) {
    let Some(due) = due else {
        part.remove("DUE");
        part.remove("DURATION");
        return;
    };
    let moment = match due {
        TaskDue::Day(day) => DateOrTime::Day(*day),
        TaskDue::At(time) => DateOrTime::At(time.clone()),
    };
    // A start must be of the same kind and before it (RFC 5545, section 3.8.2.3).
    let fits = part.get("DTSTART").and_then(|start| zones.moment(start)).is_none_or(|start| {
        let is_alike = matches!(start, DateOrTime::Day(_)) == matches!(moment, DateOrTime::Day(_));
        is_alike && start.instant(zones.home) <= moment.instant(zones.home)
    });
    if !fits {
        part.remove("DTSTART");
    }
    part.remove("DURATION");
    part.set(written("DUE", &moment));
}

fn due(part: &IcalComponent, zones: ObjectZones<'_>) -> Option<TaskDue> {
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
        let length = IcalDuration::read(&part.get("DURATION")?.value)?;
        match zones.moment(part.get("DTSTART")?)? {
            DateOrTime::At(start) => DateOrTime::At(length.after(&start)?),
            DateOrTime::Day(start) => {
                let days = jiff::Span::new().try_days(length.whole_days()).ok()?;
                DateOrTime::Day(start.checked_add(days).ok()?)
            }
        }
    };
    Some(match moment {
        DateOrTime::Day(day) => TaskDue::Day(day),
        DateOrTime::At(time) => TaskDue::At(at_home(time)),
    })
}

/// When it was completed. One that was given up is no open one either.
fn done(part: &IcalComponent, zones: ObjectZones<'_>) -> Option<Timestamp> {
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
