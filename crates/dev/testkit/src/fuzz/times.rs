//! Phrases of time, durations and rules of recurrence as strangers may write them.

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};
use toolcrib_when::{PhraseTime, Recurrence, ReferenceTime, duration, read, say};

/// How many times of a rule are looked at.
const TIMES: usize = 20;

/// A clock on the first line, and on the others a phrase, a duration or a rule.
///
/// Whatever is read is sound: an end comes after its start, a duration is longer than nothing, a
/// rule is written in one form and its times only go on.
pub fn times(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (now, text) = text.split_once('\n').unwrap_or(("", &text));
    let now =
        now.parse().unwrap_or_else(|_| Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC));
    if let Ok(rule) = text.parse::<Recurrence>() {
        follow(&rule, &now);
    }
    if let Ok(span) = duration(text) {
        assert!(span.is_positive(), "it takes no time");
    }
    let frame = ReferenceTime::new(now);
    let Ok(reading) = read(text, &frame) else { return };
    sound(&reading.when);
    assert!(!say(&reading.when, &frame).is_empty(), "nothing is said");
    assert!(reading.notes.iter().all(|note| !note.to_string().is_empty()), "an empty note");
    assert_eq!(read(text, &frame), Ok(reading), "read twice, it says two things");
}

fn sound(when: &PhraseTime) {
    match when {
        PhraseTime::Moment(_) | PhraseTime::Day(_) => {}
        PhraseTime::Days { first, last } => assert!(first < last, "the days go backwards"),
        PhraseTime::Stretch { start, end } => assert!(start < end, "the stretch goes backwards"),
        PhraseTime::Recurring { first, rule } => {
            sound(first);
            if let PhraseTime::Moment(start) | PhraseTime::Stretch { start, .. } = &**first {
                assert_eq!(rule.moments(start).next().as_ref(), Some(start), "it starts elsewhere");
                follow(rule, start);
            }
        }
    }
}

fn follow(rule: &Recurrence, start: &Zoned) {
    assert_eq!(rule.to_string().parse().as_ref(), Ok(rule), "written and read, it is another");
    let days: Vec<Date> = rule.dates(start.date()).take(TIMES).collect();
    assert!(days.is_sorted_by(|day, next| day < next), "the days do not go on");
    let moments: Vec<Zoned> = rule.moments(start).take(TIMES).collect();
    assert!(moments.is_sorted_by(|moment, next| moment < next), "the moments do not go on");
}
