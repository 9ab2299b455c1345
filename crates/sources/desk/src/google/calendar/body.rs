//! Events as we write them for Google.

use jiff::tz::TimeZone;
use jiff::{ToSpan as _, Zoned};
use serde_json::{Map, Value, json};

use super::event::{GoogleEvent, text};
use crate::backend::{
    BackendError, BackendErrorKind, EventChange, EventSlot, FieldChange, NewEvent, Person,
};
use crate::mail::mime::is_address;
use crate::recurrence_rule;

type GoogleEventBody = Map<String, Value>;

pub(super) fn new_event(event: &NewEvent) -> Result<GoogleEventBody, BackendError> {
    is_forward(&event.slot)?;
    let mut body = GoogleEventBody::new();
    body.insert("summary".to_owned(), json!(event.title));
    let (start, end) = ends(&event.slot, false);
    body.insert("start".to_owned(), start);
    body.insert("end".to_owned(), end);
    let mut text = |name: &str, value: &Option<String>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), json!(value));
        }
    };
    text("description", &event.description);
    text("location", &event.location);
    if !event.guests.is_empty() {
        are_addresses(&event.guests)?;
        let guests: Vec<GoogleEventBody> = event.guests.iter().map(new_guest).collect();
        body.insert("attendees".to_owned(), json!(guests));
    }
    if let Some(rule) = &event.rule {
        let rule = recurrence_rule::fitted(rule, &event.slot)?;
        body.insert("recurrence".to_owned(), json!([format!("RRULE:{rule}")]));
    }
    body.insert("transparency".to_owned(), json!(transparency(event.busy)));
    Ok(body)
}

fn is_forward(slot: &EventSlot) -> Result<(), BackendError> {
    let is_forward = match slot {
        EventSlot::Timed { start, end } => start <= end,
        EventSlot::Days { first, last } => first <= last,
    };
    let backward =
        || BackendError::new(BackendErrorKind::Invalid, "the event ends before it starts");
    is_forward.then_some(()).ok_or_else(backward)
}

/// What a change is as a patch: what is not named is not in it, and a null clears.
pub(super) fn change(
    before: &GoogleEvent,
    change: EventChange,
) -> Result<GoogleEventBody, BackendError> {
    let EventChange { title, slot, description, location, guests, rule, busy } = change;
    let mut body = GoogleEventBody::new();
    if let Some(title) = title {
        body.insert("summary".to_owned(), json!(title));
    }
    if let Some(slot) = &slot {
        is_forward(slot)?;
        let (start, end) = ends(slot, true);
        body.insert("start".to_owned(), start);
        body.insert("end".to_owned(), end);
    }
    put(&mut body, "description", description);
    put(&mut body, "location", location);
    if rule != FieldChange::Keep && before.recurring_event_id.is_some() {
        return Err(BackendError::new(
            BackendErrorKind::Invalid,
            "one occurrence has no rule of its own: change the rule of its series",
        ));
    }
    if let Some(lines) = lines(before, rule, slot.as_ref())? {
        body.insert("recurrence".to_owned(), lines);
    }
    if let Some(guests) = guests {
        are_addresses(&guests)?;
        let guests: Vec<GoogleEventBody> =
            guests.iter().map(|it| same_guest(&before.attendees, it)).collect();
        body.insert("attendees".to_owned(), json!(guests));
    }
    if let Some(busy) = busy {
        body.insert("transparency".to_owned(), json!(transparency(busy)));
    }
    Ok(body)
}

/// A series that goes on from an occurrence, with a change: its times, rule and guests, and what
/// is changed of the rest.
pub(super) fn following(
    series: &GoogleEvent,
    slot: &EventSlot,
    rule: &str,
    mut change: EventChange,
) -> Result<GoogleEventBody, BackendError> {
    let after = change.slot.take().unwrap_or_else(|| slot.clone());
    is_forward(&after)?;
    let rule = match std::mem::take(&mut change.rule) {
        FieldChange::Keep => Some(recurrence_rule::moved(rule, slot, &after)?),
        FieldChange::Clear => None,
        FieldChange::Set(rule) => Some(recurrence_rule::fitted(&rule, &after)?),
    };
    let guests = change.guests.is_none();
    let mut body = self::change(series, change)?;
    let (start, end) = ends(&after, false);
    body.insert("start".to_owned(), start);
    body.insert("end".to_owned(), end);
    if let Some(rule) = rule {
        body.insert("recurrence".to_owned(), json!([format!("RRULE:{rule}")]));
    }
    if guests && !series.attendees.is_empty() {
        body.insert("attendees".to_owned(), json!(series.attendees));
    }
    Ok(body)
}

