//! When an event is: out of a start, an end or a length, and a repetition.

use jiff::civil::Date;
use jiff::{ToSpan, Zoned};
use toolcrib_core::ToolError;
use toolcrib_when::{PhraseTime, Recurrence, ReferenceTime};

use super::{CallClock, beyond, iso, notes, read, say_day, unreadable};
use crate::backend::EventSlot;

/// How long after it is asked a person may answer, for the question whether a phrase still means
/// the same then.
const PATIENCE_HOURS: i64 = 1;

/// What is said of the time of an event.
pub(crate) struct EventTimePhrases<'a> {
    pub(crate) start: Option<&'a str>,
    pub(crate) end: Option<&'a str>,
    pub(crate) duration: Option<&'a str>,
    pub(crate) repeat: Option<&'a str>,
}

impl EventTimePhrases<'_> {
    pub(crate) fn is_silent(&self) -> bool {
        let said = [self.start, self.end, self.duration, self.repeat];
        said.iter().all(Option::is_none)
    }

    fn has_end(&self) -> bool {
        self.end.is_some() || self.duration.is_some()
    }
}

/// The time of an event, and what has to be told about it.
pub(crate) struct ResolvedEventTime {
    pub(crate) slot: EventSlot,
    /// As RFC 5545 writes it.
    pub(crate) rule: Option<String>,
    pub(crate) notes: Vec<String>,
}

impl CallClock {
    /// The time of a new event.
    pub(crate) fn planned(
        &self,
        span: &EventTimePhrases<'_>,
    ) -> Result<ResolvedEventTime, ToolError> {
        let start = span.start.ok_or_else(|| ToolError::told("`start` is missing"))?;
        let reading = self.read("start", start)?;
        let notes = notes(&reading);
        self.assembled(reading.when, span, None, notes)
    }

    /// The time of an event that was at another.
    pub(crate) fn moved(
        &self,
        span: &EventTimePhrases<'_>,
        before: &EventSlot,
    ) -> Result<ResolvedEventTime, ToolError> {
        let Some(start) = span.start else {
            let when = match before {
                // The end that is said counts, not the one that was.
                EventSlot::Timed { start, .. } if span.has_end() => {
                    PhraseTime::Moment(start.clone())
                }
                EventSlot::Days { first, .. } if span.has_end() => PhraseTime::Day(*first),
                EventSlot::Timed { .. } | EventSlot::Days { .. } => self.when(before),
            };
            return self.assembled(when, span, Some(before), Vec::new());
        };
        let was = match before {
            EventSlot::Timed { start, .. } => self.here(start).date(),
            EventSlot::Days { first, .. } => *first,
        };
        let reading = if is_clock_alone(start) {
            read("start", start, &self.on(was)?)?
        } else {
            self.read("start", start)?
        };
        let notes = notes(&reading);
        self.assembled(reading.when, span, Some(before), notes)
    }

    fn assembled(
        &self,
        when: PhraseTime,
        span: &EventTimePhrases<'_>,
        before: Option<&EventSlot>,
        mut notes: Vec<String>,
    ) -> Result<ResolvedEventTime, ToolError> {
        let (first, mut rule) = match when {
            PhraseTime::Recurring { rule, .. } if span.repeat.is_some() => {
                let said = rule.words(&self.zone());
                let message = format!("`start` repeats ({said}) and so does `repeat`: say it once");
                return Err(ToolError::told(message));
            }
            PhraseTime::Recurring { first, rule } => (*first, Some(rule)),
            PhraseTime::Moment(_)
            | PhraseTime::Day(_)
            | PhraseTime::Days { .. }
            | PhraseTime::Stretch { .. } => (when, None),
        };
        let mut slot = self.slot(first, span, before, &mut notes)?;
        if let Some(repeat) = span.repeat {
            let said = self.repeat(repeat, &slot, &mut notes)?;
            slot = on_first(slot, &said, &mut notes)?;
            rule = Some(said);
        }
        Ok(ResolvedEventTime { slot, rule: rule.map(|rule| rule.to_string()), notes })
    }

    fn slot(
        &self,
        when: PhraseTime,
        span: &EventTimePhrases<'_>,
        before: Option<&EventSlot>,
        notes: &mut Vec<String>,
    ) -> Result<EventSlot, ToolError> {
        if span.end.is_some() && span.duration.is_some() {
            return Err(ToolError::told("`end` and `duration` say the same: give one of them"));
        }
        match when {
            PhraseTime::Moment(start) => self.timed(start, span, before, notes),
            PhraseTime::Day(first) => self.days(first, span, before, notes),
            PhraseTime::Days { .. } | PhraseTime::Stretch { .. } if span.has_end() => {
                let message = "`start` says already when it ends: leave out `end` and `duration`";
                Err(ToolError::told(message))
            }
            PhraseTime::Days { first, last } => Ok(EventSlot::Days { first, last }),
            PhraseTime::Stretch { start, end } => Ok(EventSlot::Timed { start, end }),
            PhraseTime::Recurring { first, .. } => self.slot(*first, span, before, notes),
        }
    }

