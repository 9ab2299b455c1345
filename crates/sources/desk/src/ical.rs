//! iCalendar (RFC 5545): components and their properties, read within bounds and written.
//!
//! What is not understood is kept: a component that is read and written again has lost nothing but
//! the order of its lines' folds.
//!
//! Read in this order: [`IcalComponent`], [`IcalProperty`], `file` (files of others), then `time`
//! (dates, times and durations), `zone` (what a TZID means), `observance` and `tzif` (the zone that
//! a VTIMEZONE tells of) and `vtimezone` (what is written for one).

mod component;
mod content_line;
mod file;
mod observance;
mod time;
mod tzif;
mod vtimezone;
mod windows_zones;
mod zone;

pub use self::component::{IcalComponent, IcalReadError};
pub(crate) use self::file::Calendars;
pub(crate) use self::observance::iana_name;
pub(crate) use self::time::{DateOrTime, IcalDuration, date_text, utc_text};
pub(crate) use self::vtimezone::vtimezone;
pub(crate) use self::zone::{ObjectZones, is_place, is_zone, written};
pub use content_line::IcalProperty;
