//! What was changed of an occurrence and of all after it: `RANGE=THISANDFUTURE` (RFC 5545, section
//! 3.2.13).

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use super::series_move::SeriesMove;
use crate::backend::EventSlot;
use crate::calendar_object::slot::{bounds, placed};
use crate::ical::{DateOrTime, IcalComponent, IcalProperty};

/// What holds from an occurrence on, until another such holds.
pub(crate) struct Onward<'a> {
    pub(crate) part: &'a IcalComponent,
    /// When the occurrence was to be.
    pub(crate) original: DateOrTime,
    /// When it is.
    slot: EventSlot,
    step: SeriesMove,
}

impl<'a> Onward<'a> {
    pub(crate) fn new(
        part: &'a IcalComponent,
        original: DateOrTime,
        slot: EventSlot,
    ) -> Result<Self, String> {
        if let Some(name) = ["RRULE", "RDATE", "EXDATE"].iter().find(|it| part.get(it).is_some()) {
            return Err(format!("what was changed of it from one day on has its own {name}"));
        }
        let to = match (&slot, &original) {
            (EventSlot::Timed { start, .. }, DateOrTime::At(from)) => {
                DateOrTime::At(start.with_time_zone(from.time_zone().clone()))
            }
            (EventSlot::Timed { start, .. }, DateOrTime::Day(_)) => DateOrTime::At(start.clone()),
            (EventSlot::Days { first, .. }, _) => DateOrTime::Day(*first),
        };
        let step = SeriesMove { from: original.clone(), to };
        Ok(Self { part, original, slot, step })
    }

    /// When an occurrence is that was to start at another time.
    pub(crate) fn slot_at(&self, start: &DateOrTime) -> Option<EventSlot> {
        self.step.apply(start).map(|start| placed(&self.slot, &start))
    }

    /// How far an occurrence goes beyond its original start, and how far before it.
    pub(crate) fn reach(&self, home: &TimeZone) -> (SignedDuration, SignedDuration) {
        let (start, end) = bounds(&self.slot, home);
        let original = self.original.instant(home);
        let zero = SignedDuration::ZERO;
        (original.duration_until(end).max(zero), start.duration_until(original).max(zero))
    }
}

/// Whether a RECURRENCE-ID names all after its occurrence too.
pub(crate) fn is_onward(id: &IcalProperty) -> Result<bool, String> {
    match id.parameter("RANGE") {
        None => Ok(false),
        Some(range) if range.eq_ignore_ascii_case("THISANDFUTURE") => Ok(true),
        Some(range) => Err(format!("its RECURRENCE-ID has the RANGE `{range}`")),
    }
}
