//! The occurrences of a rule, one after the other, with bounded work between two of them.

use std::vec::IntoIter;

use jiff::Zoned;
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;

use super::filter::{RecurrenceFilter, shifted};
use super::{Frequency, Recurrence, RecurrenceEnd, RecurrenceUntil};

/// How many periods may pass without an occurrence before there is none any more.
///
/// The calendar comes again after 400 years, which are 146,097 days, 20,871 weeks and 4,800
/// months: a rule that took nothing in as many of its periods has met every case it ever will.
const fn cycle(frequency: Frequency) -> u32 {
    match frequency {
        Frequency::Daily => 146_097,
        Frequency::Weekly => 20_871,
        Frequency::Monthly => 4_800,
        Frequency::Yearly => 400,
    }
}

/// The days of a rule, each later than the one before; see [`Recurrence::dates`].
#[derive(Debug, Clone)]
pub struct RecurrenceDates {
    filter: RecurrenceFilter,
    frequency: Frequency,
    interval: i64,
    start: Date,
    week_starts: Weekday,
    /// The number of the period that is looked at next.
    period: i64,
    found: IntoIter<Date>,
    /// How many may still come.
    left: Option<u32>,
    /// The last day that may be taken.
    last: Option<Date>,
}

/// The moments of a rule, each later than the one before; see [`Recurrence::moments`].
#[derive(Debug, Clone)]
pub struct RecurrenceMoments {
    dates: RecurrenceDates,
    start: Zoned,
    /// What clocks show on all days but that of the start.
    time: Time,
    until: Option<RecurrenceUntil>,
    latest: Option<Zoned>,
}

impl Recurrence {
    /// The days on which it falls, from the start on; the start itself only if the rule takes it.
    ///
    /// It may go on to the end of the calendar; what is asked of it is bounded by the caller.
    pub fn dates(&self, start: Date) -> RecurrenceDates {
        let last = match self.end {
            RecurrenceEnd::Until(RecurrenceUntil::Day(day)) => Some(day),
            RecurrenceEnd::Until(RecurrenceUntil::Local(time)) => Some(time.date()),
            RecurrenceEnd::Until(RecurrenceUntil::Instant(instant)) => {
                Some(TimeZone::UTC.to_datetime(instant).date())
            }
            RecurrenceEnd::Never | RecurrenceEnd::Count(_) => None,
        };
        RecurrenceDates {
            filter: RecurrenceFilter::new(self, start),
            frequency: self.frequency,
            interval: i64::from(self.interval),
            start,
            week_starts: self.week_starts,
            period: 0,
            found: Vec::new().into_iter(),
            left: match self.end {
                RecurrenceEnd::Count(count) => Some(count),
                RecurrenceEnd::Never | RecurrenceEnd::Until(_) => None,
            },
            last,
        }
    }

    /// The moments at which it falls: the days of its zone, at the time on the clock that the
    /// start has.
    ///
    /// A time that a change of the clocks leaves out is taken by the offset before the change, and
    /// the first of two is taken, as RFC 5545 says (section 3.3.5).
    pub fn moments(&self, start: &Zoned) -> RecurrenceMoments {
        let mut dates = self.dates(start.date());
        let until = match self.end {
            RecurrenceEnd::Until(until) => Some(until),
            RecurrenceEnd::Never | RecurrenceEnd::Count(_) => None,
        };
        if let Some(RecurrenceUntil::Instant(instant)) = until {
            dates.last = Some(start.time_zone().to_datetime(instant).date());
        }
        RecurrenceMoments { dates, start: start.clone(), time: start.time(), until, latest: None }
    }

    /// The days on which it falls from one day on and before another.
    pub fn dates_between(
        &self,
        start: Date,
        from: Date,
        to: Date,
    ) -> impl Iterator<Item = Date> + use<> {
        let mut dates = self.dates(start);
        dates.skip_to(from);
        dates.skip_while(move |day| *day < from).take_while(move |day| *day < to)
    }

    /// The moments at which it falls from one on and before another.
    pub fn moments_between(
        &self,
        start: &Zoned,
        from: &Zoned,
        to: &Zoned,
    ) -> impl Iterator<Item = Zoned> + use<> {
        self.moments(start).between(from, to)
    }
}

