//! Events in the desk's file.

pub(crate) mod import;
pub(crate) mod rows;

use jiff::Timestamp;
use toolcrib_core::BoxFuture;
use uuid::Uuid;

use self::rows::{AgendaRow, AgendaTransaction};
use super::database::DeskDatabase;
use crate::backend::{
    BackendError, BackendPage, CalendarBackend, CalendarEvent, CalendarInfo, EventChange,
    EventQuery, InvitationReply, NewEvent,
};
use crate::calendar_object::list::{Unread, event_page, few_enough, has_words, words_of};
use crate::calendar_object::respond::OwnerReply;
use crate::calendar_object::{
    CalendarObject, CalendarObjectKind, EventId, ObjectLocation, ObjectRemainder, OccurrenceKey,
};
use crate::owner::CalendarOwner;

/// Events and tasks in the desk's file. Cheap to clone.
///
/// What changes something reads and writes in one transaction, so that of two changes at once
/// neither is lost.
#[derive(Clone)]
pub struct Agenda {
    pub(super) db: DeskDatabase,
    home: CalendarOwner,
}

impl Agenda {
    /// `home` holds for all owners.
    pub fn new(db: DeskDatabase, home: CalendarOwner) -> Self {
        Self { db, home }
    }

    /// Home as one owner has it: a tenant that is called by an address has that one too.
    pub(super) fn home(&self, owner: &str) -> CalendarOwner {
        let mut home = self.home.clone();
        if owner.contains('@') && !home.is_own(owner) {
            home.addresses.push(owner.to_owned());
        }
        home
    }

    /// Does something to one event, and gives it as it is afterwards.
    async fn edit<F>(&self, owner: &str, id: &str, edit: F) -> Result<CalendarEvent, BackendError>
    where
        F: FnOnce(&mut CalendarObject, ObjectLocation<'_>, EventId<'_>) -> Result<(), BackendError>
            + Send
            + 'static,
    {
        let (owner, id, home) = (owner.to_owned(), id.to_owned(), self.home(owner));
        let asked = self.db.ask(move |connection| {
            let id = EventId::read(&id);
            let rows = AgendaTransaction::begin(connection, &owner, CalendarObjectKind::Event)?;
            let mut found = rows.object(id.object)?;
            let place =
                ObjectLocation { id: id.object, collection: &found.collection, home: &home };
            let id = EventId { key: found.resource.narrowed(place, id.key)?, ..id };
            edit(&mut found.resource, place, id)?;
            let event = found.resource.event(place, id.key)?;
            rows.update(id.object, &found.resource, &home)?;
            rows.commit()?;
            Ok(event)
        });
        asked.await
    }
}

/// An event that can be understood, or why it cannot.
fn readable(body: &str, place: ObjectLocation<'_>) -> Result<CalendarObject, String> {
    let resource = CalendarObject::read(body).map_err(|error| error.to_string())?;
    match resource.not_understood(place) {
        None => Ok(resource),
        Some(why) => Err(format!("{}: {why}", resource.name(place.home))),
    }
}

/// Takes something out of an object, and says what is left of it.
type AgendaRemover = fn(
    &mut CalendarObject,
    ObjectLocation<'_>,
    Option<OccurrenceKey>,
    Timestamp,
) -> Result<ObjectRemainder, BackendError>;

impl Agenda {
    fn take_out(
        &self,
        owner: &str,
        id: &str,
        take_out: AgendaRemover,
    ) -> BoxFuture<'_, Result<(), BackendError>> {
        let (owner, id, home) = (owner.to_owned(), id.to_owned(), self.home(owner));
        Box::pin(self.db.ask(move |connection| {
            let id = EventId::read(&id);
            let rows = AgendaTransaction::begin(connection, &owner, CalendarObjectKind::Event)?;
            let mut found = rows.object(id.object)?;
            let place =
                ObjectLocation { id: id.object, collection: &found.collection, home: &home };
            match take_out(&mut found.resource, place, id.key, Timestamp::now())? {
                ObjectRemainder::Some => rows.update(id.object, &found.resource, &home)?,
                ObjectRemainder::Nothing => rows.delete(id.object)?,
            }
            rows.commit()
        }))
    }
}