    fn timed(
        &self,
        start: Zoned,
        span: &EventTimePhrases<'_>,
        before: Option<&EventSlot>,
        notes: &mut Vec<String>,
    ) -> Result<EventSlot, ToolError> {
        let end = match (span.end, span.duration, before) {
            (Some(text), _, _) => self.end(text, &start, notes)?,
            (None, Some(text), _) => {
                let length = toolcrib_when::duration(text)
                    .map_err(|unread| unreadable("duration", &unread))?;
                start.checked_add(length).map_err(beyond)?
            }
            (None, None, Some(EventSlot::Timed { start: from, end: to })) => {
                start.checked_add(from.duration_until(to)).map_err(beyond)?
            }
            (None, None, Some(EventSlot::Days { .. }) | None) => {
                notes.push("it lasts one hour, since no end was said".to_owned());
                start.checked_add(1.hour()).map_err(beyond)?
            }
        };
        Ok(EventSlot::Timed { start, end })
    }

    /// Where a timed event ends; a time alone is on the day of its start.
    fn end(&self, text: &str, start: &Zoned, notes: &mut Vec<String>) -> Result<Zoned, ToolError> {
        let frame = if is_clock_alone(text) {
            let now = start.start_of_day().map_err(beyond)?;
            ReferenceTime { now, ..self.frame.clone() }
        } else {
            self.frame.clone()
        };
        let reading = read("end", text, &frame)?;
        let end = match &reading.when {
            PhraseTime::Moment(end) => end.clone(),
            PhraseTime::Day(_)
            | PhraseTime::Days { .. }
            | PhraseTime::Stretch { .. }
            | PhraseTime::Recurring { .. } => {
                let message = "`start` has a time of day, so `end` must have one: say it like \
                               `Friday 3pm`, or give a `duration`";
                return Err(ToolError::told(message));
            }
        };
        if end <= *start {
            let (end, start) = (self.say_moment(&end), self.say_moment(start));
            let message = format!(
                "the end ({end}) is not after the start ({start}): say its day too, or a `duration`"
            );
            return Err(ToolError::told(message));
        }
        notes.extend(super::notes(&reading));
        Ok(end)
    }

    fn days(
        &self,
        first: Date,
        span: &EventTimePhrases<'_>,
        before: Option<&EventSlot>,
        notes: &mut Vec<String>,
    ) -> Result<EventSlot, ToolError> {
        let last = match (span.end, span.duration, before) {
            (Some(text), _, _) => {
                let reading = self.read("end", text)?;
                let (PhraseTime::Day(last) | PhraseTime::Days { last, .. }) = reading.when else {
                    let message = "`start` is a whole day, so `end` must be one: say at what time \
                                   it starts, or its last day";
                    return Err(ToolError::told(message));
                };
                notes.extend(super::notes(&reading));
                last
            }
            (None, Some(text), _) => last_day(first, text)?,
            (None, None, Some(EventSlot::Days { first: from, last: to })) => {
                first.checked_add(from.until(*to).map_err(beyond)?).map_err(beyond)?
            }
            (None, None, Some(EventSlot::Timed { .. }) | None) => first,
        };
        if last < first {
            let (last, first) = (say_day(last), say_day(first));
            return Err(ToolError::told(format!(
                "the last day ({last}) is before the first ({first}): give a later one"
            )));
        }
        Ok(EventSlot::Days { first, last })
    }

