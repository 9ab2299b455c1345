//! Stretches that are looked at, and days by which something is due.

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan, Zoned};
use toolcrib_core::ToolError;
use toolcrib_when::{PhraseReading, PhraseTime};

use super::{CallClock, beyond, notes, say_day};
use crate::backend::TaskDue;

/// Where one looks if nothing is said, in days.
#[derive(Clone, Copy)]
pub(crate) struct DefaultTimeRange {
    /// Before today. If there are such, the others are counted from now and else from the start.
    pub(crate) before: i64,
    pub(crate) after: i64,
}

/// What is looked at.
pub(crate) struct TimeRange {
    pub(crate) from: Timestamp,
    pub(crate) until: Timestamp,
    pub(crate) notes: Vec<String>,
}

impl CallClock {
    /// From where to where is looked.
    pub(crate) fn stretch(
        &self,
        from: Option<&str>,
        until: Option<&str>,
        around: DefaultTimeRange,
    ) -> Result<TimeRange, ToolError> {
        let now = self.now();
        let mut said = Vec::new();
        let (start, whole) = match from {
            Some(text) => {
                let reading = self.read("from", text)?;
                let (start, end) = self.reach("from", &reading)?;
                said.extend(notes(&reading));
                (start.clone(), Some(end).filter(|end| *end > start))
            }
            None if around.before > 0 => {
                (now.checked_sub(around.before.days())?.start_of_day()?, None)
            }
            None => (now.clone(), None),
        };
        let end = match (until, whole) {
            (Some(text), _) => {
                let reading = self.read("until", text)?;
                let (_, end) = self.reach("until", &reading)?;
                said.extend(notes(&reading));
                end
            }
            (None, Some(end)) => end,
            (None, None) if around.before > 0 => {
                start.clone().max(now).checked_add(around.after.days()).map_err(beyond)?
            }
            (None, None) => start.checked_add(around.after.days()).map_err(beyond)?,
        };
        if end <= start {
            let (start, end) = (self.say_moment(&start), self.say_moment(&end));
            return Err(ToolError::told(format!(
                "`until` ({end}) is not after `from` ({start}): give a later day, as a date"
            )));
        }
        Ok(TimeRange { from: start.timestamp(), until: end.timestamp(), notes: said })
    }

    /// From when on something counts.
    pub(crate) fn from(
        &self,
        field: &str,
        text: &str,
    ) -> Result<(Timestamp, Vec<String>), ToolError> {
        let reading = self.read(field, text)?;
        let (start, _) = self.reach(field, &reading)?;
        Ok((start.timestamp(), notes(&reading)))
    }

    /// The day of a phrase, and the last one of several.
    pub(crate) fn day(&self, field: &str, text: &str) -> Result<(Date, Vec<String>), ToolError> {
        let reading = self.read(field, text)?;
        let day = match &reading.when {
            PhraseTime::Moment(moment) => self.here(moment).date(),
            PhraseTime::Day(day) => *day,
            PhraseTime::Days { last, .. } => *last,
            PhraseTime::Stretch { end, .. } => self.here(end).date(),
            PhraseTime::Recurring { .. } => return Err(repeats(field)),
        };
        Ok((day, notes(&reading)))
    }

    /// When a task is due, with a warning if that has passed.
    pub(crate) fn due(&self, text: &str) -> Result<(TaskDue, Vec<String>), ToolError> {
        let reading = self.read("due", text)?;
        let due = match &reading.when {
            PhraseTime::Moment(moment) | PhraseTime::Stretch { end: moment, .. } => {
                TaskDue::At(moment.clone())
            }
            PhraseTime::Day(day) | PhraseTime::Days { last: day, .. } => TaskDue::Day(*day),
            PhraseTime::Recurring { .. } => return Err(repeats("due")),
        };
        let mut said = notes(&reading);
        if let PhraseTime::Days { last, .. } = &reading.when {
            said.push(format!("it is due on the last of these days, {}", say_day(*last)));
        }
        if reading.is_past(&self.frame) {
            said.push(format!("{} is in the past", self.say_due(&due)));
        }
        Ok((due, said))
    }

    /// From where to where a phrase reaches; a moment reaches nowhere.
    fn reach(&self, field: &str, reading: &PhraseReading) -> Result<(Zoned, Zoned), ToolError> {
        if let PhraseTime::Recurring { .. } = reading.when {
            return Err(repeats(field));
        }
        let bounds = reading.when.bounds(&self.frame);
        bounds.ok_or_else(|| ToolError::told(format!("`{field}` is beyond the calendar")))
    }
}

fn repeats(field: &str) -> ToolError {
    let message = format!("`{field}` cannot repeat: give one day or time, such as `next Monday`");
    ToolError::told(message)
}
