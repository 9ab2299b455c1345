//! Objects of a collection: found, read and written.

use http::StatusCode;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use url::Url;

use super::CalDavBackend;
use super::client::{CalDavRequest, EtagCondition, not_understood};
use super::collection::{CalendarCollection, DavProperties};
use super::xml::{CAL, DAV, escaped};
use crate::backend::{BackendError, BackendErrorKind};
use crate::calendar_object::{CalendarObject, CalendarObjectKind, broken};
use crate::ical::{IcalReadError, utc_text};

/// Objects that are asked for by name together.
const TOGETHER: usize = 100;

/// An object as the server has it.
pub(super) struct CalDavObject {
    pub(super) collection: CalendarCollection,
    pub(super) resource: CalendarObject,
    url: Url,
    etag: String,
}

/// What a list has: an id, and the object if its text is one.
type Listed = (String, Result<CalendarObject, IcalReadError>);

impl CalDavBackend {
    /// The objects of a collection that may occur in a stretch of time, or all, each with its id,
    /// and with the fault of its text where that is none.
    pub(super) async fn objects(
        &self,
        collection: &CalendarCollection,
        kind: CalendarObjectKind,
        stretch: Option<(Timestamp, Timestamp)>,
    ) -> Result<Vec<Listed>, BackendError> {
        let range = stretch.map(|(from, until)| range(from, until)).unwrap_or_default();
        let body = format!(
            r#"<?xml version="1.0" encoding="utf-8"?><C:calendar-query xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><getetag/><C:calendar-data/></prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="{}">{range}</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>"#,
            kind.component()
        );
        let mut all = Vec::new();
        let mut bare = self.report(collection, kind, body, &mut all).await?;
        // Some servers tell in a query only what there is.
        while !bare.is_empty() {
            let part = bare.split_off(bare.len().saturating_sub(TOGETHER));
            let names: Vec<String> =
                part.iter().map(|path| format!("<href>{path}</href>")).collect();
            let body = format!(
                r#"<?xml version="1.0" encoding="utf-8"?><C:calendar-multiget xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><getetag/><C:calendar-data/></prop>{}</C:calendar-multiget>"#,
                names.concat()
            );
            self.report(collection, kind, body, &mut all).await?;
        }
        Ok(all)
    }

    /// Asks for a report, adds what came whole, and gives the addresses of what came without its
    /// text, as XML has them.
    async fn report(
        &self,
        collection: &CalendarCollection,
        kind: CalendarObjectKind,
        body: String,
        all: &mut Vec<Listed>,
    ) -> Result<Vec<String>, BackendError> {
        let answer = self.wire.ask(&collection.url, &CalDavRequest::Report { body }).await?;
        if answer.status == StatusCode::NOT_FOUND {
            // It was deleted since it was listed.
            self.forget().await;
            return Ok(Vec::new());
        }
        let whole = answer.multistatus()?;
        let mut bare = Vec::new();
        for response in whole.all(DAV, "response") {
            let props = DavProperties::of(response);
            let Some(href) = response.href() else { continue };
            let url = answer.resolve(href)?;
            let Some(id) = id_of(collection, &url) else { continue };
            let Some(data) = props.get(CAL, "calendar-data") else {
                bare.extend(props.get(DAV, "getetag").map(|_| escaped(url.path())));
                continue;
            };
            let read = CalendarObject::read(&data.text);
            if read.as_ref().map_or(true, |it| it.kind == kind) {
                all.push((id, read));
            }
        }
        Ok(bare)
    }

    /// One object.
    pub(super) async fn object(
        &self,
        kind: CalendarObjectKind,
        id: &str,
    ) -> Result<CalDavObject, BackendError> {
        let what = match kind {
            CalendarObjectKind::Event => "event",
            CalendarObjectKind::Task => "task",
        };
        let none = || BackendError::no(what, id);
        let (place, name) = id.split_once('/').ok_or_else(none)?;
        let all = self.collections(kind).await?;
        let collection = all.into_iter().find(|it| it.id == place).ok_or_else(none)?;
        let url = address(&collection, name).ok_or_else(none)?;
        let answer = self.wire.ask(&url, &CalDavRequest::Get).await?;
        match answer.status {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND | StatusCode::GONE => return Err(none()),
            status => return Err(not_understood(&format!("the status {}", status.as_u16()))),
        }
        let resource = CalendarObject::read(answer.text()?)
            .map_err(|error| broken(what, id, &error.to_string()).because(error))?;
        if resource.kind != kind {
            return Err(none());
        }
        // Without one, a change of somebody else would be lost unseen.
        let etag = answer.etag.clone().ok_or_else(|| not_understood("an object without ETag"))?;
        Ok(CalDavObject { collection, resource, url, etag })
    }

