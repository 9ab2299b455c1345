//! New events, alone and with guests.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::view::{EventView, event};
use super::{CalendarCall, calendar_id};
use crate::backend::{NewEvent, Person};
use crate::tools::fields::{AddressArgument, line, one_line, people, yes};
use crate::tools::quoting;
use crate::tools::times::CallClock;
use crate::tools::times::slot::{EventTimePhrases, ResolvedEventTime};
use crate::tools::tool::DataAnswer;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddEventArguments {
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// When it starts: `tomorrow 2pm`, `next Tuesday at noon`, `2026-01-21T14:00`; `2026-01-21` for
    /// the whole day; `tomorrow 2pm to 3pm` with its end; `every Monday at 9` for a series.
    #[schemars(length(min = 1, max = 200))]
    start: String,
    /// When it ends: `3pm`, `2026-01-21T15:00`; the last day of an all-day event.
    #[schemars(length(min = 1, max = 200))]
    end: Option<String>,
    /// How long it lasts instead: `30 min`, `1 hour 30 minutes`, `2 days`. One hour if neither
    /// is said.
    #[schemars(length(min = 1, max = 100))]
    duration: Option<String>,
    /// How it repeats: `every Monday`, `monthly on the 15th`, `FREQ=WEEKLY;BYDAY=MO;COUNT=6`.
    #[schemars(length(min = 1, max = 500))]
    repeat: Option<String>,
    /// IANA time zone of the times; the user's if not set.
    #[schemars(length(min = 1, max = 64))]
    timezone: Option<String>,
    #[schemars(length(max = 8000))]
    description: Option<String>,
    #[schemars(length(max = 500))]
    location: Option<String>,
    /// Id or name of a calendar; the first if not set.
    #[schemars(length(min = 1, max = 1024))]
    calendar: Option<String>,
    /// Whether its time is taken.
    #[serde(default = "yes")]
    busy: bool,
    /// Addresses of whom to invite: `ann@example.org` or `Ann Lee <ann@example.org>`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    guests: Vec<AddressArgument>,
}

impl AddEventArguments {
    fn span(&self) -> EventTimePhrases<'_> {
        EventTimePhrases {
            start: Some(&self.start),
            end: self.end.as_deref(),
            duration: self.duration.as_deref(),
            repeat: self.repeat.as_deref(),
        }
    }

    fn guests(&self) -> Result<Vec<Person>, ToolError> {
        let guests = people("guests", &self.guests)?;
        if guests.is_empty() {
            let message = "`guests` is empty: name somebody, or use `add_calendar_event`";
            return Err(ToolError::told(message));
        }
        Ok(guests)
    }
}

pub(super) async fn alone(
    here: CalendarCall,
    add: AddEventArguments,
) -> Result<DataAnswer<EventView>, ToolError> {
    keep(&here, add, Vec::new()).await
}

pub(super) async fn invited(
    here: CalendarCall,
    add: AddEventArguments,
) -> Result<DataAnswer<EventView>, ToolError> {
    let guests = add.guests()?;
    keep(&here, add, guests).await
}

async fn keep(
    here: &CalendarCall,
    add: AddEventArguments,
    guests: Vec<Person>,
) -> Result<DataAnswer<EventView>, ToolError> {
    let times = CallClock::new(&here.settings, add.timezone.as_deref())?;
    let ResolvedEventTime { slot, rule, mut notes } = times.planned(&add.span())?;
    notes.extend(times.past(&slot, rule.as_deref()));
    let new = NewEvent {
        calendar: calendar_id(here, add.calendar.as_deref()).await?,
        title: line("title", &add.title)?,
        slot,
        description: add.description.filter(|text| !text.trim().is_empty()),
        location: filled(add.location)?,
        guests,
        rule,
        busy: add.busy,
    };
    let kept = here.keeper.add(&here.owner, new).await?;
    Ok(DataAnswer { data: event(kept, &times), notes })
}

/// A line, or nothing.
fn filled(text: Option<String>) -> Result<Option<String>, ToolError> {
    let line = text.map(|text| one_line("location", &text)).transpose()?;
    Ok(line.filter(|line| !line.is_empty()))
}

/// `Invite ann@example.org to *Review*, Tue 24 Nov 2026 14:00 to 15:00`.
pub(super) async fn words(here: CalendarCall, add: AddEventArguments) -> Result<String, ToolError> {
    let guests = add.guests()?;
    let title = line("title", &add.title)?;
    filled(add.location.clone())?;
    calendar_id(&here, add.calendar.as_deref()).await?;
    let times = CallClock::new(&here.settings, add.timezone.as_deref())?;
    let ResolvedEventTime { slot, rule, .. } =
        times.steady(|times| times.planned(&add.span()), |planned| Some(&planned.slot))?;
    let (guests, title) = (quoting::addresses(&guests), quoting::title(&title));
    let repeats = rule.map(|rule| format!(", {}", times.say_rule(&rule))).unwrap_or_default();
    Ok(format!("Invite {guests} to {title}, {}{repeats}", times.say(&slot)))
}
