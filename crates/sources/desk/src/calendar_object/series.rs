//! When an object occurs: its rule, the dates beside it, and what was changed of it.

pub(crate) mod onward;
mod series_move;
mod shift;
mod split;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan, Zoned};
use toolcrib_when::{Recurrence, RecurrenceEnd, RecurrenceMoments};

use super::slot::{bounds, slot};
use super::{CalendarObject, ObjectLocation, OccurrenceKey, invalid, unread};
use crate::backend::{BackendError, CalendarEvent, EventSlot};
use crate::ical::{DateOrTime, IcalComponent, IcalDuration, ObjectZones};
use crate::owner::CalendarOwner;
use onward::Onward;

/// Most occurrences of one object that are looked at together.
const MOST_OCCURRENCES: usize = 10_000;

/// An object with its times read.
pub(super) struct Series<'a> {
    pub(super) zones: ObjectZones<'a>,
    pub(super) master: &'a IcalComponent,
    /// By the master.
    pub(super) start: DateOrTime,
    /// What the clocks were to show at the start, which they may have left out that day.
    pub(super) shown: Option<Time>,
    pub(super) slot: EventSlot,
    /// The length of the master, if days of it are as long as the clocks make them.
    pub(super) nominal: Option<IcalDuration>,
    pub(super) rules: Vec<Recurrence>,
    pub(super) dates: Vec<DateOrTime>,
    /// Of those dates that have a length of their own.
    pub(super) lengths: BTreeMap<OccurrenceKey, EventSlot>,
    pub(super) without: BTreeSet<OccurrenceKey>,
    /// The occurrences that have a component of their own.
    pub(super) changed: BTreeMap<OccurrenceKey, &'a IcalComponent>,
    /// Those of them that hold for all after them too, sorted.
    pub(super) onward: Vec<Onward<'a>>,
}

/// One occurrence: what describes it, and when it is.
pub(super) struct Occurrence<'a> {
    pub(super) key: OccurrenceKey,
    pub(super) part: &'a IcalComponent,
    pub(super) slot: EventSlot,
}

impl CalendarObject {
    /// The occurrences that overlap a stretch of time, as they come.
    pub(crate) fn events(
        &self,
        place: ObjectLocation<'_>,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<CalendarEvent>, BackendError> {
        let series = self.series(place.home).map_err(|why| unread(place, &why))?;
        let all = series.between(from, until)?;
        Ok(all.into_iter().map(|it| series.event(it, place)).collect())
    }

    /// One occurrence, or all of them as the first.
    pub(crate) fn event(
        &self,
        place: ObjectLocation<'_>,
        key: Option<OccurrenceKey>,
    ) -> Result<CalendarEvent, BackendError> {
        let key = self.narrowed(place, key)?;
        let series = self.series(place.home).map_err(|why| unread(place, &why))?;
        match key {
            Some(key) => {
                let id = format!("{}@{key}", place.id);
                let found = series.one(key).ok_or_else(|| BackendError::no("event", &id))?;
                Ok(series.event(found, place))
            }
            None => Ok(series.whole(place)),
        }
    }

    /// What a key means: one that names the only occurrence of an event means the event.
    pub(crate) fn narrowed(
        &self,
        place: ObjectLocation<'_>,
        key: Option<OccurrenceKey>,
    ) -> Result<Option<OccurrenceKey>, BackendError> {
        let Some(key) = key else { return Ok(None) };
        let series = self.series(place.home).map_err(|why| unread(place, &why))?;
        if series.repeats() {
            return Ok(Some(key));
        }
        if OccurrenceKey::of(&series.start) == key {
            return Ok(None);
        }
        Err(BackendError::no("event", &format!("{}@{key}", place.id)))
    }

    /// From when until when it may occur at all, in seconds since 1970 and with a day to spare on
    /// both sides, since whole days begin elsewhere at other times.
    pub(crate) fn span(&self, home: &CalendarOwner) -> (i64, i64) {
        let Ok(series) = self.series(home) else { return (i64::MIN, i64::MIN) };
        let zone = &home.zone;
        let mut first = bounds(&series.slot, zone).0;
        let mut last = series.last().unwrap_or(Timestamp::MAX);
        for part in series.changed.values() {
            if let Ok(slot) = slot(series.zones, part) {
                let (start, end) = bounds(&slot, zone);
                (first, last) = (first.min(start), last.max(end));
            }
        }
        for date in &series.dates {
            first = first.min(bounds(&series.occurrence(date).slot, zone).0);
        }
        (first.as_second().saturating_sub(86_400), last.as_second().saturating_add(86_400))
    }
}

impl<'a> Series<'a> {
    /// Whether there may be more than one of it.
    pub(super) fn repeats(&self) -> bool {
        !self.rules.is_empty() || !self.dates.is_empty() || !self.changed.is_empty()
    }

