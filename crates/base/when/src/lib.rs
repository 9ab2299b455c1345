//! Everyday phrases of time as exact times, durations and recurrences.
//!
//! Read in this order: the clock that phrases are read against (`reference_time`), what they mean
//! (`reading`) with what is told beside it (`note`), or why they are refused (`error`), how they
//! are read (`phrase`, `iso`), how a time is said (`wording`), and rules of RFC 5545
//! (`recurrence`).
//!
//! What must stay true: nothing here asks a clock, a file or the environment, and the time zones
//! are those in the binary; what is not certain is told or refused and never guessed in silence; a
//! text is bounded in length, and what is made of it in work.

mod error;
mod iso;
mod names;
mod note;
mod phrase;
mod reading;
mod recurrence;
mod reference_time;
mod wording;

pub use error::{TimeParseError, TimeParseProblem};
pub use note::PhraseNote;
pub use phrase::{duration, read};
pub use reading::{PhraseReading, PhraseTime};
pub use recurrence::expand::{RecurrenceDates, RecurrenceMoments};
pub use recurrence::{Frequency, Recurrence, RecurrenceEnd, RecurrenceUntil, RecurrenceWeekday};
pub use reference_time::ReferenceTime;
pub use wording::say;
