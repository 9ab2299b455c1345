//! Calendar v3.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use toolcrib_when::Recurrence;

use super::reply::{CheckedRequest, ServiceRefusal, ServiceReply, put};
use super::{OWNER, page};

type EventFields = Map<String, Value>;

const ZONE: &str = "Europe/Zurich";

pub(super) struct FakeCalendars {
    entries: Vec<FakeCalendar>,
    /// By calendar and id. An occurrence stands here once something was done to it.
    events: BTreeMap<(String, String), EventFields>,
    number: u64,
    /// Requests that told guests.
    pub(super) told: Vec<String>,
}

struct FakeCalendar {
    id: String,
    name: String,
    role: String,
}

impl FakeCalendar {
    fn told(&self) -> Value {
        let mut told = json!({
            "kind": "calendar#calendarListEntry", "id": self.id, "summary": self.name,
            "accessRole": self.role, "timeZone": ZONE,
        });
        if self.id == OWNER {
            put(&mut told, "primary", json!(true));
        }
        told
    }
}

fn text<'a>(fields: &'a EventFields, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str()
}

fn zone(name: Option<&str>) -> TimeZone {
    TimeZone::get(name.unwrap_or(ZONE)).unwrap_or(TimeZone::UTC)
}

/// The moment and the clock time of one end of an event.
fn end_of(fields: &EventFields, name: &str) -> Option<(Timestamp, DateTime, bool)> {
    let at = fields.get(name)?.as_object()?;
    if let Some(day) = text(at, "date") {
        let day: jiff::civil::Date = day.parse().ok()?;
        let moment = day.to_zoned(zone(None)).ok()?.timestamp();
        return Some((moment, day.to_datetime(jiff::civil::Time::midnight()), true));
    }
    let moment: Timestamp = text(at, "dateTime")?.parse().ok()?;
    let clock = moment.to_zoned(zone(text(at, "timeZone"))).datetime();
    Some((moment, clock, false))
}

