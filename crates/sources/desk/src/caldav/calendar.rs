//! Events of the server.

use jiff::Timestamp;
use toolcrib_core::BoxFuture;
use uuid::Uuid;

use super::CalDavBackend;
use super::objects::CalDavObject;
use crate::backend::{
    BackendError, BackendErrorKind, BackendPage, CalendarBackend, CalendarEvent, CalendarInfo,
    EventChange, EventQuery, InvitationReply, NewEvent,
};
use crate::calendar_object::list::{Unread, event_page, few_enough};
use crate::calendar_object::respond::OwnerReply;
use crate::calendar_object::{
    CalendarObject, CalendarObjectKind, EventId, ObjectLocation, ObjectRemainder, OccurrenceKey,
};

impl CalDavBackend {
    /// Does something to one event, and gives it as it is afterwards.
    async fn edit(
        &self,
        id: &str,
        edit: impl FnOnce(
            &mut CalendarObject,
            ObjectLocation<'_>,
            EventId<'_>,
        ) -> Result<(), BackendError>
        + Send,
    ) -> Result<CalendarEvent, BackendError> {
        let id = EventId::read(id);
        let home = &self.account().await?.home;
        let mut object = self.object(CalendarObjectKind::Event, id.object).await?;
        let collection = object.collection.id.clone();
        let place = ObjectLocation { id: id.object, collection: &collection, home };
        let id = EventId { key: object.resource.narrowed(place, id.key)?, ..id };
        edit(&mut object.resource, place, id)?;
        let event = object.resource.event(place, id.key)?;
        self.put(&object).await?;
        Ok(event)
    }
}

/// Takes something out of an object, and says what is left of it.
type CalDavRemover = fn(
    &mut CalendarObject,
    ObjectLocation<'_>,
    Option<OccurrenceKey>,
    Timestamp,
) -> Result<ObjectRemainder, BackendError>;

impl CalDavBackend {
    async fn take_out(&self, id: &str, take_out: CalDavRemover) -> Result<(), BackendError> {
        let id = EventId::read(id);
        let home = &self.account().await?.home;
        let mut object = self.object(CalendarObjectKind::Event, id.object).await?;
        let collection = object.collection.id.clone();
        let place = ObjectLocation { id: id.object, collection: &collection, home };
        match take_out(&mut object.resource, place, id.key, Timestamp::now())? {
            ObjectRemainder::Some => self.put(&object).await,
            ObjectRemainder::Nothing => self.delete(&object).await,
        }
    }

    /// Takes the series that was to go on back, since the other one could not be ended.
    async fn taken_back(&self, new: &str, fault: BackendError) -> BackendError {
        let gone = async {
            let object = self.object(CalendarObjectKind::Event, new).await?;
            self.delete(&object).await
        };
        if fault.kind != BackendErrorKind::Unknown && gone.await.is_ok() {
            return fault;
        }
        let message = "it could not be told whether the series was parted: look at its repetitions \
                       before you repeat it";
        BackendError {
            cause: Some(fault.message.into()),
            ..BackendError::new(BackendErrorKind::Unknown, message)
        }
    }
}

