//! Phrases against fixed clocks, each with its whole outcome: value, words and notes.

use jiff::Zoned;
use toolcrib_when::{PhraseTime, ReferenceTime, duration, read, say};

/// Clocks, and what is said at them; see `rendered` for the form.
const PHRASES: &str = include_str!("phrases.txt");
const DURATIONS: &str = include_str!("durations.txt");

pub(crate) fn frame(now: &str) -> ReferenceTime {
    ReferenceTime::new(now.parse().unwrap())
}

fn moment(moment: &Zoned) -> String {
    moment.to_string()
}

/// A time as data.
fn value(when: &PhraseTime) -> String {
    match when {
        PhraseTime::Moment(at) => moment(at),
        PhraseTime::Day(day) => day.to_string(),
        PhraseTime::Days { first, last } => format!("{first} to {last}"),
        PhraseTime::Stretch { start, end } => format!("{} to {}", moment(start), moment(end)),
        PhraseTime::Recurring { first, rule } => format!("{rule} from {}", value(first)),
    }
}

/// The outcome of a phrase: its value, how it is said, and a line for each note.
fn outcome(phrase: &str, frame: &ReferenceTime) -> String {
    match read(phrase, frame) {
        Ok(reading) => {
            let past = if reading.is_past(frame) { " [past]" } else { "" };
            let notes = reading.notes.iter().map(|note| format!("\n    - {note}"));
            let said = say(&reading.when, frame);
            let value = value(&reading.when);
            format!("{phrase}\n    = {value}{past}\n    = {said}{}\n", notes.collect::<String>())
        }
        Err(error) => format!("{phrase}\n    ! {:?}: {error}\n", error.problem()),
    }
}

/// The same text with every outcome made anew.
///
/// A line that starts with `@` is the clock of what follows, an indented one belongs to an
/// outcome, one with `#` is a heading, and every other one is a phrase.
fn rendered(text: &str, outcome: impl Fn(&str, Option<&ReferenceTime>) -> String) -> String {
    let mut made = String::new();
    let mut clock = None;
    for line in text.lines().filter(|line| !line.starts_with("    ")) {
        if let Some(now) = line.strip_prefix("@ ") {
            clock = Some(frame(now));
        }
        if line.starts_with(['@', '#']) || line.is_empty() {
            made.push_str(line);
            made.push('\n');
        } else {
            made += &outcome(line, clock.as_ref());
        }
    }
    made
}

/// Compares line by line, so that what differs can be seen.
fn compare(made: &str, expected: &str) {
    let differing = made.lines().zip(expected.lines()).find(|(made, expected)| made != expected);
    assert_eq!(differing, None, "left is what is made, right what is expected");
    assert_eq!(made.lines().count(), expected.lines().count());
}

#[test]
fn every_phrase_comes_out_as_the_table_says() {
    let made = rendered(PHRASES, |phrase, frame| outcome(phrase, frame.unwrap()));
    if std::env::var_os("WRITE_TABLES").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/phrases.txt");
        std::fs::write(path, &made).unwrap();
        return;
    }
    compare(&made, PHRASES);
    let phrases = PHRASES.lines().filter(|line| !line.starts_with([' ', '@', '#']));
    assert!(phrases.filter(|line| !line.is_empty()).count() >= 200);
}

#[test]
fn every_duration_comes_out_as_the_table_says() {
    let made = rendered(DURATIONS, |text, _| match duration(text) {
        Ok(span) => format!("{text}\n    = {span}\n"),
        Err(error) => format!("{text}\n    ! {:?}: {error}\n", error.problem()),
    });
    if std::env::var_os("WRITE_TABLES").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/durations.txt");
        std::fs::write(path, &made).unwrap();
        return;
    }
    compare(&made, DURATIONS);
}

/// What is said of a time reads back as the same time, but for parts of a second, and years that
/// nobody means.
#[test]
fn what_the_table_says_in_words_reads_back() {
    let mut clock = None;
    let mut wrong = Vec::new();
    for line in PHRASES.lines().filter(|line| !line.starts_with([' ', '#']) && !line.is_empty()) {
        if let Some(now) = line.strip_prefix("@ ") {
            clock = Some(frame(now));
            continue;
        }
        let frame = clock.as_ref().unwrap();
        let is_odd = line.starts_with("0000") || line.ends_with(".5");
        let Some(reading) = read(line, frame).ok().filter(|_| !is_odd) else { continue };
        let said = say(&reading.when, frame);
        let again = read(&said, frame).map(|again| again.when);
        if again.as_ref() != Ok(&reading.when) {
            let again = again.map_or_else(|error| error.to_string(), |when| value(&when));
            wrong.push(format!("{line}: {} said as {said}: {again}", value(&reading.when)));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
