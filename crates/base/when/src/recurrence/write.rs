//! A rule as text, in one form alone: sorted lists, fixed order, nothing that goes without saying.

use std::fmt::{self, Display, Formatter};

use jiff::civil::Weekday;
use jiff::tz::TimeZone;

use super::parse::WEEKDAYS;
use super::{Frequency, Recurrence, RecurrenceEnd, RecurrenceUntil, RecurrenceWeekday};

impl Display for Recurrence {
    /// The value of an `RRULE`, without that name.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let frequency = match self.frequency {
            Frequency::Daily => "DAILY",
            Frequency::Weekly => "WEEKLY",
            Frequency::Monthly => "MONTHLY",
            Frequency::Yearly => "YEARLY",
        };
        write!(out, "FREQ={frequency}")?;
        if self.interval != 1 {
            write!(out, ";INTERVAL={}", self.interval)?;
        }
        match self.end {
            RecurrenceEnd::Never => {}
            RecurrenceEnd::Count(count) => write!(out, ";COUNT={count}")?,
            RecurrenceEnd::Until(RecurrenceUntil::Day(day)) => {
                write!(out, ";UNTIL={}", day.strftime("%Y%m%d"))?;
            }
            RecurrenceEnd::Until(RecurrenceUntil::Local(time)) => {
                write!(out, ";UNTIL={}", time.strftime("%Y%m%dT%H%M%S"))?;
            }
            RecurrenceEnd::Until(RecurrenceUntil::Instant(instant)) => {
                let time = TimeZone::UTC.to_datetime(instant);
                write!(out, ";UNTIL={}", time.strftime("%Y%m%dT%H%M%SZ"))?;
            }
        }
        list(out, "BYMONTH", &self.months)?;
        list(out, "BYWEEKNO", &self.weeks)?;
        list(out, "BYYEARDAY", &self.year_days)?;
        list(out, "BYMONTHDAY", &self.month_days)?;
        list(out, "BYDAY", &self.days)?;
        list(out, "BYSETPOS", &self.positions)?;
        if self.week_starts != Weekday::Monday {
            write!(out, ";WKST={}", name(self.week_starts))?;
        }
        Ok(())
    }
}

impl Display for RecurrenceWeekday {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.nth != 0 {
            write!(out, "{}", self.nth)?;
        }
        out.write_str(name(self.weekday))
    }
}

fn list<T: Display>(out: &mut Formatter<'_>, name: &str, items: &[T]) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index == 0 {
            write!(out, ";{name}={item}")?;
        } else {
            write!(out, ",{item}")?;
        }
    }
    Ok(())
}

fn name(weekday: Weekday) -> &'static str {
    WEEKDAYS.iter().find(|(_, known)| *known == weekday).map_or("MO", |(name, _)| name)
}
