//! How a time is said to a person.

use jiff::Zoned;
use jiff::civil::{Date, Time};

use crate::{PhraseTime, ReferenceTime};

/// A time in words, such as `Tue 24 Nov 2026 14:00` or `Tue 24 Nov 2026 (all day)`.
///
/// Parts of a second are left out. The zone is told where it is not the frame's, and the offset
/// where a clock shows the time twice. [`crate::read`] understands what it says.
pub fn say(when: &PhraseTime, frame: &ReferenceTime) -> String {
    match when {
        PhraseTime::Moment(moment) => {
            let clock = clock_at(moment, comes_twice(moment));
            format!("{} {clock}{}", day_words(moment.date()), zone_after(moment, frame))
        }
        PhraseTime::Day(day) => format!("{} (all day)", day_words(*day)),
        PhraseTime::Days { first, last } => {
            format!("{} to {} (all day)", day_words(*first), day_words(*last))
        }
        PhraseTime::Stretch { start, end } => stretch(start, end, frame),
        PhraseTime::Recurring { first, rule } => {
            let (clock, zone, day) = match &**first {
                PhraseTime::Moment(moment) => {
                    let clock = format!(" at {}", clock_words(moment.time()));
                    (clock + &zone_after(moment, frame), moment.time_zone(), moment.date())
                }
                PhraseTime::Stretch { start, end } => {
                    let (from, to) = (clock_words(start.time()), clock_words(end.time()));
                    let clock = format!(" from {from} to {to}{}", zone_after(start, frame));
                    (clock, start.time_zone(), start.date())
                }
                PhraseTime::Day(day) | PhraseTime::Days { first: day, .. } => {
                    (String::new(), frame.now.time_zone(), *day)
                }
                PhraseTime::Recurring { .. } => return say(first, frame),
            };
            // Whole days that recur together are weekends, as far as phrases say them.
            let name = matches!(**first, PhraseTime::Days { .. }).then_some("weekend");
            let rule = rule.words_at(&clock, zone, name);
            format!("{rule}, starting {}", day_words(day))
        }
    }
}

fn stretch(start: &Zoned, end: &Zoned, frame: &ReferenceTime) -> String {
    let zone = zone_after(end, frame);
    // An offset at one end alone would be taken for both.
    let has_offset = comes_twice(start) || comes_twice(end);
    let (from, to) = (clock_at(start, has_offset), clock_at(end, has_offset));
    if start.date() == end.date() && start.time_zone() == end.time_zone() {
        return format!("{} {from} to {to}{zone}", day_words(start.date()));
    }
    let (first, last) = (day_words(start.date()), day_words(end.date()));
    let start_zone =
        if start.time_zone() == end.time_zone() { String::new() } else { zone_after(start, frame) };
    format!("{first} {from}{start_zone} to {last} {to}{zone}")
}

/// Whether the clock shows the same time a second time, or never.
fn comes_twice(moment: &Zoned) -> bool {
    moment.time_zone().to_ambiguous_zoned(moment.datetime()).is_ambiguous()
}

fn clock_at(moment: &Zoned, has_offset: bool) -> String {
    let clock = clock_words(moment.time());
    if has_offset { format!("{clock} ({})", moment.strftime("%:z")) } else { clock }
}

fn zone_after(moment: &Zoned, frame: &ReferenceTime) -> String {
    if moment.time_zone() == frame.now.time_zone() {
        return String::new();
    }
    format!(" {}", zone_words(moment))
}

/// `Tue 24 Nov 2026`.
pub(crate) fn day_words(day: Date) -> String {
    day.strftime("%a %-d %b %Y").to_string()
}

/// `14:00`, with seconds where there are some.
pub(crate) fn clock_words(time: Time) -> String {
    let form = if time.second() == 0 { "%H:%M" } else { "%H:%M:%S" };
    time.strftime(form).to_string()
}

/// The name of a zone, or its offset where it has no name.
pub(crate) fn zone_words(moment: &Zoned) -> String {
    let zone = moment.time_zone();
    zone.iana_name().map_or_else(|| format!("UTC{}", moment.offset()), str::to_owned)
}
