//! Times: now, in another zone, and between two of them.

use std::sync::LazyLock;

use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Unit, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcrib_core::ToolError;

use crate::tool::{BasicToolInfo, BasicToolsResult, basic};

pub(crate) fn tools() -> BasicToolsResult {
    let now = BasicToolInfo {
        name: "time_now",
        category: "time",
        action: "read",
        summary: "Tells the current date and time in a time zone.",
        description: "Tells the current date, time and weekday in a time zone. Use it whenever an \
                      answer depends on today or now: you cannot know the time yourself.",
        steady: false,
    };
    let convert = BasicToolInfo {
        name: "time_convert",
        category: "time",
        action: "convert",
        summary: "Converts a time from one time zone to another.",
        description: "Tells what a given time is in another time zone, summer time included. Use \
                      it for meetings, flights and deadlines across zones instead of adding hours.",
        steady: true,
    };
    let between = BasicToolInfo {
        name: "time_between",
        category: "time",
        action: "compare",
        summary: "Tells how much time lies between two times.",
        description: "Tells how much time lies from `start` to `end`, in seconds and as years, \
                      months, days and so on; negative if `end` is earlier. Use it for ages, \
                      durations and countdowns instead of counting days.",
        steady: true,
    };
    Ok(vec![basic(&now, time_now)?, basic(&convert, time_convert)?, basic(&between, time_between)?])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TimeNowArguments {
    /// IANA name of the time zone, such as `Europe/Zurich`.
    #[serde(default = "utc")]
    #[schemars(length(min = 1, max = 64))]
    zone: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TimeConvertArguments {
    /// ISO 8601: `2026-03-01T09:30` in the zone `from`, or with its offset as in
    /// `2026-03-01T09:30:00Z`.
    #[schemars(length(min = 1, max = 64))]
    time: String,
    /// IANA name of the zone of a time without offset.
    #[serde(default = "utc")]
    #[schemars(length(min = 1, max = 64))]
    from: String,
    /// IANA name of the zone to convert to, such as `Asia/Tokyo`.
    #[schemars(length(min = 1, max = 64))]
    to: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TimeBetweenArguments {
    /// ISO 8601: a date, a local time as in `2026-03-01T09:30`, or one with its offset.
    #[schemars(length(min = 1, max = 64))]
    start: String,
    /// In the same forms as `start`.
    #[schemars(length(min = 1, max = 64))]
    end: String,
    /// IANA name of the zone of times without offset, and of the calendar to count in.
    #[serde(default = "utc")]
    #[schemars(length(min = 1, max = 64))]
    zone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// A moment as people in a zone see it.
#[derive(Serialize, JsonSchema)]
struct ZonedTime {
    /// ISO 8601 with the zone's offset.
    time: String,
    zone: String,
    weekday: String,
    /// Whole seconds since 1970-01-01T00:00:00Z.
    unix: i64,
}

#[derive(Serialize, JsonSchema)]
struct TimeBetweenResult {
    /// Whole seconds; a fraction is left out.
    seconds: i64,
    /// As an ISO 8601 duration, in calendar units of the zone.
    duration: String,
    /// The same in short words: y, mo, d, h, m, s.
    words: String,
}

fn time_now(TimeNowArguments { zone }: TimeNowArguments) -> Result<ZonedTime, ToolError> {
    let zone = zone_named(&zone)?;
    // Nobody asks for the fraction of the second, and it would cost tokens.
    let now = Timestamp::from_second(Timestamp::now().as_second())?;
    Ok(moment(&now.to_zoned(zone)))
}

fn time_convert(
    TimeConvertArguments { time, from, to }: TimeConvertArguments,
) -> Result<ZonedTime, ToolError> {
    let time = read("time", &time, &zone_named(&from)?)?;
    Ok(moment(&time.with_time_zone(zone_named(&to)?)))
}

fn time_between(
    TimeBetweenArguments { start, end, zone }: TimeBetweenArguments,
) -> Result<TimeBetweenResult, ToolError> {
    let zone = zone_named(&zone)?;
    let start = read("start", &start, &zone)?;
    let end = read("end", &end, &zone)?;
    let span = start.until((Unit::Year, &end))?;
    Ok(TimeBetweenResult {
        seconds: start.duration_until(&end).as_secs(),
        duration: span.to_string(),
        words: format!("{span:#}"),
    })
}

fn moment(time: &Zoned) -> ZonedTime {
    let printer = DateTimePrinter::new();
    ZonedTime {
        time: printer.timestamp_with_offset_to_string(&time.timestamp(), time.offset()),
        zone: time.time_zone().iana_name().unwrap_or_default().to_owned(),
        weekday: time.strftime("%A").to_string(),
        unix: time.timestamp().as_second(),
    }
}

/// The zones compiled in: the same on every machine, and the system's are not looked at.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

fn zone_named(name: &str) -> Result<TimeZone, ToolError> {
    ZONES.get(name).map_err(|error| {
        let message = format!(
            "`{name}` is no known time zone: write an IANA name such as `Europe/Zurich`, or `UTC`"
        );
        ToolError::told(message).because(error)
    })
}

/// Reads a time; one without an offset is a local time of the zone and must be clear there.
fn read(field: &str, text: &str, zone: &TimeZone) -> Result<Zoned, ToolError> {
    if text.contains('[') {
        let message = format!("`{field}` must not hold a zone in brackets: name it in its field");
        return Err(ToolError::told(message));
    }
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Ok(timestamp.to_zoned(zone.clone()));
    }
    let unreadable = |error: jiff::Error| {
        let message = format!(
            "`{field}` is no time that can be read: write `2026-03-01`, `2026-03-01T09:30` or \
             `2026-03-01T09:30:00+01:00`"
        );
        ToolError::told(message).because(error)
    };
    let local: DateTime = text.parse().map_err(unreadable)?;
    let ambiguous = zone.to_ambiguous_zoned(local);
    let name = zone.iana_name().unwrap_or_default();
    match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { .. } => {
            // The last hours of the year 9999 are no moment that can be told everywhere.
            ambiguous.unambiguous().map_err(unreadable)
        }
        AmbiguousOffset::Gap { .. } => Err(ToolError::told(format!(
            "`{field}`: {local} does not exist in {name}, where the clocks skip it: give a later \
             time"
        ))),
        AmbiguousOffset::Fold { before, after } => Err(ToolError::told(format!(
            "`{field}`: {local} happens twice in {name}: add the offset, {before} or {after}"
        ))),
    }
}