/// An end at another clock time, written as the one that was there.
fn moved(fields: &EventFields, name: &str, clock: DateTime) -> Value {
    let at = fields.get(name).and_then(Value::as_object);
    if at.is_some_and(|at| at.contains_key("date")) {
        return json!({ "date": clock.date().to_string() });
    }
    let name = at.and_then(|at| text(at, "timeZone")).unwrap_or(ZONE).to_owned();
    let at = zone(Some(&name)).to_ambiguous_zoned(clock).compatible();
    let written = at.map(|at| at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
    json!({ "dateTime": written.unwrap_or_default(), "timeZone": name })
}

impl FakeCalendars {
    pub(super) fn new() -> Self {
        let mut this =
            Self { entries: Vec::new(), events: BTreeMap::new(), number: 0, told: Vec::new() };
        this.open("holidays@group.v.calendar.google.com", "Holidays", "reader");
        this.open(OWNER, "Anna", "owner");
        this
    }

    pub(super) fn open(&mut self, id: &str, name: &str, role: &str) {
        let [id, name, role] = [id, name, role].map(str::to_owned);
        self.entries.push(FakeCalendar { id, name, role });
    }

    /// Somebody else's event, as it is.
    pub(super) fn put(&mut self, calendar: &str, event: Value) -> String {
        let Value::Object(mut event) = event else { return String::new() };
        let id = self.next();
        self.finish(&mut event, &id);
        self.events.insert((calendar.to_owned(), id.clone()), event);
        id
    }

    fn next(&mut self) -> String {
        self.number += 1;
        format!("evt{:023}", self.number)
    }

    pub(super) fn perform(
        &mut self,
        operation: &str,
        request: &CheckedRequest,
        most: usize,
    ) -> Result<ServiceReply, ServiceRefusal> {
        let told = match operation {
            "calendarList.list" => {
                let all = self.entries.iter().map(FakeCalendar::told).collect();
                page("items", all, request.size(100, 250, most), request)?
            }
            "calendarList.get" => self.calendar(request)?.told(),
            "events.list" => self.list(request, most)?,
            "events.get" => Value::Object(self.event(request)?),
            "events.insert" => self.insert(request)?,
            "events.patch" => self.patch(request)?,
            "events.delete" => {
                self.delete(request)?;
                return Ok(ServiceReply::Nothing);
            }
            _ => return Err(ServiceRefusal::new(501, "notImplemented", operation)),
        };
        Ok(ServiceReply::Value(told))
    }

    fn calendar(&self, request: &CheckedRequest) -> Result<&FakeCalendar, ServiceRefusal> {
        let id = request.place("calendarId");
        let id = if id == "primary" { OWNER } else { id };
        self.entries.iter().find(|it| it.id == id).ok_or_else(ServiceRefusal::not_found)
    }

    fn writable(&self, request: &CheckedRequest) -> Result<String, ServiceRefusal> {
        let entry = self.calendar(request)?;
        if ["owner", "writer"].contains(&entry.role.as_str()) {
            return Ok(entry.id.clone());
        }
        Err(ServiceRefusal::new(403, "requiredAccessLevel", "You need to have writer access"))
    }

    /// An event or an occurrence that is named by its id.
    fn event(&self, request: &CheckedRequest) -> Result<EventFields, ServiceRefusal> {
        let calendar = self.calendar(request)?.id.clone();
        let id = request.place("eventId");
        if let Some(event) = self.events.get(&(calendar.clone(), id.to_owned())) {
            return Ok(event.clone());
        }
        let series = id.rsplit_once('_').map(|(series, _)| series.to_owned());
        let series = series.and_then(|series| self.events.get(&(calendar, series)));
        let all = series.map(occurrences).unwrap_or_default();
        let found = all.into_iter().find(|it| text(it, "id") == Some(id));
        found.ok_or_else(ServiceRefusal::not_found)
    }

    fn list(&self, request: &CheckedRequest, most: usize) -> Result<Value, ServiceRefusal> {
        let calendar = self.calendar(request)?;
        let bound = |name: &str| match request.query(name) {
            None => Ok(None),
            Some(text) => match text.parse::<Timestamp>() {
                Ok(bound) => Ok(Some(bound)),
                Err(_) => Err(ServiceRefusal::new(400, "badRequest", "Bad Request")),
            },
        };
        let (from, until) = (bound("timeMin")?, bound("timeMax")?);
        let is_odd = from.zip(until).is_some_and(|(from, until)| from >= until);
        if is_odd || (request.query("orderBy") == Some("startTime") && !request.is("singleEvents"))
        {
            return Err(ServiceRefusal::invalid(
                "The requested ordering or range is not available",
            ));
        }
        let mut all: Vec<(Timestamp, EventFields)> = Vec::new();
        for ((own, _), event) in &self.events {
            if *own != calendar.id || event.contains_key("recurringEventId") {
                continue;
            }
            let each = if event.contains_key("recurrence") {
                // Also those that come later: one may have been moved to an earlier day.
                occurrences(event).into_iter().map(|it| self.overlaid(own, it)).collect()
            } else {
                vec![event.clone()]
            };
            for event in each.into_iter().filter(|it| text(it, "status") != Some("cancelled")) {
                let Some((start, ..)) = end_of(&event, "start") else { continue };
                let Some((stop, ..)) = end_of(&event, "end") else { continue };
                let in_time =
                    from.is_none_or(|from| stop > from) && until.is_none_or(|until| start < until);
                if in_time && is_about(&event, request.query("q")) {
                    all.push((start, event));
                }
            }
        }
        // Ties in an order that is none of ours, as Google has it.
        all.reverse();
        all.sort_by_key(|(start, _)| *start);
        let all = all.into_iter().map(|(_, event)| Value::Object(event)).collect();
        let mut told = page("items", all, request.size(250, 2500, most), request)?;
        put(&mut told, "kind", json!("calendar#events"));
        put(&mut told, "timeZone", json!(ZONE));
        put(&mut told, "accessRole", json!(calendar.role));
        Ok(told)
    }

    /// An occurrence as it was changed.
    fn overlaid(&self, calendar: &str, event: EventFields) -> EventFields {
        let id = text(&event, "id").unwrap_or_default().to_owned();
        self.events.get(&(calendar.to_owned(), id)).cloned().unwrap_or(event)
    }

    fn tell(&mut self, what: &str, id: &str, request: &CheckedRequest) {
        if let Some(who) = request.query("sendUpdates").filter(|who| *who != "none") {
            self.told.push(format!("{what} {who} {id}"));
        }
    }

    fn insert(&mut self, request: &CheckedRequest) -> Result<Value, ServiceRefusal> {
        let calendar = self.writable(request)?;
        let id = self.next();
        let mut event = request.body.clone();
        let organizer = json!({ "email": OWNER, "self": true });
        event.insert("organizer".to_owned(), organizer.clone());
        event.insert("creator".to_owned(), organizer);
        self.finish(&mut event, &id);
        is_possible(&event)?;
        self.tell("insert", &id, request);
        self.events.insert((calendar, id), event.clone());
        Ok(Value::Object(event))
    }

    /// What every event has.
    fn finish(&mut self, event: &mut EventFields, id: &str) {
        self.number += 1;
        event.insert("kind".to_owned(), json!("calendar#event"));
        event.insert("id".to_owned(), json!(id));
        event.insert("etag".to_owned(), json!(format!("\"{}\"", self.number)));
        event.entry("status").or_insert(json!("confirmed"));
        event.entry("iCalUID").or_insert(json!(format!("{id}@google.com")));
        event.insert("updated".to_owned(), json!(Timestamp::now().to_string()));
        for guest in event.get_mut("attendees").and_then(Value::as_array_mut).into_iter().flatten()
        {
            let Some(guest) = guest.as_object_mut() else { continue };
            guest.entry("responseStatus").or_insert(json!("needsAction"));
            if text(guest, "email").is_some_and(|it| it.eq_ignore_ascii_case(OWNER)) {
                guest.insert("self".to_owned(), json!(true));
            }
        }
    }

    fn patch(&mut self, request: &CheckedRequest) -> Result<Value, ServiceRefusal> {
        let calendar = self.writable(request)?;
        let mut event = self.event(request)?;
        if text(&event, "status") == Some("cancelled") {
            return Err(ServiceRefusal::not_found());
        }
        let is_old = request.if_match.as_deref().is_some_and(|it| text(&event, "etag") != Some(it));
        if is_old {
            return Err(ServiceRefusal::new(412, "conditionNotMet", "Precondition Failed"));
        }
        let mut patch = request.body.clone();
        if patch.remove("attendeesOmitted") == Some(json!(true)) {
            let own = patch.remove("attendees").unwrap_or_default();
            answer(&mut event, own.as_array().into_iter().flatten());
        }
        merge(&mut event, &patch);
        let id = request.place("eventId").to_owned();
        self.finish(&mut event, &id);
        is_possible(&event)?;
        self.tell("patch", &id, request);
        self.events.insert((calendar, id), event.clone());
        Ok(Value::Object(event))
    }

    fn delete(&mut self, request: &CheckedRequest) -> Result<(), ServiceRefusal> {
        let calendar = self.writable(request)?;
        let mut event = self.event(request)?;
        if text(&event, "status") == Some("cancelled") {
            return Err(ServiceRefusal::new(410, "deleted", "Resource has been deleted"));
        }
        let id = request.place("eventId").to_owned();
        self.tell("delete", &id, request);
        event.insert("status".to_owned(), json!("cancelled"));
        self.events.retain(|(own, _), it| {
            *own != calendar || text(it, "recurringEventId") != Some(id.as_str())
        });
        self.events.insert((calendar, id), event);
        Ok(())
    }
}

/// What one guest says; the others stay.
fn answer<'a>(event: &mut EventFields, own: impl Iterator<Item = &'a Value>) {
    let guests = event.get_mut("attendees").and_then(Value::as_array_mut);
    let Some(guests) = guests else { return };
    for own in own.filter_map(Value::as_object) {
        let same = guests.iter_mut().filter_map(Value::as_object_mut);
        for guest in same.filter(|it| it.get("email") == own.get("email")) {
            guest.extend(own.clone());
        }
    }
}

