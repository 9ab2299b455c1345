//! Periods against a clock: which days a week, weekend, month, quarter or year has.

use jiff::civil::{Date, ISOWeekDate, Weekday};

use super::calendar::{beyond, plus_days, plus_months};
use super::day::DayResolver;
use crate::PhraseNote;
use crate::error::{TIMES, TimeParseError, TimeParseProblem};
use crate::phrase::syntax::{Determiner, PeriodPhrase};

impl DayResolver<'_> {
    /// The first and last day of a period, with notes where it may be another.
    pub(crate) fn period(
        &mut self,
        period: &PeriodPhrase,
        said: &str,
    ) -> Result<(Date, Date), TimeParseError> {
        let today = self.today;
        match period {
            PeriodPhrase::Week(weeks) => self.week(plus_days(today, weeks * 7, said)?, said),
            PeriodPhrase::WeekOf(of) => {
                let (first, _) = self.days(of, None)?;
                self.week(first, said)
            }
            PeriodPhrase::WeekNumber(week, year) => self.week_number(*week, *year, said),
            PeriodPhrase::Weekend(which) => self.weekend(*which, said),
            PeriodPhrase::Month(months) => {
                let first = plus_months(today, *months, said)?;
                Ok((first, first.last_of_month()))
            }
            PeriodPhrase::NamedMonth(which, month, year) => self.month(*which, *month, *year, said),
            PeriodPhrase::Quarter(quarters) => {
                let since = i64::from((today.month() - 1) % 3);
                let first = plus_months(today, quarters * 3 - since, said)?;
                Ok((first, plus_months(first, 2, said)?.last_of_month()))
            }
            PeriodPhrase::QuarterNumber(number, year) => {
                let quarter = |year: i16| -> Result<(Date, Date), TimeParseError> {
                    let first = Date::new(year, number * 3 - 2, 1).map_err(|_| beyond(said))?;
                    Ok((first, plus_months(first, 2, said)?.last_of_month()))
                };
                self.of_year(*year, said, quarter)
            }
            PeriodPhrase::Year(years) => {
                let year = i64::from(today.year()) + years;
                let year = i16::try_from(year).map_err(|_| beyond(said))?;
                whole_year(year, said)
            }
            PeriodPhrase::YearNumber(year) => whole_year(*year, said),
        }
    }

    /// The week that has a day, as weeks start here.
    pub(crate) fn week(&self, day: Date, said: &str) -> Result<(Date, Date), TimeParseError> {
        let since = i64::from(day.weekday().since(self.frame.week_starts));
        let first = plus_days(day, -since, said)?;
        Ok((first, plus_days(first, 6, said)?))
    }

    fn week_number(
        &mut self,
        week: i8,
        year: Option<i16>,
        said: &str,
    ) -> Result<(Date, Date), TimeParseError> {
        let of = |year: i16| -> Result<(Date, Date), TimeParseError> {
            let first = ISOWeekDate::new(year, week, Weekday::Monday).map_err(|_| {
                let why = format!("is no week of {year}");
                TimeParseError::new(TimeParseProblem::Impossible, said, &why, TIMES)
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
        of: impl Fn(i16) -> Result<(Date, Date), TimeParseError>,
    ) -> Result<(Date, Date), TimeParseError> {
        if let Some(year) = year {
            return of(year);
        }
        let this = of(self.today.year());
        match this {
            Ok((_, last)) if last < self.today => {
                let next = of(self.today.year() + 1)?;
                self.notes.push(PhraseNote::RolledOver { said: said.to_owned(), taken: next.0 });
                Ok(next)
            }
            other => other,
        }
    }

    /// Saturday and Sunday; one that has begun is this one.
    fn weekend(&mut self, which: Determiner, said: &str) -> Result<(Date, Date), TimeParseError> {
        let today = self.today;
        let since = i64::from(today.weekday().since(Weekday::Saturday));
        // Saturday and Sunday are of this weekend, other days lead to the next.
        let this = plus_days(today, if since <= 1 { -since } else { 7 - since }, said)?;
        let monday = plus_days(today, -i64::from(today.weekday().since(Weekday::Monday)), said)?;
        let (first, other) = match which {
            Determiner::Plain | Determiner::This | Determiner::Coming => (this, None),
            Determiner::Next => (plus_days(monday, 12, said)?, Some(this)),
            Determiner::Last | Determiner::Past => (plus_days(monday, -2, said)?, None),
        };
        if let Some(other) = other {
            let said = said.to_owned();
            self.notes.push(PhraseNote::Taken { said, taken: first, other: Some(other) });
        }
        Ok((first, plus_days(first, 1, said)?))
    }

    fn month(
        &mut self,
        which: Determiner,
        month: i8,
        year: Option<i16>,
        said: &str,
    ) -> Result<(Date, Date), TimeParseError> {
        let today = self.today;
        let of = |year: i16| -> Result<(Date, Date), TimeParseError> {
            let first = Date::new(year, month, 1).map_err(|_| beyond(said))?;
            Ok((first, first.last_of_month()))
        };
        let year_of = match which {
            Determiner::Plain => return self.of_year(year, said, of),
            Determiner::This => return of(today.year()),
            Determiner::Next | Determiner::Coming if month > today.month() => today.year(),
            Determiner::Next | Determiner::Coming => today.year() + 1,
            Determiner::Last | Determiner::Past if month < today.month() => today.year(),
            Determiner::Last | Determiner::Past => today.year() - 1,
        };
        let taken = of(year_of)?;
        self.notes.push(PhraseNote::Taken { said: said.to_owned(), taken: taken.0, other: None });
        Ok(taken)
    }

    /// A period that is meant to be still to come where no year is said.
    pub(crate) fn later(period: &PeriodPhrase, today: Date) -> Option<PeriodPhrase> {
        match period {
            PeriodPhrase::NamedMonth(Determiner::Plain, month, None) => {
                Some(PeriodPhrase::NamedMonth(Determiner::Plain, *month, Some(today.year() + 1)))
            }
            PeriodPhrase::QuarterNumber(number, None) => {
                Some(PeriodPhrase::QuarterNumber(*number, Some(today.year() + 1)))
            }
            PeriodPhrase::Week(_)
            | PeriodPhrase::WeekNumber(..)
            | PeriodPhrase::WeekOf(_)
            | PeriodPhrase::Weekend(_)
            | PeriodPhrase::Month(_)
            | PeriodPhrase::NamedMonth(..)
            | PeriodPhrase::Quarter(_)
            | PeriodPhrase::QuarterNumber(..)
            | PeriodPhrase::Year(_)
            | PeriodPhrase::YearNumber(_) => None,
        }
    }
}

fn whole_year(year: i16, said: &str) -> Result<(Date, Date), TimeParseError> {
    let first = Date::new(year, 1, 1).map_err(|_| beyond(said))?;
    Ok((first, first.last_of_year()))
}
