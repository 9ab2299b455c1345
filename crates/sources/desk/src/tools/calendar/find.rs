//! Looking into a calendar.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcrib_core::ToolError;

use super::view::{EventView, event, short};
use super::{CalendarCall, calendar_id};
use crate::backend::EventQuery;
use crate::tools::times::CallClock;
use crate::tools::times::range::DefaultTimeRange;
use crate::tools::tool::{DataAnswer, ListAnswer};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListEventsArguments {
    /// From when: `today`, `next Monday 9am`, `2026-01-21`. A day, weekend, week or month without
    /// `until` means all of it. Now if not set.
    #[schemars(length(min = 1, max = 200))]
    from: Option<String>,
    /// Until when; a day counts whole. 30 days later if not set.
    #[schemars(length(min = 1, max = 200))]
    until: Option<String>,
    /// Id or name of a calendar; all if not set.
    #[schemars(length(min = 1, max = 1024))]
    calendar: Option<String>,
    /// IANA time zone to read and tell times in; the user's if not set.
    #[schemars(length(min = 1, max = 64))]
    timezone: Option<String>,
    /// How many.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// `next` of the call before, with all other arguments as they were.
    #[schemars(length(min = 1, max = 4096))]
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchEventsArguments {
    /// Words that must all be there, case aside.
    #[schemars(length(min = 1, max = 500))]
    query: String,
    /// From when: `last month`, `2026-01-21`. 30 days ago if not set.
    #[schemars(length(min = 1, max = 200))]
    from: Option<String>,
    /// Until when; a day counts whole. In a year if not set.
    #[schemars(length(min = 1, max = 200))]
    until: Option<String>,
    /// Id or name of a calendar; all if not set.
    #[schemars(length(min = 1, max = 1024))]
    calendar: Option<String>,
    /// IANA time zone to read and tell times in; the user's if not set.
    #[schemars(length(min = 1, max = 64))]
    timezone: Option<String>,
    /// How many.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
    /// `next` of the call before, with all other arguments as they were.
    #[schemars(length(min = 1, max = 4096))]
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetEventArguments {
    #[schemars(length(min = 1, max = 1024))]
    /// Id of the event, or of its series.
    event_id: String,
    /// IANA time zone to tell times in; the user's if not set.
    #[schemars(length(min = 1, max = 64))]
    timezone: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListCalendarsArguments {}

fn twenty() -> usize {
    20
}

fn five() -> usize {
    5
}

pub(super) async fn list(
    here: CalendarCall,
    list: ListEventsArguments,
) -> Result<ListAnswer<EventView>, ToolError> {
    let times = CallClock::new(&here.settings, list.timezone.as_deref())?;
    let around = DefaultTimeRange { before: 0, after: 30 };
    let stretch = times.stretch(list.from.as_deref(), list.until.as_deref(), around)?;
    let query = EventQuery {
        calendar: calendar_id(&here, list.calendar.as_deref()).await?,
        from: stretch.from,
        until: stretch.until,
        text: None,
        limit: list.limit,
        cursor: list.cursor,
    };
    found(&here, &times, query, stretch.notes).await
}

pub(super) async fn search(
    here: CalendarCall,
    search: SearchEventsArguments,
) -> Result<ListAnswer<EventView>, ToolError> {
    let times = CallClock::new(&here.settings, search.timezone.as_deref())?;
    let around = DefaultTimeRange { before: 30, after: 365 };
    let stretch = times.stretch(search.from.as_deref(), search.until.as_deref(), around)?;
    let query = EventQuery {
        calendar: calendar_id(&here, search.calendar.as_deref()).await?,
        from: stretch.from,
        until: stretch.until,
        text: Some(search.query),
        limit: search.limit,
        cursor: search.cursor,
    };
    found(&here, &times, query, stretch.notes).await
}

async fn found(
    here: &CalendarCall,
    times: &CallClock,
    query: EventQuery,
    mut notes: Vec<String>,
) -> Result<ListAnswer<EventView>, ToolError> {
    let page = here.keeper.events(&here.owner, query).await?;
    notes.extend(page.unread);
    let data = page.items.into_iter().map(|event| short(event, times)).collect();
    Ok(ListAnswer { data, notes, next: page.next })
}

pub(super) async fn get(
    here: CalendarCall,
    get: GetEventArguments,
) -> Result<DataAnswer<EventView>, ToolError> {
    let times = CallClock::new(&here.settings, get.timezone.as_deref())?;
    let found = here.keeper.event(&here.owner, &get.event_id).await?;
    Ok(event(found, &times).into())
}

#[derive(Serialize, JsonSchema)]
pub(super) struct CalendarView {
    id: String,
    name: String,
    can_write: bool,
}

pub(super) async fn calendars(
    here: CalendarCall,
    _: ListCalendarsArguments,
) -> Result<DataAnswer<Vec<CalendarView>>, ToolError> {
    let known = here.keeper.calendars(&here.owner).await?.into_iter();
    let views =
        known.map(|one| CalendarView { id: one.id, name: one.name, can_write: one.can_write });
    Ok(views.collect::<Vec<_>>().into())
}
