//! What a phrase means: a time of one of five shapes, and what had to be told about it.

use jiff::Zoned;
use jiff::civil::Date;

use crate::{PhraseNote, Recurrence, ReferenceTime};

/// A phrase that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhraseReading {
    /// The time.
    pub when: PhraseTime,
    /// What was decided about it and may have been meant otherwise, in the order of the text.
    pub notes: Vec<PhraseNote>,
}

/// A time, as exact as it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhraseTime {
    /// One point of time.
    Moment(Zoned),
    /// A whole day, which has no zone.
    Day(Date),
    /// Whole days, the last of which belongs to them; it is after the first.
    Days {
        /// The first day.
        first: Date,
        /// The last day.
        last: Date,
    },
    /// From one moment to a later one.
    Stretch {
        /// Where it starts.
        start: Zoned,
        /// Where it ends.
        end: Zoned,
    },
    /// Something that comes again.
    Recurring {
        /// The first time, which is a moment, a day, days or a stretch.
        first: Box<PhraseTime>,
        /// How it comes again.
        rule: Recurrence,
    },
}

impl PhraseReading {
    /// Whether all of it lies before the frame's now; see [`PhraseTime::is_past`].
    pub fn is_past(&self, frame: &ReferenceTime) -> bool {
        self.when.is_past(frame)
    }
}

impl PhraseTime {
    /// Whether all of it lies before the frame's now: a warning for whoever makes something new.
    ///
    /// Today is not past, nor is a stretch that has begun, nor a recurrence that comes again.
    pub fn is_past(&self, frame: &ReferenceTime) -> bool {
        match self {
            Self::Moment(moment) => *moment < frame.now,
            Self::Day(day) => *day < frame.today(),
            Self::Days { last, .. } => *last < frame.today(),
            Self::Stretch { end, .. } => *end <= frame.now,
            Self::Recurring { first, rule } => match &**first {
                Self::Moment(start) | Self::Stretch { start, .. } => {
                    let ends = Zoned::new(jiff::Timestamp::MAX, start.time_zone().clone());
                    rule.moments_between(start, &frame.now, &ends).next().is_none()
                }
                Self::Day(day) | Self::Days { first: day, .. } => {
                    rule.dates_between(*day, frame.today(), Date::MAX).next().is_none()
                }
                Self::Recurring { .. } => first.is_past(frame),
            },
        }
    }

    /// From where to where it goes, the end not belonging to it: whole days as the frame's zone
    /// has them, the first time of a recurrence, and a moment as an empty stretch.
    ///
    /// `None` at the end of the calendar, where a day has no next one.
    pub fn bounds(&self, frame: &ReferenceTime) -> Option<(Zoned, Zoned)> {
        let start_of = |day: Date| day.to_zoned(frame.now.time_zone().clone()).ok();
        match self {
            Self::Moment(moment) => Some((moment.clone(), moment.clone())),
            Self::Day(day) => Some((start_of(*day)?, start_of(day.tomorrow().ok()?)?)),
            Self::Days { first, last } => {
                Some((start_of(*first)?, start_of(last.tomorrow().ok()?)?))
            }
            Self::Stretch { start, end } => Some((start.clone(), end.clone())),
            Self::Recurring { first, .. } => first.bounds(frame),
        }
    }
}