/// Objects are merged, a null takes away, everything else replaces.
fn merge(into: &mut EventFields, patch: &EventFields) {
    for (name, value) in patch {
        match (into.get_mut(name), value) {
            (_, Value::Null) => drop(into.remove(name)),
            (Some(Value::Object(own)), Value::Object(patch)) => merge(own, patch),
            (_, Value::Object(patch)) => {
                let mut own = EventFields::new();
                merge(&mut own, patch);
                into.insert(name.clone(), Value::Object(own));
            }
            _ => drop(into.insert(name.clone(), value.clone())),
        }
    }
}

fn is_possible(event: &EventFields) -> Result<(), ServiceRefusal> {
    let both = |name: &str| {
        let at = event.get(name).and_then(Value::as_object);
        at.is_some_and(|at| at.contains_key("date") && at.contains_key("dateTime"))
    };
    let (Some(start), Some(end)) = (end_of(event, "start"), end_of(event, "end")) else {
        return Err(ServiceRefusal::invalid("Missing or invalid start or end time."));
    };
    if both("start") || both("end") || start.2 != end.2 {
        return Err(ServiceRefusal::invalid("Invalid start or end time."));
    }
    if end.0 < start.0 || (start.2 && end.0 == start.0) {
        return Err(ServiceRefusal::new(
            400,
            "timeRangeEmpty",
            "The specified time range is empty.",
        ));
    }
    let Some(lines) = event.get("recurrence").and_then(Value::as_array) else { return Ok(()) };
    let has_zone = start.2 || event.get("start").is_some_and(|it| it.get("timeZone").is_some());
    let is_read = lines.iter().all(|line| line.as_str().and_then(rule).is_some());
    if is_read && has_zone {
        Ok(())
    } else {
        Err(ServiceRefusal::invalid("Invalid recurrence rule."))
    }
}