    /// Keeps a new object, and gives its id.
    pub(super) async fn put_new(
        &self,
        collection: &CalendarCollection,
        name: &str,
        resource: &CalendarObject,
    ) -> Result<String, BackendError> {
        let url = address(collection, name).ok_or_else(|| not_understood("an odd address"))?;
        let ask = CalDavRequest::Put { body: resource.write()?, condition: EtagCondition::New };
        let answer = self.wire.ask(&url, &ask).await?;
        accepted(answer.status)?;
        Ok(format!("{}/{name}", collection.id))
    }

    /// Keeps a changed object, unless somebody else changed it since it was read.
    pub(super) async fn put(&self, object: &CalDavObject) -> Result<(), BackendError> {
        let condition = EtagCondition::Is(&object.etag);
        let ask = CalDavRequest::Put { body: object.resource.write()?, condition };
        accepted(self.wire.ask(&object.url, &ask).await?.status)
    }

    /// Deletes an object, unless somebody else changed it since it was read.
    pub(super) async fn delete(&self, object: &CalDavObject) -> Result<(), BackendError> {
        let ask = CalDavRequest::Delete { condition: EtagCondition::Is(&object.etag) };
        let answer = self.wire.ask(&object.url, &ask).await?;
        match answer.status {
            // Somebody else was faster.
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                let message = "it was deleted by somebody else in the meantime";
                Err(BackendError::new(BackendErrorKind::NotFound, message))
            }
            status => accepted(status),
        }
    }
}

fn accepted(status: StatusCode) -> Result<(), BackendError> {
    if status.is_success() {
        return Ok(());
    }
    let message = format!(
        "the calendar server does not take this (status {}): say it otherwise",
        status.as_u16()
    );
    Err(BackendError::new(BackendErrorKind::Invalid, message))
}

/// The part of a filter that names a stretch of time, a day wider on both sides, since whole days
/// begin elsewhere at other times. What is far off is left open: not every server can count so far.
fn range(from: Timestamp, until: Timestamp) -> String {
    let bound = |year: i16| {
        let day = Date::new(year, 1, 1).ok()?;
        TimeZone::UTC.to_timestamp(day.to_datetime(jiff::civil::Time::midnight())).ok()
    };
    let (first, last) =
        (bound(1900).unwrap_or(Timestamp::MIN), bound(2200).unwrap_or(Timestamp::MAX));
    let start = from.checked_sub(24.hours()).ok().filter(|it| *it > first && *it < last);
    let end = until.checked_add(24.hours()).ok().filter(|it| *it > first && *it < last);
    let part = |name: &str, time: Option<Timestamp>| {
        time.map(|time| format!(r#" {name}="{}""#, utc_text(time))).unwrap_or_default()
    };
    if start.is_none() && end.is_none() {
        return String::new();
    }
    format!("<C:time-range{}{}/>", part("start", start), part("end", end))
}

/// The id of an object: its collection, and its name without `.ics`. A name that ends otherwise
/// has a dot behind it.
fn id_of(collection: &CalendarCollection, url: &Url) -> Option<String> {
    let name = url.path().strip_prefix(collection.url.path())?;
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let stem = name.strip_suffix(".ics").filter(|stem| !stem.is_empty() && !stem.ends_with('.'));
    let name = stem.map_or_else(|| format!("{name}."), str::to_owned);
    Some(format!("{}/{name}", collection.id))
}

/// The address of the object with a name, if that is one in the collection.
fn address(collection: &CalendarCollection, name: &str) -> Option<Url> {
    let name = match name.strip_suffix('.') {
        Some(whole) => whole.to_owned(),
        None => format!("{name}.ics"),
    };
    let mut url = collection.url.clone();
    let path = format!("{}{name}", collection.url.path());
    url.set_path(&path);
    // Dots and slashes in it must not have led anywhere else.
    let is_plain = !name.is_empty() && !name.contains(['/', '\\', '?', '#']);
    (is_plain && url.path() == path).then_some(url)
}