impl CalendarBackend for CalDavBackend {
    fn calendars<'a>(
        &'a self,
        _owner: &'a str,
    ) -> BoxFuture<'a, Result<Vec<CalendarInfo>, BackendError>> {
        Box::pin(async move {
            let all = self.collections(CalendarObjectKind::Event).await?;
            let info = all.into_iter().map(|it| CalendarInfo {
                id: it.id,
                name: it.name,
                can_write: it.can_write,
            });
            Ok(info.collect())
        })
    }

    fn events<'a>(
        &'a self,
        _owner: &'a str,
        query: EventQuery,
    ) -> BoxFuture<'a, Result<BackendPage<CalendarEvent>, BackendError>> {
        Box::pin(async move {
            let home = &self.account().await?.home;
            let collections = match &query.calendar {
                Some(id) => vec![self.collection(CalendarObjectKind::Event, Some(id)).await?],
                None => self.collections(CalendarObjectKind::Event).await?,
            };
            let stretch = Some((query.from, query.until));
            let (mut events, mut unread) = (Vec::new(), Unread::default());
            for collection in &collections {
                for (id, read) in
                    self.objects(collection, CalendarObjectKind::Event, stretch).await?
                {
                    let place = ObjectLocation { id: &id, collection: &collection.id, home };
                    // What cannot be read does not hide the rest.
                    let why = match &read {
                        Ok(resource) => resource
                            .not_understood(place)
                            .map(|why| format!("{}: {why}", resource.name(home))),
                        Err(error) => Some(error.to_string()),
                    };
                    let (Ok(resource), None) = (read, &why) else {
                        unread.note(&id, why.as_deref().unwrap_or_default());
                        continue;
                    };
                    events.extend(resource.events(place, query.from, query.until)?);
                    few_enough(events.len())?;
                }
            }
            Ok(unread.with(event_page(events, &query, &home.zone)?))
        })
    }

    fn event<'a>(
        &'a self,
        _owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(async move {
            let id = EventId::read(id);
            let home = &self.account().await?.home;
            let CalDavObject { collection, resource, .. } =
                self.object(CalendarObjectKind::Event, id.object).await?;
            resource
                .event(ObjectLocation { id: id.object, collection: &collection.id, home }, id.key)
        })
    }

    fn add<'a>(
        &'a self,
        _owner: &'a str,
        event: NewEvent,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(async move {
            let home = &self.account().await?.home;
            let uid = Uuid::new_v4();
            let made = CalendarObject::new_event(&event, &uid.to_string(), home, Timestamp::now())?;
            let collection =
                self.collection(CalendarObjectKind::Event, event.calendar.as_deref()).await?;
            let id = self.put_new(&collection, &short(uid), &made).await?;
            made.event(ObjectLocation { id: &id, collection: &collection.id, home }, None)
        })
    }

    fn change<'a>(
        &'a self,
        _owner: &'a str,
        id: &'a str,
        change: EventChange,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(self.edit(id, move |resource, place, id| {
            resource.change(place, id.key, &change, Timestamp::now())
        }))
    }

    fn remove<'a>(
        &'a self,
        _owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(self.take_out(id, CalendarObject::remove))
    }

    fn change_following<'a>(
        &'a self,
        _owner: &'a str,
        id: &'a str,
        change: EventChange,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(async move {
            let id = EventId::read(id);
            let home = &self.account().await?.home;
            let mut object = self.object(CalendarObjectKind::Event, id.object).await?;
            let collection = object.collection.clone();
            let place = ObjectLocation { id: id.object, collection: &collection.id, home };
            let uid = Uuid::new_v4();
            let rest = object.resource.change_following(
                place,
                id.key,
                (&change, &uid.to_string()),
                Timestamp::now(),
            )?;
            let Some(rest) = rest else {
                let event = object.resource.event(place, None)?;
                self.put(&object).await?;
                return Ok(event);
            };
            // First the new one: what fails after it leaves something twice, and nothing out.
            let new = self.put_new(&collection, &short(uid), &rest).await?;
            if let Err(fault) = self.put(&object).await {
                return Err(self.taken_back(&new, fault).await);
            }
            rest.event(ObjectLocation { id: &new, ..place }, None)
        })
    }

    fn remove_following<'a>(
        &'a self,
        _owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(self.take_out(id, CalendarObject::remove_following))
    }

    fn respond<'a>(
        &'a self,
        _owner: &'a str,
        id: &'a str,
        reply: InvitationReply,
        comment: Option<String>,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(self.edit(id, move |resource, place, id| {
            let answer = OwnerReply { reply, comment: comment.as_deref() };
            resource.respond(place, id.key, &answer, Timestamp::now())
        }))
    }
}

/// The name of a new object: short, because models repeat it.
pub(super) fn short(uid: Uuid) -> String {
    uid.simple().to_string().chars().take(12).collect()
}
