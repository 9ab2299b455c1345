//! Changes of events, alone and with guests, and their end.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::scope::{EventTarget, SeriesScope};
use super::series_reach::SeriesReach;
use super::view::{EventView, event};
use super::{CalendarCall, is_nothing};
use crate::backend::{CalendarEvent, EventChange, FieldChange, Person};
use crate::tools::fields::{
    AddressArgument, change, emptied, given, is_same, line, one_line, people,
};
use crate::tools::quoting;
use crate::tools::times::CallClock;
use crate::tools::times::slot::{EventTimePhrases, ResolvedEventTime};
use crate::tools::tool::{DataAnswer, DeletedItem};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateEventArguments {
    /// Id of the event, or of its series.
    #[schemars(length(min = 1, max = 1024))]
    event_id: String,
    /// Which repetitions, with the id of one: it alone (as if not set), it and all after it, all.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "SeriesScope")]
    scope: Option<SeriesScope>,
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String", length(min = 1, max = 500))]
    title: Option<String>,
    /// When it starts now: `tomorrow 4pm`, `2026-01-21T14:00`, `2026-01-21` for the whole day; a
    /// time alone such as `4pm` is on the day of the event. It keeps its length.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String", length(min = 1, max = 200))]
    start: Option<String>,
    /// When it ends now.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String", length(min = 1, max = 200))]
    end: Option<String>,
    /// How long it lasts now: `30 min`, `2h30m`.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String", length(min = 1, max = 100))]
    duration: Option<String>,
    /// Of a series alone, how it repeats now: `every other Friday`; null ends the repetition.
    #[serde(default, deserialize_with = "change")]
    #[schemars(with = "Option<String>", length(min = 1, max = 500))]
    repeat: FieldChange<String>,
    /// IANA time zone of the times; the user's if not set.
    #[schemars(length(min = 1, max = 64))]
    timezone: Option<String>,
    #[serde(default, deserialize_with = "change")]
    #[schemars(with = "Option<String>", length(max = 8000))]
    description: FieldChange<String>,
    #[serde(default, deserialize_with = "change")]
    #[schemars(with = "Option<String>", length(max = 500))]
    location: FieldChange<String>,
    /// Whether its time is taken.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "bool")]
    busy: Option<bool>,
    /// Addresses of whom to invite as well.
    #[serde(default)]
    #[schemars(length(max = 100))]
    add_guests: Vec<AddressArgument>,
    /// Addresses of whom to invite no more.
    #[serde(default)]
    #[schemars(length(max = 100))]
    remove_guests: Vec<AddressArgument>,
}

/// A change that was read, of an event as it is now.
struct PreparedEventChange {
    change: EventChange,
    invited: Vec<Person>,
    uninvited: Vec<Person>,
    notes: Vec<String>,
}

pub(super) async fn alone(
    here: CalendarCall,
    update: UpdateEventArguments,
) -> Result<DataAnswer<EventView>, ToolError> {
    let times = CallClock::new(&here.settings, update.timezone.as_deref())?;
    let target = EventTarget::find(&here, &update.event_id, update.scope).await?;
    if !target.event.guests.is_empty() {
        let message = "this event has guests, who would be told: use `update_meeting` for it";
        return Err(ToolError::told(message));
    }
    let ready = read(&update, &target, &times)?;
    make(&here, target, ready, &times).await
}

pub(super) async fn invited(
    here: CalendarCall,
    update: UpdateEventArguments,
) -> Result<DataAnswer<EventView>, ToolError> {
    let times = CallClock::new(&here.settings, update.timezone.as_deref())?;
    let target = EventTarget::find(&here, &update.event_id, update.scope).await?;
    let ready = read(&update, &target, &times)?;
    make(&here, target, ready, &times).await
}