/// Every word in a field that Google looks at.
fn is_about(event: &EventFields, words: Option<&str>) -> bool {
    let mut all = String::new();
    for name in ["summary", "description", "location"] {
        all += text(event, name).unwrap_or_default();
        all.push(' ');
    }
    for who in event.get("attendees").and_then(Value::as_array).into_iter().flatten() {
        for name in ["email", "displayName"] {
            all += who.get(name).and_then(Value::as_str).unwrap_or_default();
            all.push(' ');
        }
    }
    let all = all.to_lowercase();
    words.unwrap_or_default().to_lowercase().split_whitespace().all(|word| all.contains(word))
}

/// Each repetition as an event of its own.
fn occurrences(series: &EventFields) -> Vec<EventFields> {
    let line = series.get("recurrence").and_then(|lines| lines.get(0)).and_then(Value::as_str);
    let Some(rule) = line.and_then(rule) else { return Vec::new() };
    let (Some((_, first, whole)), Some((_, last, _))) =
        (end_of(series, "start"), end_of(series, "end"))
    else {
        return Vec::new();
    };
    let start = series.get("start").and_then(Value::as_object);
    let zone = zone(start.and_then(|start| text(start, "timeZone")));
    let length = first.duration_until(last);
    let id = text(series, "id").unwrap_or_default();
    let one = |at: DateTime| {
        let mut event = series.clone();
        event.remove("recurrence");
        let moment = zone.to_ambiguous_zoned(at).compatible().map(|at| at.timestamp());
        let moment = moment.unwrap_or(Timestamp::UNIX_EPOCH);
        let name = if whole {
            at.strftime("%Y%m%d").to_string()
        } else {
            moment.strftime("%Y%m%dT%H%M%SZ").to_string()
        };
        let start = moved(series, "start", at);
        event.insert("id".to_owned(), json!(format!("{id}_{name}")));
        event.insert("recurringEventId".to_owned(), json!(id));
        event.insert("originalStartTime".to_owned(), start.clone());
        event.insert("start".to_owned(), start);
        let stop = at.checked_add(length).unwrap_or(at);
        event.insert("end".to_owned(), moved(series, "end", stop));
        event
    };
    let Ok(start) = zone.to_ambiguous_zoned(first).compatible() else { return Vec::new() };
    let times: Vec<DateTime> = if whole {
        let midnight = jiff::civil::Time::midnight();
        rule.dates(first.date()).take(MOST).map(|day| day.to_datetime(midnight)).collect()
    } else {
        rule.moments(&start).take(MOST).map(|at| at.datetime()).collect()
    };
    times.into_iter().map(one).collect()
}

/// Nothing repeats for ever in a test.
const MOST: usize = 1500;

fn rule(line: &str) -> Option<Recurrence> {
    line.strip_prefix("RRULE:")?.parse().ok()
}