impl RecurrenceDates {
    /// Leaves out periods that end before a day, where nothing has to be counted.
    fn skip_to(&mut self, day: Date) {
        if self.left.is_some() || day <= self.start {
            return;
        }
        let days = |from: Date, to: Date| i64::from((to - from).get_days());
        let passed = match self.frequency {
            Frequency::Daily => days(self.start, day),
            Frequency::Weekly => days(self.start, day) / 7,
            Frequency::Monthly => months(day) - months(self.start),
            Frequency::Yearly => i64::from(day.year()) - i64::from(self.start.year()),
        };
        self.period = (passed / self.interval - 1).max(0);
    }

    /// The first day of a period, if the calendar goes so far.
    fn first_of(&self, period: i64) -> Option<Date> {
        let steps = period.checked_mul(self.interval)?;
        match self.frequency {
            Frequency::Daily => shifted(self.start, steps),
            Frequency::Weekly => {
                let since = i64::from(self.start.weekday().since(self.week_starts));
                shifted(self.start, steps.checked_mul(7)? - since)
            }
            Frequency::Monthly => {
                let months = months(self.start).checked_add(steps)?;
                let year = i16::try_from(months.div_euclid(12)).ok()?;
                Date::new(year, i8::try_from(months.rem_euclid(12) + 1).ok()?, 1).ok()
            }
            Frequency::Yearly => {
                let year = i64::from(self.start.year()).checked_add(steps)?;
                Date::new(i16::try_from(year).ok()?, 1, 1).ok()
            }
        }
    }

    /// The next day that the rule takes, whatever its end says.
    fn next_taken(&mut self) -> Option<Date> {
        let mut barren = 0;
        loop {
            if let Some(day) = self.found.next() {
                return Some(day);
            }
            if barren > cycle(self.frequency) {
                return None;
            }
            let first = self.first_of(self.period)?;
            if self.last.is_some_and(|last| first > last) {
                return None;
            }
            self.period += 1;
            barren += 1;
            let start = self.start;
            let mut days = self.filter.days_of(first);
            days.retain(|day| *day >= start);
            self.found = days.into_iter();
        }
    }
}

impl Iterator for RecurrenceDates {
    type Item = Date;

    fn next(&mut self) -> Option<Date> {
        if self.left == Some(0) {
            return None;
        }
        let day = self.next_taken().filter(|day| self.last.is_none_or(|last| *day <= last));
        // Once over, it stays over.
        self.left = if day.is_none() { Some(0) } else { self.left.map(|left| left - 1) };
        day
    }
}

impl RecurrenceMoments {
    /// The same with another time on the clock than the start has: one that a change of the clocks
    /// left out on its day alone.
    #[must_use]
    pub fn shown_at(mut self, time: Time) -> Self {
        self.time = time;
        self
    }

    /// Those from a moment on and before another.
    pub fn between(mut self, from: &Zoned, to: &Zoned) -> impl Iterator<Item = Zoned> + use<> {
        // A day early: the two may be in another zone.
        let first = from.with_time_zone(self.start.time_zone().clone()).date();
        self.dates.skip_to(first.yesterday().unwrap_or(first));
        let (from, to) = (from.clone(), to.clone());
        self.skip_while(move |moment| *moment < from).take_while(move |moment| *moment < to)
    }

    fn at(&self, day: Date) -> Option<Zoned> {
        if day == self.start.date() {
            // It may be the second of two equal times, which the clock alone would not find again.
            return Some(self.start.clone());
        }
        let local: DateTime = day.to_datetime(self.time);
        self.start.time_zone().to_ambiguous_zoned(local).compatible().ok()
    }

    fn is_within(&self, day: Date, moment: &Zoned) -> bool {
        match self.until {
            None => true,
            Some(RecurrenceUntil::Day(last)) => day <= last,
            Some(RecurrenceUntil::Local(last)) => day.to_datetime(self.time) <= last,
            Some(RecurrenceUntil::Instant(last)) => moment.timestamp() <= last,
        }
    }
}

impl Iterator for RecurrenceMoments {
    type Item = Zoned;

    fn next(&mut self) -> Option<Zoned> {
        loop {
            let day = self.dates.next()?;
            let moment = self.at(day)?;
            if !self.is_within(day, &moment) {
                self.dates.left = Some(0);
                return None;
            }
            // A zone may leave out a whole day, whose time then falls on the next one's.
            if self.latest.as_ref().is_none_or(|latest| *latest < moment) {
                self.latest = Some(moment.clone());
                return Some(moment);
            }
        }
    }
}

fn months(date: Date) -> i64 {
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}
