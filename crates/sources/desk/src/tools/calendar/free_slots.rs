//! Free time between events.

use jiff::civil::{Date, Time, Weekday};
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcrib_core::ToolError;

use super::{CalendarCall, calendar_id};
use crate::backend::{CalendarEvent, EventQuery, EventSlot, EventStatus, InvitationReply};
use crate::tools::quoting;
use crate::tools::times::range::DefaultTimeRange;
use crate::tools::times::{CallClock, iso, length};
use crate::tools::tool::DataAnswer;

/// Days that are looked at in one call.
const LONGEST: i64 = 92;
/// Events that are read from a keeper at once, and altogether.
const PAGE: usize = 200;
const MOST_EVENTS: usize = 2_000;
/// Events of whole days that are named in the notes.
const NAMED: usize = 5;
/// Where a stretch may begin when it begins in the middle of something.
const STEP_MINUTES: i64 = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FreeSlotsArguments {
    /// How long it must be free at least: `30 min`, `2 hours`.
    #[serde(default = "half_an_hour")]
    #[schemars(length(min = 1, max = 100))]
    duration: String,
    /// From when: `tomorrow`, `next week`. A day, weekend or week without `until` means all of
    /// it. Now if not set.
    #[schemars(length(min = 1, max = 200))]
    from: Option<String>,
    /// Until when; a day counts whole. 7 days later if not set; 92 at the most.
    #[schemars(length(min = 1, max = 200))]
    until: Option<String>,
    /// Hours of each day to look at: `09:00-17:00`, `00:00-24:00` for all.
    #[serde(default = "office")]
    #[schemars(length(max = 11), regex(pattern = r"^\d\d?:\d\d-\d\d?:\d\d$"))]
    hours: String,
    /// Days of the week to look at.
    #[serde(default = "weekdays")]
    #[schemars(length(min = 1, max = 7))]
    days: Vec<WeekdayArgument>,
    /// Id or name of a calendar; all if not set.
    #[schemars(length(min = 1, max = 1024))]
    calendar: Option<String>,
    /// IANA time zone of times and hours; the user's if not set.
    #[schemars(length(min = 1, max = 64))]
    timezone: Option<String>,
    /// How many.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum WeekdayArgument {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

impl WeekdayArgument {
    fn of(weekday: Weekday) -> Self {
        match weekday {
            Weekday::Monday => Self::Mon,
            Weekday::Tuesday => Self::Tue,
            Weekday::Wednesday => Self::Wed,
            Weekday::Thursday => Self::Thu,
            Weekday::Friday => Self::Fri,
            Weekday::Saturday => Self::Sat,
            Weekday::Sunday => Self::Sun,
        }
    }
}

fn half_an_hour() -> String {
    "30 minutes".to_owned()
}

fn office() -> String {
    "09:00-17:00".to_owned()
}

fn weekdays() -> Vec<WeekdayArgument> {
    vec![
        WeekdayArgument::Mon,
        WeekdayArgument::Tue,
        WeekdayArgument::Wed,
        WeekdayArgument::Thu,
        WeekdayArgument::Fri,
    ]
}

fn ten() -> usize {
    10
}

#[derive(Serialize, JsonSchema)]
pub(super) struct FreeSlotView {
    /// For people: `Tue 24 Nov 2026 09:00 to 11:30`.
    when: String,
    /// ISO 8601 with offset.
    start: String,
    end: String,
    /// How long it is free.
    minutes: i64,
}

/// A stretch of time, the end not in it.
type TimeInterval = (Timestamp, Timestamp);

pub(super) async fn slots(
    here: CalendarCall,
    free: FreeSlotsArguments,
) -> Result<DataAnswer<Vec<FreeSlotView>>, ToolError> {
    let times = CallClock::new(&here.settings, free.timezone.as_deref())?;
    let around = DefaultTimeRange { before: 0, after: 7 };
    let asked = times.stretch(free.from.as_deref(), free.until.as_deref(), around)?;
    let length = length("duration", &free.duration)?;
    let hours = DayHours::read(&free.hours)?;
    let (from, until) = (times.at(asked.from), times.at(asked.until));
    if from.duration_until(&until).as_hours() > LONGEST * 24 + 1 {
        let message = format!("at most {LONGEST} days are looked at: ask for a shorter stretch");
        return Err(ToolError::told(message));
    }
    let query = EventQuery {
        calendar: calendar_id(&here, free.calendar.as_deref()).await?,
        from: asked.from,
        until: asked.until,
        text: None,
        limit: PAGE,
        cursor: None,
    };
    let mut notes = asked.notes;
    let (taken, known_until) = taken(&here, query, &times, &mut notes).await?;
    let until = until.min(times.at(known_until));
    let open = windows(&from, &until, &hours, &free.days);
    let mut found = without(&open, &taken);
    found.retain(|(start, end)| start.duration_until(*end) >= length);
    let more = found.len().saturating_sub(free.limit);
    if more > 0 {
        notes.push(format!("{more} more left out: ask from a later time, or with a higher limit"));
    }
    let data = found.into_iter().take(free.limit).map(|stretch| view(stretch, &times)).collect();
    Ok(DataAnswer { data, notes })
}

fn view((start, end): TimeInterval, times: &CallClock) -> FreeSlotView {
    let (start, end) = (times.at(start), times.at(end));
    FreeSlotView {
        start: iso(&start),
        end: iso(&end),
        minutes: start.duration_until(&end).as_mins(),
        when: times.say(&EventSlot::Timed { start, end }),
    }
}

/// From when to when a day counts; the end may be the midnight after.
struct DayHours {
    from: Time,
    /// `None`: to the end of the day.
    until: Option<Time>,
}

impl DayHours {
    fn read(text: &str) -> Result<Self, ToolError> {
        let wrong = || {
            let message = "`hours` must be like `09:00-17:00`, the end after the start and `24:00` \
                           at the latest";
            ToolError::told(message)
        };
        let clock = |text: &str| {
            let (hour, minute) = text.trim().split_once(':')?;
            Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
        };
        let (from, until) = text.split_once('-').ok_or_else(wrong)?;
        let from = clock(from).ok_or_else(wrong)?;
        if until.trim() == "24:00" {
            return Ok(Self { from, until: None });
        }
        let until = clock(until).filter(|until| *until > from).ok_or_else(wrong)?;
        Ok(Self { from, until: Some(until) })
    }

    /// The hours of a day as its zone has them: longer or shorter where clocks change.
    fn of(&self, day: Date, like: &Zoned) -> Option<TimeInterval> {
        let zone = like.time_zone();
        let start = zone.to_zoned(day.to_datetime(self.from)).ok()?;
        let end = match self.until {
            Some(until) => zone.to_zoned(day.to_datetime(until)).ok()?,
            None => day.tomorrow().ok()?.to_zoned(zone.clone()).ok()?,
        };
        (start < end).then(|| (start.timestamp(), end.timestamp()))
    }
}

/// The hours of the days of a stretch, joined where one day's go on in the next's.
fn windows(
    from: &Zoned,
    until: &Zoned,
    hours: &DayHours,
    days: &[WeekdayArgument],
) -> Vec<TimeInterval> {
    let mut open: Vec<TimeInterval> = Vec::new();
    let (first, last) = (rounded_up(from.timestamp()), rounded_down(until.timestamp()));
    let dates = from.date().series(jiff::Span::new().days(1));
    for day in dates.take_while(|day| *day <= until.date()) {
        if !days.contains(&WeekdayArgument::of(day.weekday())) {
            continue;
        }
        let Some((start, end)) = hours.of(day, from) else { continue };
        let (start, end) = (start.max(first), end.min(last));
        match open.last_mut() {
            Some((_, last)) if *last >= start => *last = end.max(*last),
            _ if start < end => open.push((start, end)),
            _ => {}
        }
    }
    open
}

/// The next moment of a five-minute clock.
fn rounded_up(moment: Timestamp) -> Timestamp {
    let step = STEP_MINUTES * 60;
    let seconds = moment.as_second() + i64::from(moment.subsec_nanosecond() > 0);
    let rounded = seconds.div_euclid(step) + i64::from(seconds.rem_euclid(step) > 0);
    Timestamp::from_second(rounded.saturating_mul(step)).unwrap_or(moment)
}

/// The last moment of a five-minute clock.
fn rounded_down(moment: Timestamp) -> Timestamp {
    let step = STEP_MINUTES * 60;
    let rounded = moment.as_second().div_euclid(step).saturating_mul(step);
    Timestamp::from_second(rounded).unwrap_or(moment)
}

/// What is left of some stretches without others; both sorted by their starts.
fn without(open: &[TimeInterval], taken: &[TimeInterval]) -> Vec<TimeInterval> {
    let mut left = Vec::new();
    for (start, end) in open {
        let mut at = *start;
        for (busy_from, busy_until) in
            taken.iter().filter(|(from, until)| until > start && from < end)
        {
            if *busy_from > at {
                left.push((at, *busy_from));
            }
            at = at.max(*busy_until);
        }
        if at < *end {
            left.push((at, *end));
        }
    }
    left
}

/// When the owner has no time, by start, and until when that is known.
async fn taken(
    here: &CalendarCall,
    mut query: EventQuery,
    times: &CallClock,
    notes: &mut Vec<String>,
) -> Result<(Vec<TimeInterval>, Timestamp), ToolError> {
    let (mut taken, mut read, mut whole_days) = (Vec::new(), 0, Vec::new());
    let mut known_until = query.until;
    loop {
        let page = here.keeper.events(&here.owner, query.clone()).await?;
        read += page.items.len();
        if query.cursor.is_none() {
            notes.extend(page.unread);
        }
        for event in page.items.iter().filter(|event| takes_time(event)) {
            let Some(stretch) = times.bounds(&event.slot) else { continue };
            if let EventSlot::Days { .. } = event.slot {
                whole_days.push(quoting::title(&event.title));
            }
            taken.push(stretch);
        }
        let Some(next) = page.next else { break };
        if read >= MOST_EVENTS {
            let last = page.items.last().and_then(|event| times.bounds(&event.slot));
            known_until = last.map_or(query.from, |(start, _)| start);
            notes.push(format!("only the first {read} events were looked at"));
            break;
        }
        query.cursor = Some(next);
    }
    if !whole_days.is_empty() {
        let named: Vec<_> = whole_days.iter().take(NAMED).map(String::as_str).collect();
        let more = whole_days.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!("taken by whole days: {}{more}", named.join(", ")));
    }
    taken.sort_unstable();
    Ok((taken, known_until))
}

fn takes_time(event: &CalendarEvent) -> bool {
    event.busy
        && event.status != EventStatus::Cancelled
        && event.reply != Some(InvitationReply::Declined)
}
