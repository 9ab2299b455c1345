//! Moments: a day and a time of day on the clock of a zone, with its changes told.

use jiff::civil::{Date, Time};
use jiff::tz::{AmbiguousOffset, AmbiguousZoned, OffsetConflict, TimeZone};
use jiff::{Span, Zoned};

use super::calendar::beyond;
use super::clock_time::{ClockTime, of_night};
use super::day::DayResolver;
use super::refusal::{either_end, other_part};
use crate::PhraseNote;
use crate::error::{TimeParseError, TimeParseProblem};
use crate::phrase::parse::time_expression::{MomentPhrase, TimeExpression, ZonePhrase};
use crate::phrase::syntax::{ClockPhrase, DayPart, DayPhrase, WithWords};

/// From when and to when a number is an hour of the day where nothing else is said.
pub(crate) const WAKING: std::ops::RangeInclusive<i8> = 7..=18;

/// Both readings of an hour from 1 to 12: before noon and after.
pub(crate) fn readings(hour: i8, minute: i8) -> [Time; 2] {
    let time = |hour: i8| Time::new(hour, minute, 0, 0).unwrap_or(Time::MIN);
    [time(hour % 12), time(hour % 12 + 12)]
}

impl DayResolver<'_> {
    /// The time of day that a side says, with notes where something was added.
    pub(crate) fn hour(
        &mut self,
        side: &TimeExpression,
    ) -> Result<Option<ClockTime>, TimeParseError> {
        let Some(clock) = &side.clock else {
            let Some(part) = &side.part else { return Ok(None) };
            let taken = part.what.time();
            self.notes.push(PhraseNote::Clock { said: part.said.clone(), taken, other: None });
            return Ok(Some(ClockTime::at(taken)));
        };
        let said = clock.said.clone();
        if let (Some(part), ClockPhrase::Exact(time) | ClockPhrase::Twelve(time)) =
            (&side.part, clock.what)
            && !part.what.has(time)
        {
            return Err(other_part(&said, &part.said));
        }
        Ok(Some(match clock.what {
            ClockPhrase::Exact(time) => of_night(side, time),
            ClockPhrase::Twelve(taken) => {
                self.notes.push(PhraseNote::Clock { said, taken, other: None });
                of_night(side, taken)
            }
            ClockPhrase::Midnight | ClockPhrase::DayEnd => {
                ClockTime { time: Time::MIN, is_end: true }
            }
            ClockPhrase::Bare { hour, minute, is_full } => {
                if let Some(part) = &side.part {
                    let Some(found) = part.what.hour(hour) else {
                        let is_doubtful = part.what == DayPart::Night;
                        let refused = if is_doubtful { either_end } else { other_part };
                        return Err(refused(&clock.said, &part.said));
                    };
                    let time = Time::new(found, minute, 0, 0).unwrap_or(Time::MIN);
                    return Ok(Some(of_night(side, time)));
                }
                let [early, late] = readings(hour, minute);
                let is_early = WAKING.contains(&early.hour());
                let (taken, other) = if is_early { (early, late) } else { (late, early) };
                // `9:00` is how a clock of 24 hours shows it, too.
                if !(is_full && hour >= 7) {
                    self.notes.push(PhraseNote::Clock { said, taken, other: Some(other) });
                }
                ClockTime::at(taken)
            }
        }))
    }

    /// The moment of a day and an hour on the clock of a side's zone, or the frame's.
    pub(crate) fn moment(
        &mut self,
        day: Date,
        hour: ClockTime,
        place: Option<&WithWords<ZonePhrase>>,
    ) -> Result<Zoned, TimeParseError> {
        let day = if hour.is_end { day.tomorrow().map_err(|_| beyond("midnight"))? } else { day };
        let local = day.to_datetime(hour.time);
        let zone = match place {
            Some(WithWords { what: ZonePhrase::Offset(offset), said }) => {
                let instant = offset.to_timestamp(local).map_err(|_| beyond(said))?;
                let taken = Zoned::new(instant, self.frame.now.time_zone().clone());
                let said = format!("{} {said}", crate::wording::clock_words(hour.time));
                return Ok(self.converted(taken, *offset, said));
            }
            Some(WithWords { what: ZonePhrase::Zone(zone), .. }) => zone.clone(),
            Some(WithWords { what: ZonePhrase::Both(zone, offset), said }) => {
                let found = OffsetConflict::Reject.resolve(local, *offset, zone.clone());
                return found.and_then(AmbiguousZoned::compatible).map_err(|_| {
                    let why = "does not have that offset then";
                    let cure = "leave the offset out, or correct it";
                    TimeParseError::new(TimeParseProblem::Conflict, said, why, cure)
                });
            }
            None => self.frame.now.time_zone().clone(),
        };
        let found = zone.to_ambiguous_zoned(local);
        let (is_gap, is_fold) = match found.offset() {
            AmbiguousOffset::Unambiguous { .. } => (false, false),
            AmbiguousOffset::Gap { .. } => (true, false),
            AmbiguousOffset::Fold { .. } => (false, true),
        };
        let taken = found.clone().compatible().map_err(|_| beyond(&local.to_string()))?;
        if is_gap {
            self.notes.push(PhraseNote::Gap { local, taken: taken.clone() });
        }
        if is_fold && let Ok(other) = found.later() {
            self.notes.push(PhraseNote::Fold { taken: taken.clone(), other });
        }
        Ok(taken)
    }

    /// A moment with an offset on the frame's clock, told where that is another.
    fn converted(&mut self, taken: Zoned, offset: jiff::tz::Offset, said: String) -> Zoned {
        if taken.offset() != offset {
            self.notes.push(PhraseNote::Converted { said, taken: taken.clone() });
        }
        taken
    }

    /// The moment that a side says by itself.
    pub(crate) fn own_moment(
        &mut self,
        side: &TimeExpression,
    ) -> Result<Option<Zoned>, TimeParseError> {
        let Some(WithWords { what, said }) = &side.moment else { return Ok(None) };
        if let Some(part) = &side.part {
            let both = format!("{said} {}", part.said);
            let cure = "say one of them";
            return Err(TimeParseError::new(
                TimeParseProblem::Conflict,
                &both,
                "says two times",
                cure,
            ));
        }
        if let Some(other) =
            side.day.as_ref().map(|day| &day.said).or(side.clock.as_ref().map(|c| &c.said))
        {
            let both = format!("{said} {other}");
            let cure = "say one of them";
            return Err(TimeParseError::new(
                TimeParseProblem::Conflict,
                &both,
                "says two times",
                cure,
            ));
        }
        let zone = self.frame.now.time_zone().clone();
        let moment = match what {
            MomentPhrase::FromNow(span) => self.since_now(*span, said)?,
            MomentPhrase::Zoned(zoned) => zoned.clone(),
            MomentPhrase::Instant(instant) => {
                let taken = Zoned::new(*instant, zone);
                // An instant whose text has the offset of the frame reads as the clock there.
                let here = taken.strftime("%Y-%m-%dT%H:%M").to_string();
                let is_same = said.get(..16).is_some_and(|text| text.eq_ignore_ascii_case(&here));
                if !is_same {
                    let said = said.clone();
                    self.notes.push(PhraseNote::Converted { said, taken: taken.clone() });
                }
                taken
            }
        };
        Ok(Some(match &side.zone {
            Some(WithWords {
                what: ZonePhrase::Zone(zone) | ZonePhrase::Both(zone, _), ..
            }) => moment.with_time_zone(zone.clone()),
            Some(WithWords { what: ZonePhrase::Offset(_), .. }) | None => moment,
        }))
    }

    fn since_now(&self, span: Span, said: &str) -> Result<Zoned, TimeParseError> {
        self.frame.now.checked_add(span).map_err(|_| beyond(said))
    }

    /// Today in the zone of a side; where a day is said, it is told if that is another day there.
    pub(crate) fn today_of(&mut self, side: &TimeExpression) -> Date {
        let Some(WithWords { what: ZonePhrase::Zone(zone) | ZonePhrase::Both(zone, _), .. }) =
            &side.zone
        else {
            return self.today;
        };
        let there = self.frame.now.with_time_zone(zone.clone()).date();
        let is_relative = side
            .day
            .as_ref()
            .is_some_and(|day| !matches!(day.what, DayPhrase::Exact(_) | DayPhrase::Exactly(..)));
        if is_relative && there != self.today {
            let zone = zone_name(zone);
            self.notes.push(PhraseNote::OtherDay { zone, there, here: self.today });
        }
        there
    }
}

fn zone_name(zone: &TimeZone) -> String {
    zone.iana_name().unwrap_or("that zone").to_owned()
}