    fn home(&self) -> &'a TimeZone {
        self.zones.home
    }

    /// What describes an occurrence that has no component of its own, and when it is.
    pub(super) fn occurrence(&self, start: &DateOrTime) -> Occurrence<'a> {
        let key = OccurrenceKey::of(start);
        let own = self.lengths.get(&key);
        let onward = self.onward_at(start);
        let part = onward.map_or(self.master, |onward| onward.part);
        let slot = match (own, onward) {
            (Some(own), _) => own.clone(),
            (None, Some(onward)) => onward.slot_at(start).unwrap_or_else(|| self.slot_at(start)),
            (None, None) => self.slot_at(start),
        };
        Occurrence { key, part, slot }
    }

    /// What holds for an occurrence that was to start at a time, if anything was changed there.
    fn onward_at(&self, start: &DateOrTime) -> Option<&Onward<'a>> {
        let instant = |moment: &DateOrTime| moment.instant(self.zones.home);
        let start: Timestamp = instant(start);
        self.onward.iter().rev().find(|it| instant(&it.original) <= start)
    }

    /// Refuses to change a series in a way that would lose what others wrote of it.
    pub(super) fn is_plain(&self) -> Result<(), BackendError> {
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

    /// When an occurrence is if nothing was changed of it.
    pub(super) fn slot_at(&self, start: &DateOrTime) -> EventSlot {
        match (&self.slot, start) {
            (EventSlot::Timed { start: first, end }, DateOrTime::At(start)) => {
                let end = match self.nominal.and_then(|length| length.after(start)) {
                    Some(end) => Ok(end),
                    None => start.checked_add(first.duration_until(end)),
                };
                EventSlot::Timed {
                    start: start.clone(),
                    end: end.unwrap_or_else(|_| start.clone()),
                }
            }
            (EventSlot::Days { first, last }, DateOrTime::Day(day)) => {
                let length = *last - *first;
                EventSlot::Days { first: *day, last: day.checked_add(length).unwrap_or(*day) }
            }
            // An added date of the other kind has no length of its own.
            (EventSlot::Timed { .. }, DateOrTime::Day(day)) => {
                EventSlot::Days { first: *day, last: *day }
            }
            (EventSlot::Days { .. }, DateOrTime::At(start)) => {
                EventSlot::Timed { start: start.clone(), end: start.clone() }
            }
        }
    }

    /// Whether an original start was taken out.
    fn is_without(&self, start: &DateOrTime) -> bool {
        // Some programs take out whole days where they mean the occurrence of that day.
        self.without.contains(&OccurrenceKey::of(start))
            || self.without.contains(&OccurrenceKey::Day(start.date()))
    }

    /// The original starts from one time on and before another, sorted; those taken out are left
    /// out, those changed are not.
    fn starts(&self, from: Timestamp, until: Timestamp) -> Result<Vec<DateOrTime>, BackendError> {
        let mut all = BTreeMap::new();
        let beside = std::iter::once(&self.start).chain(&self.dates).cloned();
        let ruled = self.rules.iter().flat_map(|rule| self.ruled(rule, from, until));
        for start in beside.chain(ruled.take(MOST_OCCURRENCES + 1)) {
            let instant = start.instant(self.home());
            if instant >= from && instant < until && !self.is_without(&start) {
                all.insert(OccurrenceKey::of(&start), start);
            }
            if all.len() > MOST_OCCURRENCES {
                return Err(invalid(format!(
                    "a series occurs more than {MOST_OCCURRENCES} times in this stretch of time: \
                     ask for a shorter one"
                )));
            }
        }
        Ok(all.into_values().collect())
    }

    fn ruled(
        &self,
        rule: &Recurrence,
        from: Timestamp,
        until: Timestamp,
    ) -> Box<dyn Iterator<Item = DateOrTime>> {
        let most = MOST_OCCURRENCES + 1;
        match &self.start {
            DateOrTime::At(start) => {
                let zone = start.time_zone();
                let (from, until) = (from.to_zoned(zone.clone()), until.to_zoned(zone.clone()));
                let all: Vec<Zoned> =
                    self.moments(rule, start).between(&from, &until).take(most).collect();
                Box::new(all.into_iter().map(DateOrTime::At))
            }
            DateOrTime::Day(start) => {
                let day = |time: Timestamp| self.home().to_datetime(time).date();
                let (from, until) = (day(from), day(until));
                let until = until.tomorrow().unwrap_or(until);
                let all: Vec<_> = rule.dates_between(*start, from, until).take(most).collect();
                Box::new(all.into_iter().map(DateOrTime::Day))
            }
        }
    }

    /// The occurrences that overlap a stretch of time.
    fn between(
        &self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Occurrence<'a>>, BackendError> {
        let (beyond, before) = self.reach();
        let earliest = from.checked_sub(beyond).unwrap_or(Timestamp::MIN);
        let latest = until.checked_add(before).unwrap_or(Timestamp::MAX);
        let mut all = Vec::new();
        for start in self.starts(earliest, latest)? {
            if !self.changed.contains_key(&OccurrenceKey::of(&start)) {
                all.push(self.occurrence(&start));
            }
        }
        for (key, part) in &self.changed {
            let slot = slot(self.zones, part).ok();
            all.extend(slot.map(|slot| Occurrence { key: *key, part, slot }));
        }
        all.retain(|it| overlaps(&it.slot, self.home(), from, until));
        Ok(all)
    }

    /// How far occurrences go beyond their original start at most, and how far before it.
    fn reach(&self) -> (SignedDuration, SignedDuration) {
        // Some hours more, because days with a change of the clocks are not all as long.
        let spare = SignedDuration::from_hours(27);
        let (mut beyond, mut before) = (SignedDuration::ZERO, SignedDuration::ZERO);
        for slot in self.lengths.values().chain([&self.slot]) {
            let (start, end) = bounds(slot, self.home());
            beyond = beyond.max(start.duration_until(end));
        }
        for onward in &self.onward {
            let reach = onward.reach(self.home());
            (beyond, before) = (beyond.max(reach.0), before.max(reach.1));
        }
        let before = if self.onward.is_empty() { before } else { before.saturating_add(spare) };
        (beyond.saturating_add(spare), before)
    }

    fn moments(&self, rule: &Recurrence, start: &Zoned) -> RecurrenceMoments {
        rule.moments(start).shown_at(self.shown_by(start))
    }

    /// What the clocks of the series were to show.
    fn shown_by(&self, start: &Zoned) -> Time {
        self.shown.unwrap_or_else(|| start.time())
    }

    /// The occurrence of an original start.
    pub(super) fn one(&self, key: OccurrenceKey) -> Option<Occurrence<'a>> {
        if let Some(part) = self.changed.get(&key) {
            return Some(Occurrence { key, part, slot: slot(self.zones, part).ok()? });
        }
        self.original(key).map(|start| self.occurrence(&start))
    }

    /// The original start that a key names, in the zone of the series.
    pub(super) fn original(&self, key: OccurrenceKey) -> Option<DateOrTime> {
        let from = match key {
            OccurrenceKey::At(time) => time,
            OccurrenceKey::Day(day) => DateOrTime::Day(day).instant(self.home()),
        };
        let until = from.checked_add(1.second()).ok()?;
        self.starts(from, until).ok()?.into_iter().find(|start| OccurrenceKey::of(start) == key)
    }

    /// The first of it that was not taken out, whatever was changed of that one.
    pub(super) fn first(&self) -> DateOrTime {
        let mut first: Option<DateOrTime> = None;
        let mut take = |start: DateOrTime| {
            let is_earlier = first
                .as_ref()
                .is_none_or(|first| start.instant(self.home()) < first.instant(self.home()));
            if is_earlier {
                first = Some(start);
            }
        };
        let beside = std::iter::once(&self.start).chain(&self.dates);
        beside.filter(|start| !self.is_without(start)).cloned().for_each(&mut take);
        for rule in &self.rules {
            let mut starts = self.all_of(rule).take(MOST_OCCURRENCES);
            if let Some(start) = starts.find(|start| !self.is_without(start)) {
                take(start);
            }
        }
        first.unwrap_or_else(|| self.start.clone())
    }

    /// Whether everything of it was taken out.
    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.is_without(&self.first())
    }

    fn all_of(&self, rule: &Recurrence) -> Box<dyn Iterator<Item = DateOrTime>> {
        match &self.start {
            DateOrTime::At(start) => Box::new(self.moments(rule, start).map(DateOrTime::At)),
            DateOrTime::Day(start) => Box::new(rule.dates(*start).map(DateOrTime::Day)),
        }
    }

    /// When the last of it has ended, if that can be told.
    fn last(&self) -> Option<Timestamp> {
        let end_of = |start: &DateOrTime| bounds(&self.occurrence(start).slot, self.home()).1;
        let mut last = end_of(&self.start);
        for date in &self.dates {
            last = last.max(end_of(date));
        }
        for rule in &self.rules {
            if rule.end() == RecurrenceEnd::Never {
                return None;
            }
            let mut all = self.all_of(rule);
            let latest = all.by_ref().take(MOST_OCCURRENCES).last();
            if all.next().is_some() {
                return None;
            }
            last = latest.map_or(last, |latest| last.max(end_of(&latest)));
        }
        Some(last)
    }
}

fn overlaps(slot: &EventSlot, zone: &TimeZone, from: Timestamp, until: Timestamp) -> bool {
    let (start, end) = bounds(slot, zone);
    start < until && (end > from || (start == end && start >= from))
}
