//! From where a phrase is read: the time it is said at, in the zone of whoever says it.

use jiff::Zoned;
use jiff::civil::{Date, Weekday};

/// The fixed clock against which phrases are read; nothing here asks another.
#[derive(Debug, Clone)]
pub struct ReferenceTime {
    /// The time it is now, in the zone in which phrases without one are meant.
    pub now: Zoned,
    /// The first day of a week, for `this week` and rules of weeks.
    pub week_starts: Weekday,
}

impl ReferenceTime {
    /// A frame with weeks from Monday.
    pub fn new(now: Zoned) -> Self {
        Self { now, week_starts: Weekday::Monday }
    }

    pub(crate) fn today(&self) -> Date {
        self.now.date()
    }
}
