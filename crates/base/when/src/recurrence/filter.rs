//! Which days of a period a rule takes: one look at each day, the same for every kind of rule.

use jiff::civil::{Date, Weekday};

use super::{Frequency, Recurrence, RecurrenceWeekday};

/// The parts of a rule that choose days, with what the start adds where the rule is silent.
#[derive(Debug, Clone)]
pub(super) struct RecurrenceFilter {
    frequency: Frequency,
    months: Vec<i8>,
    weeks: Vec<i8>,
    year_days: Vec<i16>,
    month_days: Vec<i8>,
    days: Vec<RecurrenceWeekday>,
    positions: Vec<i16>,
    week_starts: Weekday,
}

impl RecurrenceFilter {
    pub(super) fn new(rule: &Recurrence, start: Date) -> Self {
        let mut filter = Self {
            frequency: rule.frequency,
            months: rule.months.clone(),
            weeks: rule.weeks.clone(),
            year_days: rule.year_days.clone(),
            month_days: rule.month_days.clone(),
            days: rule.days.clone(),
            positions: rule.positions.clone(),
            week_starts: rule.week_starts,
        };
        let weekday = RecurrenceWeekday { nth: 0, weekday: start.weekday() };
        match rule.frequency {
            // Weeks of the year without a day are taken at the weekday of the start.
            Frequency::Yearly if !rule.weeks.is_empty() => {
                if rule.days.is_empty() && rule.month_days.is_empty() && rule.year_days.is_empty() {
                    filter.days.push(weekday);
                }
            }
            Frequency::Yearly if rule.is_bare() => {
                if rule.months.is_empty() {
                    filter.months.push(start.month());
                }
                filter.month_days.push(start.day());
            }
            Frequency::Monthly if rule.is_bare() => filter.month_days.push(start.day()),
            Frequency::Weekly if rule.days.is_empty() => filter.days.push(weekday),
            Frequency::Daily | Frequency::Weekly | Frequency::Monthly | Frequency::Yearly => {}
        }
        filter
    }

    /// The days that are taken of the period that begins on `first`, in order.
    pub(super) fn days_of(&self, first: Date) -> Vec<Date> {
        let length = match self.frequency {
            Frequency::Daily => 1,
            Frequency::Weekly => 7,
            Frequency::Monthly => i16::from(first.days_in_month()),
            Frequency::Yearly => first.days_in_year(),
        };
        let last = shifted(first, i64::from(length) - 1).unwrap_or(Date::MAX);
        let mut days = Vec::new();
        let mut day = first;
        while day <= last {
            // Of months that are not wanted no day is looked at.
            let is_month = self.months.is_empty() || self.months.contains(&day.month());
            if is_month && self.takes(day) {
                days.push(day);
            }
            let passed = if is_month { day } else { day.last_of_month() };
            match passed.tomorrow() {
                Ok(next) => day = next,
                Err(_) => break,
            }
        }
        if self.positions.is_empty() { days } else { self.chosen(&days) }
    }

    /// `BYSETPOS`: the days at some places of the list, in order.
    fn chosen(&self, days: &[Date]) -> Vec<Date> {
        let count = days.len();
        let place = |position: i16| {
            let distance = usize::from(position.unsigned_abs());
            if position > 0 { distance.checked_sub(1) } else { count.checked_sub(distance) }
        };
        let mut places: Vec<usize> =
            self.positions.iter().filter_map(|position| place(*position)).collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|place| days.get(place).copied()).collect()
    }

    fn takes(&self, day: Date) -> bool {
        let is_in = |list: &[i8], value: i8| list.is_empty() || list.contains(&value);
        is_in(&self.months, day.month())
            && self.takes_month_day(day)
            && self.takes_weekday(day)
            && self.takes_year_day(day)
            && self.takes_week(day)
    }

    fn takes_month_day(&self, day: Date) -> bool {
        let from_end = day.day() - day.days_in_month() - 1;
        self.month_days.is_empty()
            || self.month_days.iter().any(|wanted| *wanted == day.day() || *wanted == from_end)
    }

    fn takes_year_day(&self, day: Date) -> bool {
        let from_start = day.day_of_year();
        let from_end = from_start - day.days_in_year() - 1;
        self.year_days.is_empty()
            || self.year_days.iter().any(|wanted| *wanted == from_start || *wanted == from_end)
    }

    fn takes_weekday(&self, day: Date) -> bool {
        let is_of_month = self.frequency == Frequency::Monthly || !self.months.is_empty();
        let (index, length) = if is_of_month {
            (i16::from(day.day()), i16::from(day.days_in_month()))
        } else {
            (day.day_of_year(), day.days_in_year())
        };
        let from_start = (index - 1) / 7 + 1;
        let from_end = -((length - index) / 7 + 1);
        self.days.is_empty()
            || self.days.iter().any(|wanted| {
                let nth = i16::from(wanted.nth);
                let is_place = nth == 0 || nth == from_start || nth == from_end;
                wanted.weekday == day.weekday() && is_place
            })
    }

    fn takes_week(&self, day: Date) -> bool {
        if self.weeks.is_empty() {
            return true;
        }
        let Some((year, week)) = week_of(day, self.week_starts) else { return false };
        // The 28th of December is always in the last week of its year.
        let last = Date::new(year, 12, 28).ok().and_then(|day| week_of(day, self.week_starts));
        let from_end = last.map_or(0, |(_, last)| week - last - 1);
        self.weeks.iter().any(|wanted| *wanted == week || *wanted == from_end)
    }
}

/// The year and number of a week: the first is the one with four days or more in its year.
fn week_of(day: Date, week_starts: Weekday) -> Option<(i16, i8)> {
    let since = i64::from(day.weekday().since(week_starts));
    let middle = shifted(day, 3 - since)?;
    let week = i8::try_from((middle.day_of_year() - 1) / 7 + 1).ok()?;
    Some((middle.year(), week))
}

/// The date so many days later, if the calendar goes so far.
pub(super) fn shifted(date: Date, days: i64) -> Option<Date> {
    date.checked_add(jiff::Span::new().try_days(days).ok()?).ok()
}
