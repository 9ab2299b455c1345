//! What is told beside a time: each thing that was decided, with how to say the other.

use std::fmt::{self, Display, Formatter};

use jiff::Zoned;
use jiff::civil::{Date, DateTime, Time};

use crate::wording::{clock_words, day_words, zone_words};

/// Something about a reading that was not guessed in silence; its text is a sentence without a
/// period.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PhraseNote {
    /// The clocks go forward over the time that was said.
    Gap {
        /// What the clock never shows.
        local: DateTime,
        /// The moment that was taken: as late after midnight as was said.
        taken: Zoned,
    },
    /// The clocks go back, so that the time that was said comes twice.
    Fold {
        /// The first of the two, which was taken.
        taken: Zoned,
        /// The second.
        other: Zoned,
    },
    /// A time of day that was said without all that it takes.
    Clock {
        /// The words.
        said: String,
        /// The time that was taken.
        taken: Time,
        /// What it may have been meant as.
        other: Option<Time>,
    },
    /// A day that may have been meant otherwise.
    Taken {
        /// The words.
        said: String,
        /// The day that was taken.
        taken: Date,
        /// Another that the words may mean.
        other: Option<Date>,
    },
    /// What was said has passed, and the next one was taken.
    RolledOver {
        /// The words.
        said: String,
        /// The day that was taken.
        taken: Date,
    },
    /// Midnight belongs to two days.
    Midnight {
        /// The day that ends with it.
        ends: Date,
    },
    /// The small hours of a night are on the day after the one on which it begins.
    NightAfter {
        /// The words of the time of day.
        said: String,
        /// The day on which the night begins.
        night: Date,
        /// The day that was taken.
        taken: Date,
    },
    /// The end is on the day after the start.
    Overnight {
        /// The day of the end.
        end: Date,
    },
    /// A word that makes a time less exact was left out.
    Approximate {
        /// The words.
        said: String,
    },
    /// A time with an offset was put on the clock of the frame.
    Converted {
        /// The words.
        said: String,
        /// The same moment.
        taken: Zoned,
    },
    /// In the zone that was named it is another day than where the words were said.
    OtherDay {
        /// The zone.
        zone: String,
        /// The day there.
        there: Date,
        /// The day here, which was taken.
        here: Date,
    },
    /// Not every month or year has the day of a recurrence.
    Skips {
        /// The day, such as `the 31st`.
        said: String,
    },
}

impl Display for PhraseNote {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap { local, taken } => {
                let (clock, day) = (clock_words(local.time()), day_words(local.date()));
                let (zone, taken) = (zone_words(taken), clock_words(taken.time()));
                write!(out, "the clock never shows {clock} on {day} in {zone}: {taken} was taken")
            }
            Self::Fold { taken, other } => write!(
                out,
                "{} comes twice on {} in {}: the first ({}) was taken, say `{}` for the second",
                clock_words(taken.time()),
                day_words(taken.date()),
                zone_words(taken),
                taken.offset(),
                other.strftime("%Y-%m-%dT%H:%M:%S%:z"),
            ),
            Self::Clock { said, taken, other } => {
                write!(out, "`{said}` was taken as {}", clock_words(*taken))?;
                other.map_or(Ok(()), |other| {
                    write!(out, ", say `{}` if that was meant", clock_words(other))
                })
            }
            Self::Taken { said, taken, other } => {
                write!(out, "`{said}` was taken as {}", day_words(*taken))?;
                other.map_or(Ok(()), |other| write!(out, " and not as {}", day_words(other)))
            }
            Self::RolledOver { said, taken } => {
                write!(out, "`{said}` has passed: {} was taken", day_words(*taken))
            }
            Self::Midnight { ends } => {
                write!(out, "midnight was taken as the end of {}", day_words(*ends))
            }
            Self::NightAfter { said, night, taken } => {
                let (night, taken) = (day_words(*night), day_words(*taken));
                write!(out, "`{said}` of the night that begins on {night} is on {taken}")
            }
            Self::Overnight { end } => {
                write!(out, "the end is on the next day, {}", day_words(*end))
            }
            Self::Approximate { said } => {
                write!(out, "`{said}` was left out, the time is exact")
            }
            Self::Converted { said, taken } => write!(
                out,
                "`{said}` is {} {} in {}",
                day_words(taken.date()),
                clock_words(taken.time()),
                zone_words(taken),
            ),
            Self::OtherDay { zone, there, here } => write!(
                out,
                "the day was taken as here, {}, though in {zone} it is {} now",
                day_words(*here),
                day_words(*there),
            ),
            Self::Skips { said } => write!(out, "where there is no {said}, it is left out"),
        }
    }
}
