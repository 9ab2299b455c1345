//! Periods against a clock: which days a week, weekend, month, quarter or year has.

use jiff::Span;
use jiff::civil::{Date, ISOWeekDate, Weekday};

use super::day::Days;
use crate::Note;
use crate::error::{Problem, TIMES, Unread};
use crate::phrase::syntax::{Period, Which};

/// The calendar ends before what was said.
pub(crate) fn beyond(said: &str) -> Unread {
    Unread::new(Problem::OutOfRange, said, "is beyond the calendar", TIMES)
}

/// The date so many days later.
pub(crate) fn plus_days(date: Date, days: i64, said: &str) -> Result<Date, Unread> {
    let span = Span::new().try_days(days).map_err(|_| beyond(said))?;
    date.checked_add(span).map_err(|_| beyond(said))
}

/// The first of the month so many months later.
pub(crate) fn plus_months(date: Date, months: i64, said: &str) -> Result<Date, Unread> {
    let span = Span::new().try_months(months).map_err(|_| beyond(said))?;
    date.first_of_month().checked_add(span).map_err(|_| beyond(said))
}

impl Days<'_> {
    /// The first and last day of a period, with notes where it may be another.
    pub(crate) fn period(&mut self, period: &Period, said: &str) -> Result<(Date, Date), Unread> {
        let today = self.today;
        match period {
            Period::Week(weeks) => self.week(plus_days(today, weeks * 7, said)?, said),
            Period::WeekOf(of) => {
                let (first, _) = self.days(of, None)?;
                self.week(first, said)
            }
            Period::WeekNumber(week, year) => self.week_number(*week, *year, said),
            Period::Weekend(which) => self.weekend(*which, said),
            Period::Month(months) => {
                let first = plus_months(today, *months, said)?;
                Ok((first, first.last_of_month()))
            }
            Period::NamedMonth(which, month, year) => self.month(*which, *month, *year, said),
            Period::Quarter(quarters) => {
                let since = i64::from((today.month() - 1) % 3);
                let first = plus_months(today, quarters * 3 - since, said)?;
                Ok((first, plus_months(first, 2, said)?.last_of_month()))
            }
            Period::QuarterNumber(number, year) => {
                let quarter = |year: i16| -> Result<(Date, Date), Unread> {
                    let first = Date::new(year, number * 3 - 2, 1).map_err(|_| beyond(said))?;
                    Ok((first, plus_months(first, 2, said)?.last_of_month()))
                };
                self.of_year(*year, said, quarter)
            }
            Period::Year(years) => {
                let year = i64::from(today.year()) + years;
                let year = i16::try_from(year).map_err(|_| beyond(said))?;
                whole_year(year, said)
            }
            Period::YearNumber(year) => whole_year(*year, said),
        }
    }

    /// The week that has a day, as weeks start here.
    pub(crate) fn week(&self, day: Date, said: &str) -> Result<(Date, Date), Unread> {
        let since = i64::from(day.weekday().since(self.frame.week_starts));
        let first = plus_days(day, -since, said)?;
        Ok((first, plus_days(first, 6, said)?))
    }

    fn week_number(
        &mut self,
        week: i8,
        year: Option<i16>,
        said: &str,
    ) -> Result<(Date, Date), Unread> {
        let of = |year: i16| -> Result<(Date, Date), Unread> {
            let first = ISOWeekDate::new(year, week, Weekday::Monday).map_err(|_| {
                let why = format!("is no week of {year}");
                Unread::new(Problem::Impossible, said, &why, TIMES)
            })?;
            Ok((first.date(), plus_days(first.date(), 6, said)?))
        };
        self.of_year(year, said, of)
    }

    /// What was said of a year, or of the year in which it is still to come.
    fn of_year(
        &mut self,
        year: Option<i16>,
        said: &str,
        of: impl Fn(i16) -> Result<(Date, Date), Unread>,
    ) -> Result<(Date, Date), Unread> {
        if let Some(year) = year {
            return of(year);
        }
        let this = of(self.today.year());
        match this {
            Ok((_, last)) if last < self.today => {
                let next = of(self.today.year() + 1)?;
                self.notes.push(Note::RolledOver { said: said.to_owned(), taken: next.0 });
                Ok(next)
            }
            other => other,
        }
    }

    /// Saturday and Sunday; one that has begun is this one.
    fn weekend(&mut self, which: Which, said: &str) -> Result<(Date, Date), Unread> {
        let today = self.today;
        let since = i64::from(today.weekday().since(Weekday::Saturday));
        // Saturday and Sunday are of this weekend, other days lead to the next.
        let this = plus_days(today, if since <= 1 { -since } else { 7 - since }, said)?;
        let monday = plus_days(today, -i64::from(today.weekday().since(Weekday::Monday)), said)?;
        let (first, other) = match which {
            Which::Plain | Which::This | Which::Coming => (this, None),
            Which::Next => (plus_days(monday, 12, said)?, Some(this)),
            Which::Last | Which::Past => (plus_days(monday, -2, said)?, None),
        };
        if let Some(other) = other {
            let said = said.to_owned();
            self.notes.push(Note::Taken { said, taken: first, other: Some(other) });
        }
        Ok((first, plus_days(first, 1, said)?))
    }

    fn month(
        &mut self,
        which: Which,
        month: i8,
        year: Option<i16>,
        said: &str,
    ) -> Result<(Date, Date), Unread> {
        let today = self.today;
        let of = |year: i16| -> Result<(Date, Date), Unread> {
            let first = Date::new(year, month, 1).map_err(|_| beyond(said))?;
            Ok((first, first.last_of_month()))
        };
        let year_of = match which {
            Which::Plain => return self.of_year(year, said, of),
            Which::This => return of(today.year()),
            Which::Next | Which::Coming if month > today.month() => today.year(),
            Which::Next | Which::Coming => today.year() + 1,
            Which::Last | Which::Past if month < today.month() => today.year(),
            Which::Last | Which::Past => today.year() - 1,
        };
        let taken = of(year_of)?;
        self.notes.push(Note::Taken { said: said.to_owned(), taken: taken.0, other: None });
        Ok(taken)
    }

    /// A period that is meant to be still to come where no year is said.
    pub(crate) fn later(period: &Period, today: Date) -> Option<Period> {
        match period {
            Period::NamedMonth(Which::Plain, month, None) => {
                Some(Period::NamedMonth(Which::Plain, *month, Some(today.year() + 1)))
            }
            Period::QuarterNumber(number, None) => {
                Some(Period::QuarterNumber(*number, Some(today.year() + 1)))
            }
            Period::Week(_)
            | Period::WeekNumber(..)
            | Period::WeekOf(_)
            | Period::Weekend(_)
            | Period::Month(_)
            | Period::NamedMonth(..)
            | Period::Quarter(_)
            | Period::QuarterNumber(..)
            | Period::Year(_)
            | Period::YearNumber(_) => None,
        }
    }
}

fn whole_year(year: i16, said: &str) -> Result<(Date, Date), Unread> {
    let first = Date::new(year, 1, 1).map_err(|_| beyond(said))?;
    Ok((first, first.last_of_year()))
}
