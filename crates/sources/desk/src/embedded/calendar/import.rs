//! Files of iCalendar taken in and given out.

use std::collections::BTreeMap;

use super::Agenda;
use super::rows::AgendaTransaction;
use crate::backend::BackendError;
use crate::calendar_object::import_export::Taken;
use crate::calendar_object::{CalendarObject, CalendarObjectKind, ObjectLocation, invalid};
use crate::owner::CalendarOwner;

/// Largest file that is taken in, in bytes.
const MAX_FILE: usize = 64 * 1024 * 1024;
/// Reasons that are told one by one.
const MOST_REASONS: usize = 1_000;

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CalendarImportReport {
    /// Events of the file that are in the calendar now, new or renewed.
    pub events: usize,
    /// Tasks of the file that are in the list now, new or renewed.
    pub tasks: usize,
    /// What was not taken, each with its UID and the reason.
    pub skipped: Vec<String>,
    /// What could not be read of the file beside, by its lines.
    pub notes: Vec<String>,
}

impl Agenda {
    /// Takes in the events and tasks of an `.ics` file, into the first calendar and the first list.
    /// What is there by its UID is renewed, unless it is newer; taken in twice, a file is in once.
    /// A file that is none is `Invalid`.
    ///
    /// The file is taken as it is, since its lines may be folded inside of a letter.
    pub async fn import(
        &self,
        owner: &str,
        file: impl Into<Vec<u8>>,
    ) -> Result<CalendarImportReport, BackendError> {
        let (owner, home, file) = (owner.to_owned(), self.home(owner), file.into());
        let asked = self.db.ask(move |connection| {
            let Taken { objects, left_out, notes } = CalendarObject::all(&file, MAX_FILE, &home)
                .map_err(|error| {
                    invalid(format!("this is no file of iCalendar: {error}")).because(error)
                })?;
            let mut imported = CalendarImportReport {
                skipped: left_out,
                notes,
                ..CalendarImportReport::default()
            };
            for kind in [CalendarObjectKind::Event, CalendarObjectKind::Task] {
                let of_kind = objects.iter().filter(|object| object.kind == kind);
                let rows = AgendaTransaction::begin(connection, &owner, kind)?;
                let taken = take(rows, of_kind, &home, &mut imported.skipped)?;
                match kind {
                    CalendarObjectKind::Event => imported.events = taken,
                    CalendarObjectKind::Task => imported.tasks = taken,
                }
            }
            Ok(imported)
        });
        asked.await
    }

    /// All events and tasks of an owner as one `.ics` file.
    pub async fn export(&self, owner: &str) -> Result<String, BackendError> {
        let owner = owner.to_owned();
        let asked = self.db.ask(move |connection| {
            let mut objects = BTreeMap::new();
            for kind in [CalendarObjectKind::Event, CalendarObjectKind::Task] {
                let rows = AgendaTransaction::look(connection, &owner, kind)?;
                rows.all(None, None, |row| {
                    objects.extend(CalendarObject::read(&row.body).ok().map(|it| (row.id, it)));
                    Ok(())
                })?;
            }
            Ok(CalendarObject::together(objects.into_values()))
        });
        asked.await
    }
}

/// Takes those of one kind in, and tells how many.
fn take<'a>(
    rows: AgendaTransaction<'_>,
    objects: impl Iterator<Item = &'a CalendarObject>,
    home: &CalendarOwner,
    skipped: &mut Vec<String>,
) -> Result<usize, BackendError> {
    let collection = rows.collection(None)?;
    let mut taken = 0;
    for object in objects {
        match keep(&rows, &collection, object, home)? {
            Ok(()) => taken += 1,
            Err(why) if skipped.len() < MOST_REASONS => {
                skipped.push(format!("{}: {why}", object.name(home)));
            }
            Err(_) => {}
        }
    }
    rows.commit()?;
    Ok(taken)
}

/// Keeps one object, or says why not; the outer error is that of the file.
fn keep(
    rows: &AgendaTransaction<'_>,
    collection: &str,
    object: &CalendarObject,
    home: &CalendarOwner,
) -> Result<Result<(), String>, BackendError> {
    let place = ObjectLocation { id: "", collection, home };
    if object.uid().is_empty() {
        return Ok(Err("it has no UID".to_owned()));
    }
    if let Some(why) = object.not_understood(place) {
        return Ok(Err(why));
    }
    if let Err(fault) = object.write() {
        return Ok(Err(fault.message));
    }
    match rows.by_uid(object.uid())? {
        Some((id, body)) => {
            let kept = CalendarObject::read(&body).ok().and_then(|kept| kept.changed_at(home));
            if kept > object.changed_at(home) {
                return Ok(Err("what is kept of it is newer".to_owned()));
            }
            rows.update(&id, object, home)?;
        }
        None => {
            rows.insert(collection, object, home)?;
        }
    }
    Ok(Ok(()))
}