/// What a series repeats by afterwards, if that changes.
fn lines(
    before: &GoogleEvent,
    rule: FieldChange<String>,
    after: Option<&EventSlot>,
) -> Result<Option<Value>, BackendError> {
    let now = before.slot(None)?;
    let rule = match (rule, before.rule(), after) {
        (FieldChange::Clear, ..) => return Ok(Some(Value::Null)),
        (FieldChange::Set(rule), ..) => recurrence_rule::fitted(&rule, after.unwrap_or(&now))?,
        (FieldChange::Keep, Some(rule), Some(after)) => recurrence_rule::moved(&rule, &now, after)?,
        (FieldChange::Keep, ..) => return Ok(None),
    };
    // Days that were left out stay left out.
    let others = before.recurrence.iter().filter(|line| !line.starts_with("RRULE:"));
    let lines = [format!("RRULE:{rule}")].into_iter().chain(others.cloned());
    Ok(Some(json!(lines.collect::<Vec<_>>())))
}

fn are_addresses(guests: &[Person]) -> Result<(), BackendError> {
    let odd = guests.iter().find(|guest| !is_address(&guest.address));
    let Some(odd) = odd else { return Ok(()) };
    let shown: String = odd.address.chars().filter(|it| !it.is_control()).take(80).collect();
    let message = format!("`{shown}` is no address of mail: write it as `name@example.org`");
    Err(BackendError::new(BackendErrorKind::Invalid, message))
}

fn put(body: &mut GoogleEventBody, name: &str, change: FieldChange<String>) {
    let value = match change {
        FieldChange::Keep => return,
        FieldChange::Clear => Value::Null,
        FieldChange::Set(value) => Value::String(value),
    };
    body.insert(name.to_owned(), value);
}

fn transparency(busy: bool) -> &'static str {
    if busy { "opaque" } else { "transparent" }
}

fn new_guest(person: &Person) -> GoogleEventBody {
    let mut guest = GoogleEventBody::new();
    guest.insert("email".to_owned(), json!(person.address));
    if let Some(name) = &person.name {
        guest.insert("displayName".to_owned(), json!(name));
    }
    guest
}

/// Who stays keeps their answer.
fn same_guest(before: &[GoogleEventBody], person: &Person) -> GoogleEventBody {
    let is_same = |it: &&GoogleEventBody| {
        text(it, "email").is_some_and(|email| email.eq_ignore_ascii_case(&person.address))
    };
    before.iter().find(is_same).cloned().unwrap_or_else(|| new_guest(person))
}

/// Start and end. `over`: something stands there already, and days may become moments.
fn ends(slot: &EventSlot, over: bool) -> (Value, Value) {
    match slot {
        EventSlot::Timed { start, end } => (moment(start, over), moment(end, over)),
        EventSlot::Days { first, last } => {
            // Google's end is the day after.
            let end = last.checked_add(1.day()).unwrap_or(*last);
            (day(*first, over), day(end, over))
        }
    }
}

fn moment(at: &Zoned, over: bool) -> Value {
    // A series needs the name of a zone.
    let at = match at.time_zone().iana_name() {
        Some(_) => at.clone(),
        None => at.with_time_zone(TimeZone::UTC),
    };
    let zone = at.time_zone().iana_name().unwrap_or("UTC");
    let text = at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    let mut value = json!({ "dateTime": text, "timeZone": zone });
    if let Some(value) = value.as_object_mut().filter(|_| over) {
        value.insert("date".to_owned(), Value::Null);
    }
    value
}

fn day(day: jiff::civil::Date, over: bool) -> Value {
    let mut value = json!({ "date": day.to_string() });
    if let Some(value) = value.as_object_mut().filter(|_| over) {
        value.insert("dateTime".to_owned(), Value::Null);
        value.insert("timeZone".to_owned(), Value::Null);
    }
    value
}
