//! iCalendar (RFC 5545): components and their properties, read within bounds and written.
//!
//! What is not understood is kept: a component that is read and written again has lost nothing but
//! the order of its lines' folds.
//!
//! Read in this order: [`Component`], [`Property`], then `time` (dates, times and durations),
//! `zone` (what a TZID means) and `vtimezone` (what is written for one).

mod component;
mod line;
mod time;
mod vtimezone;
mod windows;
mod zone;

pub use self::component::{Component, NotRead};
pub use self::line::Property;
pub(crate) use self::time::{Length, Moment, date_text, utc_text};
pub(crate) use self::vtimezone::vtimezone;
pub(crate) use self::zone::{Zones, written};