async fn make(
    here: &CalendarCall,
    target: EventTarget,
    ready: PreparedEventChange,
    times: &CallClock,
) -> Result<DataAnswer<EventView>, ToolError> {
    let (keeper, owner, id) = (&here.keeper, &here.owner, &target.id);
    let mut notes = ready.notes;
    let after = if target.reach == SeriesReach::Following {
        notes.extend(target.note(here).map(str::to_owned));
        keeper.change_following(owner, id, ready.change).await?
    } else {
        keeper.change(owner, id, ready.change).await?
    };
    if after.series.is_some() && after.series != target.event.series {
        notes.push("these repetitions are a series of their own now, with new ids".to_owned());
    }
    Ok(DataAnswer { data: event(after, times), notes })
}

fn read(
    update: &UpdateEventArguments,
    target: &EventTarget,
    times: &CallClock,
) -> Result<PreparedEventChange, ToolError> {
    let before = &target.event;
    let is_one = before.series.is_some() && target.reach == SeriesReach::One;
    if is_one && update.repeat != FieldChange::Keep {
        let message = "`repeat` is of several repetitions: give `following` or `all` as the \
                       `scope`";
        return Err(ToolError::told(message));
    }
    let (moved, mut notes) = moved(update, before, is_one, times)?;
    let rule = match (&update.repeat, moved.rule) {
        (_, Some(rule)) => FieldChange::Set(rule),
        (FieldChange::Clear, None) => FieldChange::Clear,
        (FieldChange::Keep | FieldChange::Set(_), None) => FieldChange::Keep,
    };
    let (guests, invited, uninvited) = guests(update, before, &mut notes)?;
    let change = EventChange {
        title: update.title.as_deref().map(|title| line("title", title)).transpose()?,
        slot: moved.slot,
        description: emptied(update.description.clone()),
        location: match &update.location {
            FieldChange::Set(text) => emptied(FieldChange::Set(one_line("location", text)?)),
            kept @ (FieldChange::Keep | FieldChange::Clear) => kept.clone(),
        },
        guests,
        rule,
        busy: update.busy,
    };
    if is_nothing(&change) {
        return Err(ToolError::told("nothing would change: give what is to be different"));
    }
    Ok(PreparedEventChange { change, invited, uninvited, notes })
}

/// The time after a change, where one is asked for.
struct EventTimeChange {
    slot: Option<crate::backend::EventSlot>,
    rule: Option<String>,
}

fn moved(
    update: &UpdateEventArguments,
    before: &CalendarEvent,
    is_one: bool,
    times: &CallClock,
) -> Result<(EventTimeChange, Vec<String>), ToolError> {
    let repeat = match &update.repeat {
        FieldChange::Set(text) => Some(text.as_str()),
        FieldChange::Keep | FieldChange::Clear => None,
    };
    let span = EventTimePhrases {
        start: update.start.as_deref(),
        end: update.end.as_deref(),
        duration: update.duration.as_deref(),
        repeat,
    };
    if span.is_silent() {
        return Ok((EventTimeChange { slot: None, rule: None }, Vec::new()));
    }
    let ResolvedEventTime { slot, rule, mut notes } = times.moved(&span, &before.slot)?;
    if is_one && rule.is_some() {
        let message = "a repetition cannot repeat by itself: give `following` or `all` as the \
                       `scope`, or a single time";
        return Err(ToolError::told(message));
    }
    notes.extend(times.past(&slot, rule.as_deref().or(before.rule.as_deref())));
    let slot = (slot != before.slot).then_some(slot);
    Ok((EventTimeChange { slot, rule }, notes))
}

/// The whole list if it changes, who is new, and who goes.
type GuestListChange = (Option<Vec<Person>>, Vec<Person>, Vec<Person>);

