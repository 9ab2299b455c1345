//! Days against a clock: which date `next Tuesday` is, and what has to be told about it.

use jiff::civil::{Date, Weekday};

use super::calendar::{beyond, plus_days, plus_months};
use crate::error::{TIMES, TimeParseError, TimeParseProblem};
use crate::phrase::syntax::{
    DayKind, DayPhrase, Determiner, MonthPhrase, PeriodEdge, PeriodPhrase, WithWords,
};
use crate::{PhraseNote, ReferenceTime};

/// How many years ahead a day of a month may be, such as the 29th of February around 2100.
const FARTHEST: i16 = 8;

/// What makes days of words, with the notes that come of it.
#[derive(Debug)]
pub(crate) struct DayResolver<'f> {
    pub(crate) frame: &'f ReferenceTime,
    pub(crate) today: Date,
    pub(crate) notes: Vec<PhraseNote>,
}

impl DayResolver<'_> {
    /// The first and last day of what was said; where no year or week is said, from `after` on,
    /// or else from today on.
    pub(crate) fn days(
        &mut self,
        day: &WithWords<DayPhrase>,
        after: Option<Date>,
    ) -> Result<(Date, Date), TimeParseError> {
        let said = &*day.said;
        let one = |date: Date| (date, date);
        match &day.what {
            DayPhrase::FromToday(days) => plus_days(self.today, *days, said).map(one),
            DayPhrase::Exact(date) => Ok(one(*date)),
            DayPhrase::Exactly(first, last) => Ok((*first, *last)),
            DayPhrase::Weekday(which, weekday) => {
                self.weekday(*which, *weekday, after, said).map(one)
            }
            DayPhrase::InWeek(weekday, weeks) => {
                let (first, _) = self.week(plus_days(self.today, weeks * 7, said)?, said)?;
                let on = i64::from(weekday.since(self.frame.week_starts));
                plus_days(first, on, said).map(one)
            }
            DayPhrase::OfMonth { day, month, year } => {
                self.of_month((*day, *month, *year), after, said).map(one)
            }
            DayPhrase::Nth { nth, of, period } => self.nth(*nth, *of, period, said).map(one),
            DayPhrase::Edge(edge, period) => self.edge(*edge, period, said).map(one),
            DayPhrase::Period(period) => self.period(period, said),
            DayPhrase::Shifted { from, span, is_back } => {
                let (first, last) = self.days(from, after)?;
                let from = if *is_back { first } else { last };
                let span = if *is_back { span.negate() } else { *span };
                let taken = from.checked_add(span).map_err(|_| beyond(said))?;
                let is_by_month = span.get_months() != 0 || span.get_years() != 0;
                if is_by_month && taken.day() < from.day() {
                    let said = said.to_owned();
                    self.notes.push(PhraseNote::Taken { said, taken, other: None });
                }
                Ok(one(taken))
            }
            DayPhrase::Run { span, is_back } => {
                let span = if *is_back { span.negate() } else { *span };
                let end = self.today.checked_add(span).map_err(|_| beyond(said))?;
                let (first, last) = if *is_back {
                    (plus_days(end, 1, said)?, self.today)
                } else {
                    (self.today, plus_days(end, -1, said)?)
                };
                self.notes.push(PhraseNote::Taken {
                    said: said.to_owned(),
                    taken: first,
                    other: None,
                });
                Ok((first, last.max(first)))
            }
        }
    }

    fn weekday(
        &mut self,
        which: Determiner,
        weekday: Weekday,
        after: Option<Date>,
        said: &str,
    ) -> Result<Date, TimeParseError> {
        let today = after.unwrap_or(self.today);
        let ahead = plus_days(today, i64::from(weekday.since(today.weekday())), said)?;
        let later = if ahead == today { plus_days(today, 7, said)? } else { ahead };
        let (taken, other) = match which {
            Determiner::Plain | Determiner::This if ahead == self.today => (ahead, Some(later)),
            Determiner::Plain | Determiner::This => (ahead, None),
            Determiner::Coming => (later, None),
            Determiner::Past | Determiner::Last => {
                let back = i64::from(today.weekday().since(weekday));
                let taken = plus_days(today, -if back == 0 { 7 } else { back }, said)?;
                // Some people mean the one of the week before by `last`, and nobody by `past`.
                let farther = (which == Determiner::Last).then(|| plus_days(taken, -7, said));
                (taken, farther.transpose()?)
            }
            Determiner::Next => {
                let (first, _) = self.week(plus_days(today, 7, said)?, said)?;
                let on = i64::from(weekday.since(self.frame.week_starts));
                let taken = plus_days(first, on, said)?;
                // The other reading: the nearest one, or one week farther if that was taken.
                let other = if later == taken { plus_days(taken, 7, said)? } else { later };
                (taken, Some(other))
            }
        };
        if other.is_some() {
            self.notes.push(PhraseNote::Taken { said: said.to_owned(), taken, other });
        }
        Ok(taken)
    }

    fn of_month(
        &mut self,
        (day, month, year): (i8, MonthPhrase, Option<i16>),
        after: Option<Date>,
        said: &str,
    ) -> Result<Date, TimeParseError> {
        let none = |why: &str| TimeParseError::new(TimeParseProblem::Impossible, said, why, TIMES);
        let from = after.unwrap_or(self.today);
        let taken = match (month, year) {
            (MonthPhrase::FromNow(months), _) => {
                let first = plus_months(self.today, months, said)?;
                return first.with().day(day).build().map_err(|_| none("is no day of that month"));
            }
            (MonthPhrase::Named(month), Some(year)) => {
                let why = "is no day of that year";
                return Date::new(year, month, day).map_err(|_| none(why));
            }
            (MonthPhrase::Named(month), None) => (0..=FARTHEST)
                .filter_map(|years| Date::new(from.year().checked_add(years)?, month, day).ok())
                .find(|date| *date >= from),
            (MonthPhrase::Plain, _) => (0..=12)
                .filter_map(|months| {
                    plus_months(from, months, said).ok()?.with().day(day).build().ok()
                })
                .find(|date| *date >= from),
        };
        let taken = taken.ok_or_else(|| beyond(said))?;
        let is_other_year = taken.year() != from.year() && month != MonthPhrase::Plain;
        let is_other_month = month == MonthPhrase::Plain && taken.month() != from.month();
        if after.is_none() && (is_other_year || is_other_month) {
            self.notes.push(PhraseNote::RolledOver { said: said.to_owned(), taken });
        }
        Ok(taken)
    }

    fn nth(
        &mut self,
        nth: i8,
        of: DayKind,
        period: &PeriodPhrase,
        said: &str,
    ) -> Result<Date, TimeParseError> {
        let mark = self.notes.len();
        let days = self.period(period, said)?;
        let missing = || {
            let why = "is no day of that period";
            TimeParseError::new(TimeParseProblem::Impossible, said, why, TIMES)
        };
        let taken = pick(days, nth, of).ok_or_else(missing)?;
        self.notes.truncate(mark);
        self.still_to_come(taken, period, said, |days| pick(days, nth, of).ok_or_else(missing))
    }

    fn edge(
        &mut self,
        edge: PeriodEdge,
        period: &PeriodPhrase,
        said: &str,
    ) -> Result<Date, TimeParseError> {
        let mark = self.notes.len();
        let is_week = matches!(
            period,
            PeriodPhrase::Week(_) | PeriodPhrase::WeekOf(_) | PeriodPhrase::WeekNumber(..)
        );
        let pick = |(first, last): (Date, Date)| match edge {
            PeriodEdge::Start => Ok(first),
            // The end of a week of work is its Friday.
            PeriodEdge::End if is_week => {
                let on = i64::from(Weekday::Friday.since(first.weekday()));
                plus_days(first, on, said)
            }
            PeriodEdge::End => Ok(last),
            PeriodEdge::Middle if is_week => plus_days(first, 2, said),
            PeriodEdge::Middle => {
                let length = (last - first).get_days();
                plus_days(first, i64::from(length).min(364) / 2 - i64::from(length < 32), said)
            }
        };
        let days = self.period(period, said)?;
        let taken = pick(days)?;
        self.notes.truncate(mark);
        let taken = self.still_to_come(taken, period, said, pick)?;
        let is_told = self.notes.len() > mark;
        if !is_told && (is_week || edge == PeriodEdge::Middle) {
            self.notes.push(PhraseNote::Taken { said: said.to_owned(), taken, other: None });
        }
        Ok(taken)
    }

    /// The same of the next year, where the year was not said and it has passed.
    fn still_to_come(
        &mut self,
        taken: Date,
        period: &PeriodPhrase,
        said: &str,
        pick: impl Fn((Date, Date)) -> Result<Date, TimeParseError>,
    ) -> Result<Date, TimeParseError> {
        let is_far = taken.year() > self.today.year();
        let Some(later) = Self::later(period, self.today).filter(|_| taken < self.today || is_far)
        else {
            return Ok(taken);
        };
        let days = self.period(&later, said)?;
        let taken = pick(days)?;
        self.notes.push(PhraseNote::RolledOver { said: said.to_owned(), taken });
        Ok(taken)
    }
}

/// The nth of some days, counted from the end if negative.
fn pick((first, last): (Date, Date), nth: i8, of: DayKind) -> Option<Date> {
    let is_it = |day: &Date| match of {
        DayKind::Day => true,
        DayKind::Weekday(weekday) => day.weekday() == weekday,
        DayKind::Working => !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday),
    };
    let place = usize::from(nth.unsigned_abs()).checked_sub(1)?;
    let on = |day: &Date| day.tomorrow().ok().filter(|day| *day <= last);
    let back = |day: &Date| day.yesterday().ok().filter(|day| *day >= first);
    if nth > 0 {
        std::iter::successors(Some(first), on).filter(is_it).nth(place)
    } else {
        std::iter::successors(Some(last), back).filter(is_it).nth(place)
    }
}