impl CalendarBackend for Agenda {
    fn calendars<'a>(
        &'a self,
        owner: &'a str,
    ) -> BoxFuture<'a, Result<Vec<CalendarInfo>, BackendError>> {
        let owner = owner.to_owned();
        Box::pin(self.db.ask(move |connection| {
            let rows = AgendaTransaction::look(connection, &owner, CalendarObjectKind::Event)?;
            let all = rows.collections()?;
            let info = |(id, name)| CalendarInfo { id, name, can_write: true };
            Ok(all.into_iter().map(info).collect())
        }))
    }

    fn events<'a>(
        &'a self,
        owner: &'a str,
        query: EventQuery,
    ) -> BoxFuture<'a, Result<BackendPage<CalendarEvent>, BackendError>> {
        let (owner, home) = (owner.to_owned(), self.home(owner));
        Box::pin(self.db.ask(move |connection| {
            let rows = AgendaTransaction::look(connection, &owner, CalendarObjectKind::Event)?;
            if let Some(calendar) = &query.calendar {
                rows.collection(Some(calendar))?;
            }
            let words = words_of(query.text.as_deref());
            let (mut events, mut unread) = (Vec::new(), Unread::default());
            rows.between(query.from, query.until, query.calendar.as_deref(), |row: AgendaRow| {
                if !has_words(&row.words, &words) {
                    return Ok(());
                }
                // What cannot be read does not hide the rest.
                let place =
                    ObjectLocation { id: &row.id, collection: &row.collection, home: &home };
                let resource = match readable(&row.body, place) {
                    Ok(resource) => resource,
                    Err(why) => {
                        unread.note(&row.id, &why);
                        return Ok(());
                    }
                };
                events.extend(resource.events(place, query.from, query.until)?);
                few_enough(events.len())
            })?;
            Ok(unread.with(event_page(events, &query, &home.zone)?))
        }))
    }

    fn event<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        let (owner, id, home) = (owner.to_owned(), id.to_owned(), self.home(owner));
        Box::pin(self.db.ask(move |connection| {
            let id = EventId::read(&id);
            let rows = AgendaTransaction::look(connection, &owner, CalendarObjectKind::Event)?;
            let found = rows.object(id.object)?;
            let place =
                ObjectLocation { id: id.object, collection: &found.collection, home: &home };
            found.resource.event(place, id.key)
        }))
    }

    fn add<'a>(
        &'a self,
        owner: &'a str,
        event: NewEvent,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        let (owner, home) = (owner.to_owned(), self.home(owner));
        Box::pin(self.db.ask(move |connection| {
            let rows = AgendaTransaction::begin(connection, &owner, CalendarObjectKind::Event)?;
            let uid = Uuid::new_v4();
            let made =
                CalendarObject::new_event(&event, &uid.to_string(), &home, Timestamp::now())?;
            let collection = rows.collection(event.calendar.as_deref())?;
            let id = rows.insert(&collection, &made, &home)?;
            let place = ObjectLocation { id: &id, collection: &collection, home: &home };
            let event = made.event(place, None)?;
            rows.commit()?;
            Ok(event)
        }))
    }

    fn change<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        change: EventChange,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(self.edit(owner, id, move |resource, place, id| {
            resource.change(place, id.key, &change, Timestamp::now())
        }))
    }

    fn remove<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<(), BackendError>> {
        self.take_out(owner, id, CalendarObject::remove)
    }

    fn change_following<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        change: EventChange,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        let (owner, id, home) = (owner.to_owned(), id.to_owned(), self.home(owner));
        Box::pin(self.db.ask(move |connection| {
            let id = EventId::read(&id);
            let rows = AgendaTransaction::begin(connection, &owner, CalendarObjectKind::Event)?;
            let mut found = rows.object(id.object)?;
            let place =
                ObjectLocation { id: id.object, collection: &found.collection, home: &home };
            let uid = Uuid::new_v4().to_string();
            let rest = found.resource.change_following(
                place,
                id.key,
                (&change, &uid),
                Timestamp::now(),
            )?;
            rows.update(id.object, &found.resource, &home)?;
            let event = match rest {
                Some(rest) => {
                    let new = rows.insert(&found.collection, &rest, &home)?;
                    rest.event(ObjectLocation { id: &new, ..place }, None)?
                }
                None => found.resource.event(place, None)?,
            };
            rows.commit()?;
            Ok(event)
        }))
    }

    fn remove_following<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<(), BackendError>> {
        self.take_out(owner, id, CalendarObject::remove_following)
    }

    fn respond<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        reply: InvitationReply,
        comment: Option<String>,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(self.edit(owner, id, move |resource, place, id| {
            let answer = OwnerReply { reply, comment: comment.as_deref() };
            resource.respond(place, id.key, &answer, Timestamp::now())
        }))
    }
}
