//! The tools of a calendar.

mod add;
mod change;
mod find;
mod free_slots;
mod respond;
mod scope;
mod series_reach;
mod view;

use std::sync::Arc;

use toolcrib_core::{Effect, ToolError};

use super::tool::{BackendCall, DeskToolContext, DeskToolInfo, DeskToolsResult, asked, tool};
use crate::backend::{CalendarBackend, EventChange};
use crate::time_settings::DeskTimeSettings;
use crate::tools::fields::named;

/// Who keeps a calendar, for one call.
type CalendarCall = BackendCall<dyn CalendarBackend>;

const CATEGORY: &str = "calendar";
/// Why a person is asked before others are written to.
const TOLD: &str = "the people invited will be told";

pub(crate) fn tools(
    keeper: Arc<dyn CalendarBackend>,
    settings: &Arc<DeskTimeSettings>,
) -> DeskToolsResult {
    let at = DeskToolContext { keeper, settings: Arc::clone(settings) };
    Ok(vec![
        tool(&LIST, &at, find::list)?,
        tool(&SEARCH, &at, find::search)?,
        tool(&GET, &at, find::get)?,
        tool(&FREE, &at, free_slots::slots)?,
        tool(&CALENDARS, &at, find::calendars)?,
        tool(&ADD, &at, add::alone)?,
        asked(&SCHEDULE, &at, (add::invited, add::words))?,
        tool(&UPDATE, &at, change::alone)?,
        asked(&UPDATE_MEETING, &at, (change::invited, change::words))?,
        asked(&RESPOND, &at, (respond::respond, respond::words))?,
        asked(&DELETE, &at, (change::delete, change::delete_words))?,
    ])
}

const READER: DeskToolInfo = DeskToolInfo { category: CATEGORY, ..DeskToolInfo::READER };
const WRITER: DeskToolInfo = DeskToolInfo { effect: Effect::Write, idempotent: false, ..READER };

const LIST: DeskToolInfo = DeskToolInfo {
    name: "list_calendar_events",
    actions: &["list", "read"],
    summary: "List the events of a day, a week or any stretch of time",
    description: "Lists the events of a stretch of time, in their order; of the next 30 days if \
                  nothing is said. Use it for what is on `today`, `this weekend` or `next week`.",
    ..READER
};

const SEARCH: DeskToolInfo = DeskToolInfo {
    name: "search_calendar_events",
    actions: &["search", "read"],
    summary: "Find calendar events by words in title, notes, place or guests",
    description: "Finds events by words that all stand in the title, the description, the place or \
                  the guests. It looks from 30 days ago to a year ahead if nothing is said. Use it \
                  for the id of an event before changing or deleting it.",
    ..READER
};

const GET: DeskToolInfo = DeskToolInfo {
    name: "get_calendar_event",
    actions: &["read"],
    summary: "Show everything about one calendar event by its id",
    description: "Shows one event whole: its description, guests and their answers. Use it after \
                  a list or a search, which shorten descriptions.",
    ..READER
};

const FREE: DeskToolInfo = DeskToolInfo {
    name: "find_free_slots",
    actions: &["search", "read"],
    summary: "Find free time in the calendar, within working hours",
    description: "Finds free stretches of at least a given length between the events that take \
                  time, within hours of days of the week: 09:00 to 17:00 from Monday to Friday, in \
                  the next 7 days, if nothing is said. Use it before proposing or making a meeting.",
    ..READER
};

const CALENDARS: DeskToolInfo = DeskToolInfo {
    name: "list_calendars",
    actions: &["list", "read"],
    summary: "List the calendars there are, the default one first",
    description: "Lists the calendars with their names and ids; new events go to the first unless \
                  another is named. Use it when the user speaks of a particular calendar.",
    ..READER
};

const ADD: DeskToolInfo = DeskToolInfo {
    name: "add_calendar_event",
    actions: &["create", "write"],
    summary: "Create a calendar event with title, time and optional repetition",
    description: "Creates an event without guests: nobody else is told. Use it for the user's own \
                  appointments and reminders, and `schedule_meeting` to invite others. A whole day \
                  such as `2026-01-21` makes an all-day event, `every Monday at 9` a series; \
                  without end and duration it lasts one hour.",
    without: &["guests"],
    ..WRITER
};

const SCHEDULE: DeskToolInfo = DeskToolInfo {
    name: "schedule_meeting",
    actions: &["create", "write"],
    summary: "Create a calendar event and invite guests to it",
    description: "Creates an event with guests, who are sent an invitation where the calendar's \
                  server sends such; the user is asked before. Use it to invite others, and \
                  `add_calendar_event` for events without guests. Give exact times: `tomorrow 2pm` \
                  or `2026-01-21T14:00`, and not `in 2 hours`.",
    needs: &["guests"],
    approval: Some(TOLD),
    ..WRITER
};

const UPDATE: DeskToolInfo = DeskToolInfo {
    name: "update_calendar_event",
    actions: &["update", "write"],
    summary: "Move or change a calendar event that has no guests",
    description: "Changes what is given of an event without guests; null clears a field that may \
                  be empty. Use it to move, rename or lengthen an event, and `update_meeting` for \
                  one with guests. A new start keeps the length; the id of a repetition changes \
                  that one, or by `scope` all after it too, the id of its series all.",
    without: &["add_guests", "remove_guests"],
    ..WRITER
};

const UPDATE_MEETING: DeskToolInfo = DeskToolInfo {
    name: "update_meeting",
    actions: &["update", "write"],
    summary: "Move or change an event that has guests, or its guests",
    description: "Changes what is given of an event and who is invited to it; null clears a field \
                  that may be empty. Guests are told where the calendar's server tells them; the \
                  user is asked before. Use it for an event with guests, and \
                  `update_calendar_event` for others.",
    approval: Some(TOLD),
    ..WRITER
};

const RESPOND: DeskToolInfo = DeskToolInfo {
    name: "respond_to_invitation",
    actions: &["update", "write"],
    summary: "Accept or decline an invitation to a calendar event",
    description: "Answers an invitation; the organizer is told where the calendar's server tells \
                  them, and the user is asked before. Use it for events that the user was invited \
                  to; the id of a series answers for all of it.",
    approval: Some("the organizer will be told"),
    ..WRITER
};

const DELETE: DeskToolInfo = DeskToolInfo {
    name: "delete_calendar_event",
    actions: &["delete", "write"],
    effect: Effect::Destroy,
    approval: Some("it is gone for good, and the people invited will be told"),
    summary: "Delete a calendar event, or a whole series, by its id",
    description: "Deletes an event for good; its guests are told where the calendar's server tells \
                  them. The id of a repetition deletes that one, or by `scope` all after it too, the \
                  id of its series all. Use it when the user wants an event gone; the user is \
                  asked before.",
    ..WRITER
};

/// The id of a calendar that was named by id or name.
async fn calendar_id(here: &CalendarCall, said: Option<&str>) -> Result<Option<String>, ToolError> {
    let Some(said) = said else { return Ok(None) };
    let known = here.keeper.calendars(&here.owner).await?;
    let found = named("calendar", said, &known, |one| (&one.id, &one.name))?;
    Ok(Some(found.id.clone()))
}

/// Whether a change says nothing.
fn is_nothing(change: &EventChange) -> bool {
    *change == EventChange::default()
}