    /// How something repeats that is first at a slot.
    fn repeat(
        &self,
        text: &str,
        slot: &EventSlot,
        notes: &mut Vec<String>,
    ) -> Result<Recurrence, ToolError> {
        if text.to_ascii_uppercase().contains("FREQ=") {
            return text.parse().map_err(|unread| unreadable("repeat", &unread));
        }
        let (day, clock) = match slot {
            EventSlot::Timed { start, .. } => {
                let start = self.here(start);
                (start.date(), Some(start.time()))
            }
            EventSlot::Days { first, .. } => (*first, None),
        };
        let reading = read("repeat", text, &self.on(day)?)?;
        notes.extend(super::notes(&reading));
        let PhraseTime::Recurring { first, rule } = reading.when else {
            let message = "`repeat` does not repeat: say it like `every Monday`, `monthly on the \
                           15th` or `FREQ=WEEKLY;BYDAY=MO`";
            return Err(ToolError::told(message));
        };
        let moment = match *first {
            PhraseTime::Moment(moment) | PhraseTime::Stretch { start: moment, .. } => moment,
            // Whole weekends are of whole days: anything shorter is on both of their days.
            PhraseTime::Days { first, last } if !has_days(slot) => {
                return Ok(rule.on_each_day(first, last));
            }
            PhraseTime::Day(_) | PhraseTime::Days { .. } | PhraseTime::Recurring { .. } => {
                return Ok(rule);
            }
        };
        if clock == Some(moment.time()) {
            return Ok(rule);
        }
        let message = "`repeat` and `start` have different times of day: say it in `start` alone";
        Err(ToolError::told(message))
    }

    /// Refuses what means another time by when a person has answered.
    pub(crate) fn steady<T>(
        &self,
        read: impl Fn(&Self) -> Result<T, ToolError>,
        slot: impl Fn(&T) -> Option<&EventSlot>,
    ) -> Result<T, ToolError> {
        let now = read(self)?;
        let exact = self.exact.checked_add(PATIENCE_HOURS.hours())?;
        let later = read(&Self::starting(exact, self.zone(), self.home.clone())).ok();
        match slot(&now) {
            Some(meant) if later.as_ref().and_then(&slot) != Some(meant) => {
                let exact = match meant {
                    EventSlot::Timed { start, .. } => iso(&self.here(start)),
                    EventSlot::Days { first, .. } => first.to_string(),
                };
                Err(ToolError::told(format!(
                    "`start` would mean another time when the user has answered: write it as \
                     `{exact}`"
                )))
            }
            _ => Ok(now),
        }
    }
}

/// The slot on the first day on or after its own that a rule takes.
fn on_first(
    slot: EventSlot,
    rule: &Recurrence,
    notes: &mut Vec<String>,
) -> Result<EventSlot, ToolError> {
    let day = day_of(&slot);
    let first = rule.dates(day).next().ok_or_else(|| {
        ToolError::told("it would never repeat: say another `repeat`, or a start before its end")
    })?;
    if first == day {
        return Ok(slot);
    }
    notes.push(format!("the first one is on {}", say_day(first)));
    let later = day.until(first)?;
    Ok(match slot {
        EventSlot::Timed { start, end } => EventSlot::Timed {
            start: start.checked_add(later).map_err(beyond)?,
            end: end.checked_add(later).map_err(beyond)?,
        },
        EventSlot::Days { first, last } => EventSlot::Days {
            first: first.checked_add(later).map_err(beyond)?,
            last: last.checked_add(later).map_err(beyond)?,
        },
    })
}

/// Whether a slot is several whole days.
fn has_days(slot: &EventSlot) -> bool {
    matches!(slot, EventSlot::Days { first, last } if first < last)
}

/// The day on which a slot begins.
fn day_of(slot: &EventSlot) -> Date {
    match slot {
        EventSlot::Timed { start, .. } => start.date(),
        EventSlot::Days { first, .. } => *first,
    }
}

/// The last of some whole days.
fn last_day(first: Date, text: &str) -> Result<Date, ToolError> {
    let length = toolcrib_when::duration(text).map_err(|unread| unreadable("duration", &unread))?;
    let after = first.checked_add(length).map_err(beyond)?;
    let has_hours = length.get_hours() != 0
        || [length.get_minutes(), length.get_seconds(), length.get_milliseconds()]
            .iter()
            .any(|part| *part != 0);
    if after <= first || has_hours {
        let message = "`start` is a whole day, so `duration` must be whole days: say at what time \
                       it starts, or `2 days`";
        return Err(ToolError::told(message));
    }
    after.yesterday().map_err(beyond)
}

/// Whether a phrase is a time of day and says nothing of a day: `4pm`, `at 16:30`, `noon`.
fn is_clock_alone(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    let text = text.strip_prefix("at ").unwrap_or(&text).trim();
    if matches!(text, "noon" | "midday" | "midnight") {
        return true;
    }
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let rest = text.get(digits..).unwrap_or_default().trim_end_matches("o'clock");
    let has_half = rest.contains('m');
    let is_clock = |c: char| c.is_ascii_digit() || matches!(c, ':' | ' ' | 'a' | 'p' | 'm' | 'h');
    (1..=2).contains(&digits) && rest.chars().all(|c| is_clock(c) || (has_half && c == '.'))
}
