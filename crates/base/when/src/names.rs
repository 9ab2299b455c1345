//! Names of weekdays, months and numbers, to read and to write.

use jiff::civil::Weekday;

const WEEKDAYS: [(Weekday, &str, &str, &[&str]); 7] = [
    (Weekday::Monday, "Monday", "Mon", &["monday", "mon", "mondays"]),
    (Weekday::Tuesday, "Tuesday", "Tue", &["tuesday", "tue", "tues", "tuesdays"]),
    (Weekday::Wednesday, "Wednesday", "Wed", &["wednesday", "wed", "weds", "wednesdays"]),
    (Weekday::Thursday, "Thursday", "Thu", &["thursday", "thu", "thur", "thurs", "thursdays"]),
    (Weekday::Friday, "Friday", "Fri", &["friday", "fri", "fridays"]),
    (Weekday::Saturday, "Saturday", "Sat", &["saturday", "sat", "saturdays"]),
    (Weekday::Sunday, "Sunday", "Sun", &["sunday", "sun", "sundays"]),
];

const MONTHS: [(&str, &[&str]); 12] = [
    ("January", &["january", "jan"]),
    ("February", &["february", "feb"]),
    ("March", &["march", "mar"]),
    ("April", &["april", "apr"]),
    ("May", &["may"]),
    ("June", &["june", "jun"]),
    ("July", &["july", "jul"]),
    ("August", &["august", "aug"]),
    ("September", &["september", "sep", "sept"]),
    ("October", &["october", "oct"]),
    ("November", &["november", "nov"]),
    ("December", &["december", "dec"]),
];

const NUMBERS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [(&str, u32); 8] = [
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];
const ORDINALS: [&str; 20] = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];
const TENTHS: [(&str, u32); 2] = [("twentieth", 20), ("thirtieth", 30)];

/// The weekday that a word names, and whether it does so in the plural.
pub(crate) fn weekday(word: &str) -> Option<(Weekday, bool)> {
    let row = WEEKDAYS.iter().find(|(.., names)| names.contains(&word))?;
    // `tues`, `thurs` and `weds` are short forms.
    Some((row.0, word.ends_with("days")))
}

/// The number of the month that a word names, from 1.
pub(crate) fn month(word: &str) -> Option<i8> {
    let index = MONTHS.iter().position(|(_, names)| names.contains(&word))?;
    i8::try_from(index + 1).ok()
}

/// A word for a number below 20, or for tens.
pub(crate) fn number(word: &str) -> Option<u32> {
    let small = NUMBERS.iter().position(|name| *name == word);
    let tens = || TENS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
    small.and_then(|number| u32::try_from(number).ok()).or_else(tens)
}

/// A word for the place in a row, up to 20 and thirty.
pub(crate) fn ordinal(word: &str) -> Option<u32> {
    let small = ORDINALS.iter().position(|name| *name == word).filter(|number| *number > 0);
    let tens = || TENTHS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
    small.and_then(|number| u32::try_from(number).ok()).or_else(tens)
}

pub(crate) fn weekday_name(weekday: Weekday) -> &'static str {
    WEEKDAYS.iter().find(|row| row.0 == weekday).map_or("", |row| row.1)
}

pub(crate) fn weekday_short(weekday: Weekday) -> &'static str {
    WEEKDAYS.iter().find(|row| row.0 == weekday).map_or("", |row| row.2)
}

/// The name of a month from 1 to 12.
pub(crate) fn month_name(month: i8) -> &'static str {
    let index = usize::try_from(month).unwrap_or(0).wrapping_sub(1);
    MONTHS.get(index).map_or("", |(name, _)| name)
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match items.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => items.concat(),
    }
}
