//! One calendar object: an event or a task with all that was changed of its repetitions.
//!
//! Everything here is computed, nothing is kept: the embedded backend and CalDAV both stand on it,
//! so that they behave alike.
//!
//! Read in this order: [`CalendarObject`], `form` (what others write in another form than the
//! start), `key` (what names an occurrence), `slot` (when a component is), `times` (its times
//! read, or why they cannot be), `series` (when it occurs), `onward` (what was changed of an
//! occurrence and all after it), `read` and `make` (a component as a value of ours and back),
//! `change`, `shift`, `split` and `respond` (what can be done to it), `task`, `list` (pages),
//! `import_export` (files).

mod change;
mod form;
pub(crate) mod import_export;
mod key;
pub(crate) mod list;
mod make;
mod read;
pub(crate) mod respond;
mod series;
mod slot;
mod task;
mod times;

pub(crate) use self::key::{EventId, OccurrenceKey};
use crate::backend::{BackendError, BackendErrorKind};
use crate::ical::{IcalComponent, IcalReadError, ObjectZones};
use crate::owner::CalendarOwner;

/// Largest object that is read or written, in bytes.
pub(crate) const MAX_OBJECT: usize = 512 * 1024;

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalendarObjectKind {
    Event,
    Task,
}

impl CalendarObjectKind {
    /// The name of its components.
    pub(crate) fn component(self) -> &'static str {
        match self {
            Self::Event => "VEVENT",
            Self::Task => "VTODO",
        }
    }
}

/// A VCALENDAR with the components of one UID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CalendarObject {
    pub(crate) kind: CalendarObjectKind,
    calendar: IcalComponent,
}

/// Where an object lies, for what its components do not say.
#[derive(Clone, Copy)]
pub(crate) struct ObjectLocation<'a> {
    /// Its id in the backend.
    pub(crate) id: &'a str,
    /// The id of its calendar or list.
    pub(crate) collection: &'a str,
    pub(crate) home: &'a CalendarOwner,
}

/// What is left of an object when something was removed of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectRemainder {
    Some,
    Nothing,
}

impl CalendarObject {
    /// Reads the object that a backend keeps.
    pub(crate) fn read(text: &str) -> Result<Self, IcalReadError> {
        let all = IcalComponent::read(text, MAX_OBJECT)?;
        all.into_iter().find_map(Self::of).ok_or(IcalReadError::Empty)
    }

    fn of(calendar: IcalComponent) -> Option<Self> {
        let is = |kind: CalendarObjectKind| {
            calendar.components.iter().any(|it| it.name == kind.component())
        };
        let kind = [CalendarObjectKind::Event, CalendarObjectKind::Task]
            .into_iter()
            .find(|kind| is(*kind))?;
        let mut object = (calendar.name == "VCALENDAR").then_some(Self { kind, calendar })?;
        object.straighten();
        Some(object)
    }

    /// The text of it.
    pub(crate) fn write(&self) -> Result<String, BackendError> {
        let text = self.calendar.write();
        if text.len() <= MAX_OBJECT {
            return Ok(text);
        }
        let message = format!("it would be larger than {MAX_OBJECT} bytes: say it shorter");
        Err(BackendError::new(BackendErrorKind::Invalid, message))
    }

    /// What names it everywhere; empty if nothing does.
    pub(crate) fn uid(&self) -> &str {
        self.main().and_then(|main| main.get("UID")).map_or("", |uid| uid.value.trim())
    }

    /// The components of the object itself, without those of zones.
    fn parts(&self) -> impl Iterator<Item = &IcalComponent> {
        let name = self.kind.component();
        self.calendar.components.iter().filter(move |it| it.name == name)
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = &mut IcalComponent> {
        let name = self.kind.component();
        self.calendar.components.iter_mut().filter(move |it| it.name == name)
    }

    /// The component that speaks for all repetitions.
    fn master(&self) -> Option<&IcalComponent> {
        self.parts().find(|part| part.get("RECURRENCE-ID").is_none())
    }

    fn master_mut(&mut self) -> Option<&mut IcalComponent> {
        self.parts_mut().find(|part| part.get("RECURRENCE-ID").is_none())
    }

    /// The master, or an occurrence where only such came.
    fn main(&self) -> Option<&IcalComponent> {
        self.master().or_else(|| self.parts().next())
    }

    fn zones<'a>(&'a self, home: &'a CalendarOwner) -> ObjectZones<'a> {
        ObjectZones { home: &home.zone, calendar: &self.calendar }
    }
}

/// That an object cannot be understood.
pub(crate) fn broken(what: &str, id: &str, why: &str) -> BackendError {
    let message = format!("the {what} `{id}` is kept in a way that is not understood: {why}");
    BackendError::new(BackendErrorKind::Broken, message)
}

/// That an event cannot be understood.
fn unread(place: ObjectLocation<'_>, why: &str) -> BackendError {
    broken("event", place.id, why)
}

pub(crate) fn invalid(message: impl Into<String>) -> BackendError {
    BackendError::new(BackendErrorKind::Invalid, message)
}
