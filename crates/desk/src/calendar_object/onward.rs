//! What was changed of an occurrence and of all after it: `RANGE=THISANDFUTURE` (RFC 5545, section
//! 3.2.13).

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::invalid;
use super::series::{Series, bounds};
use super::shift::{Move, placed};
use crate::backend::{Fault, Slot};
use crate::ical::{Component, Moment, Property};

/// What holds from an occurrence on, until another such holds.
pub(super) struct Onward<'a> {
    pub(super) part: &'a Component,
    /// When the occurrence was to be.
    pub(super) original: Moment,
    /// When it is.
    slot: Slot,
    step: Move,
}

impl<'a> Onward<'a> {
    pub(super) fn new(part: &'a Component, original: Moment, slot: Slot) -> Result<Self, String> {
        if let Some(name) = ["RRULE", "RDATE", "EXDATE"].iter().find(|it| part.get(it).is_some()) {
            return Err(format!("what was changed of it from one day on has its own {name}"));
        }
        let to = match (&slot, &original) {
            (Slot::Timed { start, .. }, Moment::At(from)) => {
                Moment::At(start.with_time_zone(from.time_zone().clone()))
            }
            (Slot::Timed { start, .. }, Moment::Day(_)) => Moment::At(start.clone()),
            (Slot::Days { first, .. }, _) => Moment::Day(*first),
        };
        let step = Move { from: original.clone(), to };
        Ok(Self { part, original, slot, step })
    }

    /// When an occurrence is that was to start at another time.
    pub(super) fn slot_at(&self, start: &Moment) -> Option<Slot> {
        self.step.apply(start).map(|start| placed(&self.slot, &start))
    }

    /// How far an occurrence goes beyond its original start, and how far before it.
    pub(super) fn reach(&self, home: &TimeZone) -> (SignedDuration, SignedDuration) {
        let (start, end) = bounds(&self.slot, home);
        let original = self.original.instant(home);
        let zero = SignedDuration::ZERO;
        (original.duration_until(end).max(zero), start.duration_until(original).max(zero))
    }
}

/// Whether a RECURRENCE-ID names all after its occurrence too.
pub(super) fn is_onward(id: &Property) -> Result<bool, String> {
    match id.parameter("RANGE") {
        None => Ok(false),
        Some(range) if range.eq_ignore_ascii_case("THISANDFUTURE") => Ok(true),
        Some(range) => Err(format!("its RECURRENCE-ID has the RANGE `{range}`")),
    }
}

impl<'a> Series<'a> {
    /// What holds for an occurrence that was to start at a time, if anything was changed there.
    pub(super) fn onward_at(&self, start: &Moment) -> Option<&Onward<'a>> {
        let instant = |moment: &Moment| moment.instant(self.zones.home);
        let start: Timestamp = instant(start);
        self.onward.iter().rev().find(|it| instant(&it.original) <= start)
    }

    /// Refuses to change a series in a way that would lose what others wrote of it.
    pub(super) fn is_plain(&self) -> Result<(), Fault> {
        let what = if !self.onward.is_empty() {
            "some of its repetitions were changed together with all after them"
        } else if !self.lengths.is_empty() {
            "some of its repetitions were added with a length of their own"
        } else {
            return Ok(());
        };
        let cure = "change single repetitions, or make the series anew";
        Err(invalid(format!("{what}, so it cannot be moved or parted here: {cure}")))
    }
}