fn guests(
    update: &UpdateEventArguments,
    before: &CalendarEvent,
    notes: &mut Vec<String>,
) -> Result<GuestListChange, ToolError> {
    let mut added = people("add_guests", &update.add_guests)?;
    let mut removed = people("remove_guests", &update.remove_guests)?;
    let is_guest =
        |person: &Person| before.guests.iter().any(|guest| is_same(&guest.person, person));
    if let Some(both) = added.iter().find(|one| removed.iter().any(|other| is_same(one, other))) {
        let message = format!("`{}` is both added and removed: give them once", both.address);
        return Err(ToolError::told(message));
    }
    for person in removed.iter().filter(|person| !is_guest(person)) {
        notes.push(format!("`{}` was no guest", person.address));
    }
    added.retain(|person| !is_guest(person));
    removed.retain(is_guest);
    if added.is_empty() && removed.is_empty() {
        return Ok((None, added, removed));
    }
    let stay = before.guests.iter().map(|guest| guest.person.clone());
    let stay = stay.filter(|person| !removed.iter().any(|gone| is_same(gone, person)));
    Ok((Some(stay.chain(added.iter().cloned()).collect()), added, removed))
}

/// `Change *Review*, Tue 24 Nov 2026 14:00 to 15:00, 2 guests: move to Wed 25 Nov 2026 14:00 to
/// 15:00; invite ann@example.org`.
pub(super) async fn words(
    here: CalendarCall,
    update: UpdateEventArguments,
) -> Result<String, ToolError> {
    let times = CallClock::new(&here.settings, update.timezone.as_deref())?;
    let target = EventTarget::find(&here, &update.event_id, update.scope).await?;
    let ready =
        times.steady(|times| read(&update, &target, times), |ready| ready.change.slot.as_ref())?;
    let PreparedEventChange { change, invited, uninvited, .. } = ready;
    let mut parts = Vec::new();
    if let Some(title) = &change.title {
        parts.push(format!("rename to {}", quoting::title(title)));
    }
    if let Some(slot) = &change.slot {
        parts.push(format!("move to {}", times.say(slot)));
    }
    match &change.rule {
        FieldChange::Keep => {}
        FieldChange::Clear => parts.push("end the repetition".to_owned()),
        FieldChange::Set(rule) => parts.push(format!("repeat {}", times.say_rule(rule))),
    }
    parts.extend(of_text("description", &change.description));
    parts.extend(of_text("location", &change.location));
    if let Some(busy) = change.busy {
        parts.push(format!("show as {}", if busy { "busy" } else { "free" }));
    }
    if !invited.is_empty() {
        parts.push(format!("invite {}", quoting::addresses(&invited)));
    }
    if !uninvited.is_empty() {
        parts.push(format!("uninvite {}", quoting::addresses(&uninvited)));
    }
    parts.extend(target.note(&here).map(str::to_owned));
    Ok(format!("Change {}: {}", target.in_words(&times), parts.join("; ")))
}

fn of_text(what: &str, change: &FieldChange<String>) -> Option<String> {
    match change {
        FieldChange::Keep => None,
        FieldChange::Clear => Some(format!("clear the {what}")),
        FieldChange::Set(text) => Some(format!("set the {what} to {}", quoting::opening(text))),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteEventArguments {
    /// Id of the event, or of its series.
    #[schemars(length(min = 1, max = 1024))]
    event_id: String,
    /// Which repetitions, with the id of one: it alone (as if not set), it and all after it, all.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "SeriesScope")]
    scope: Option<SeriesScope>,
}

pub(super) async fn delete(
    here: CalendarCall,
    delete: DeleteEventArguments,
) -> Result<DataAnswer<DeletedItem>, ToolError> {
    let EventTarget { id, event, reach } =
        EventTarget::find(&here, &delete.event_id, delete.scope).await?;
    if reach == SeriesReach::Following {
        here.keeper.remove_following(&here.owner, &id).await?;
    } else {
        here.keeper.remove(&here.owner, &id).await?;
    }
    Ok(DeletedItem::new(id, event.title).into())
}

/// `Delete *Budget review*, Tue 24 Nov 2026 14:00 to 15:00, 3 guests`.
pub(super) async fn delete_words(
    here: CalendarCall,
    delete: DeleteEventArguments,
) -> Result<String, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let target = EventTarget::find(&here, &delete.event_id, delete.scope).await?;
    Ok(format!("Delete {}", target.in_words(&times)))
}
