//! How far a series moves.

use jiff::Zoned;
use jiff::civil::DateTime;

use crate::ical::DateOrTime;

/// How the start of an occurrence moves with its series.
pub(crate) struct SeriesMove {
    pub(crate) from: DateOrTime,
    pub(crate) to: DateOrTime,
}

impl SeriesMove {
    /// Where another start of the series goes, as clocks show it.
    pub(crate) fn apply(&self, start: &DateOrTime) -> Option<DateOrTime> {
        let day = || start.date().checked_add(self.to.date() - self.from.date()).ok();
        match (&self.to, &self.from, start) {
            (DateOrTime::Day(_), _, _) => day().map(DateOrTime::Day),
            (DateOrTime::At(to), DateOrTime::At(from), DateOrTime::At(start)) => {
                let shown = start.with_time_zone(from.time_zone().clone()).datetime();
                let by = from.datetime().duration_until(to.datetime());
                at(to, shown.checked_add(by).ok()?)
            }
            (DateOrTime::At(to), _, _) => at(to, day()?.to_datetime(to.time())),
        }
    }
}

/// A time on the clock of another's zone.
fn at(model: &Zoned, time: DateTime) -> Option<DateOrTime> {
    model.time_zone().to_ambiguous_zoned(time).compatible().ok().map(DateOrTime::At)
}
