//! Recurrences: `every other Friday`, `monthly on the 15th`, `first Monday of every month`.

use jiff::civil::Weekday;

use super::cursor::PhraseCursor;
use super::day::{WORKING, nth_of};
use crate::error::{REPEATS, TimeParseError, TimeParseProblem};
use crate::names;
use crate::phrase::syntax::{DayKind, WithWords};
use crate::recurrence::{Frequency, RecurrenceWeekday};

/// What was said of how something comes again.
#[derive(Debug, Clone)]
pub(crate) struct RepeatPhrase {
    pub(crate) frequency: Frequency,
    pub(crate) interval: u32,
    pub(crate) days: Vec<RecurrenceWeekday>,
    pub(crate) month_days: Vec<i8>,
    pub(crate) months: Vec<i8>,
    pub(crate) positions: Vec<i16>,
    /// Saturday and Sunday, as one where there is no time of day.
    pub(crate) is_weekend: bool,
}

impl RepeatPhrase {
    fn every(interval: u32, frequency: Frequency) -> Self {
        Self {
            frequency,
            interval,
            days: Vec::new(),
            month_days: Vec::new(),
            months: Vec::new(),
            positions: Vec::new(),
            is_weekend: false,
        }
    }

    fn weekly(interval: u32, weekdays: impl IntoIterator<Item = Weekday>) -> Self {
        let mut repeat = Self::every(interval, Frequency::Weekly);
        repeat.add_weekdays(weekdays);
        repeat
    }

    fn add_weekdays(&mut self, weekdays: impl IntoIterator<Item = Weekday>) {
        for weekday in weekdays {
            let day = RecurrenceWeekday { nth: 0, weekday };
            if !self.days.contains(&day) {
                self.days.push(day);
            }
        }
        self.days.sort_by_key(|day| (day.nth, day.weekday.to_monday_zero_offset()));
    }

    fn add_nth(&mut self, nth: i8, of: DayKind) {
        match of {
            DayKind::Day => self.month_days.push(nth),
            DayKind::Weekday(weekday) => self.days.push(RecurrenceWeekday { nth, weekday }),
            DayKind::Working => {
                self.add_weekdays(WORKING);
                self.positions.push(i16::from(nth));
            }
        }
    }

    /// Whether it is weekends and nothing else, so that both days can be one.
    pub(crate) fn is_whole_weekend(&self) -> bool {
        self.is_weekend && self.days.len() == 1
    }

    /// Whether nothing but the period says on which day it falls.
    pub(crate) fn is_bare(&self) -> bool {
        self.days.is_empty() && self.month_days.is_empty() && self.months.is_empty()
    }
}

/// A way to read a recurrence; where it finds none, the cursor stands anywhere.
type RepeatParser = fn(&mut PhraseCursor<'_>) -> Result<Option<RepeatPhrase>, TimeParseError>;

/// A recurrence, if one is said here.
pub(crate) fn repeat(
    cursor: &mut PhraseCursor<'_>,
) -> Result<Option<WithWords<RepeatPhrase>>, TimeParseError> {
    let start = cursor.at;
    let tries: [RepeatParser; 4] = [adverb, plural, of_every, every];
    for attempt in tries {
        cursor.at = start;
        if let Some(mut repeat) = attempt(cursor)? {
            choices(cursor, &mut repeat)?;
            checked(&repeat, &cursor.said(start))?;
            return Ok(Some(WithWords { what: repeat, said: cursor.said(start) }));
        }
    }
    cursor.at = start;
    Ok(None)
}

fn checked(repeat: &RepeatPhrase, said: &str) -> Result<(), TimeParseError> {
    let is_numbered = repeat.days.iter().any(|day| day.nth != 0) || !repeat.positions.is_empty();
    let is_of_month = is_numbered || !repeat.month_days.is_empty();
    let has_months = !repeat.months.is_empty();
    let is_fault = match repeat.frequency {
        Frequency::Daily => is_of_month || has_months || !repeat.days.is_empty(),
        Frequency::Weekly => is_of_month || has_months,
        Frequency::Monthly => has_months,
        Frequency::Yearly => !has_months && (is_of_month || !repeat.days.is_empty()),
    };
    if is_fault {
        let why = "says days that do not go with how often it is";
        return Err(TimeParseError::new(TimeParseProblem::Conflict, said, why, REPEATS));
    }
    Ok(())
}

/// `daily`, `weekly` and their like.
fn adverb(cursor: &mut PhraseCursor<'_>) -> Result<Option<RepeatPhrase>, TimeParseError> {
    use Frequency::{Daily, Monthly, Weekly, Yearly};
    let (interval, frequency) = match cursor.word() {
        "daily" => (1, Daily),
        "weekly" => (1, Weekly),
        "fortnightly" => (2, Weekly),
        "monthly" => (1, Monthly),
        "quarterly" => (3, Monthly),
        "yearly" | "annually" => (1, Yearly),
        "biweekly" | "bimonthly" | "biannually" | "semiweekly" | "semimonthly" => {
            let why = "may be twice in one or once in two";
            let cure = "say `every 2 weeks`, `every 2 months` or the days";
            return Err(TimeParseError::new(TimeParseProblem::Ambiguous, cursor.word(), why, cure));
        }
        "hourly" => return Err(too_often(cursor.word())),
        _ => return Ok(None),
    };
    cursor.at += 1;
    Ok(Some(RepeatPhrase::every(interval, frequency)))
}

fn too_often(part: &str) -> TimeParseError {
    let why = "repeats within a day, which is not followed here";
    TimeParseError::new(TimeParseProblem::Unsupported, part, why, REPEATS)
}

/// `Mondays`, `weekdays`, `Tuesdays and Thursdays`.
#[expect(clippy::unnecessary_wraps, reason = "it is one of several attempts")]
fn plural(cursor: &mut PhraseCursor<'_>) -> Result<Option<RepeatPhrase>, TimeParseError> {
    if cursor.eat_one(&["weekdays", "workdays"]).is_some() {
        return Ok(Some(RepeatPhrase::weekly(1, WORKING)));
    }
    if cursor.eat("weekends") {
        return Ok(Some(weekends(1)));
    }
    if !names::weekday(cursor.word()).is_some_and(|(_, is_plural)| is_plural) {
        return Ok(None);
    }
    Ok(Some(RepeatPhrase::weekly(1, weekdays(cursor))))
}

fn weekends(interval: u32) -> RepeatPhrase {
    RepeatPhrase { is_weekend: true, ..RepeatPhrase::weekly(interval, [Weekday::Saturday]) }
}

/// Weekdays in a row: `Mon, Wed and Fri`, `Monday to Friday`; none where none stands.
fn weekdays(cursor: &mut PhraseCursor<'_>) -> Vec<Weekday> {
    let mut days: Vec<Weekday> = Vec::new();
    while let Some((weekday, _)) = names::weekday(cursor.word()) {
        cursor.at += 1;
        days.push(weekday);
        let mut ahead = *cursor;
        let joint = ahead.eat_one(&[",", "and", "&", "-", "to", "through", "thru"]);
        if joint == Some(",") {
            ahead.eat("and");
        }
        let Some((next, _)) = names::weekday(ahead.word()).filter(|_| joint.is_some()) else {
            break;
        };
        if matches!(joint, Some("-" | "to" | "through" | "thru")) {
            let between = weekday.cycle_forward().skip(1).take_while(|day| *day != next);
            days.extend(between);
        }
        *cursor = ahead;
    }
    days
}

/// `first Monday of every month`, `the 15th of each month`.
fn of_every(cursor: &mut PhraseCursor<'_>) -> Result<Option<RepeatPhrase>, TimeParseError> {
    cursor.eat("the");
    let mut repeat = RepeatPhrase::every(1, Frequency::Monthly);
    if !numbered(cursor, &mut repeat)? {
        return Ok(None);
    }
    cursor.eat_one(&["of", "in"]);
    if cursor.eat_one(&["every", "each"]).is_none() {
        return Ok(None);
    }
    repeat.interval = interval(cursor);
    Ok(cursor.eat_one(&["month", "months"]).is_some().then_some(repeat))
}

/// `every`, and what comes after it.
fn every(cursor: &mut PhraseCursor<'_>) -> Result<Option<RepeatPhrase>, TimeParseError> {
    let start = cursor.at;
    if cursor.eat_one(&["every", "each"]).is_none() {
        return Ok(None);
    }
    cursor.eat("single");
    let after = cursor.at;
    if let Some(repeat) = date_of_year(cursor)? {
        return Ok(Some(repeat));
    }
    cursor.at = after;
    if let Some(repeat) = of_month(cursor)? {
        return Ok(Some(repeat));
    }
    cursor.at = after;
    let interval = interval(cursor);
    if interval == 0 || interval > 1_000 {
        let why = "is no number from 1 to 1000";
        return Err(TimeParseError::new(
            TimeParseProblem::OutOfRange,
            &cursor.said(start),
            why,
            REPEATS,
        ));
    }
    let days = weekdays(cursor);
    if !days.is_empty() {
        return Ok(Some(RepeatPhrase::weekly(interval, days)));
    }
    let repeat = match cursor.word() {
        // The part of the day is left for the time.
        "morning" | "afternoon" | "evening" | "night" if interval == 1 => {
            return Ok(Some(RepeatPhrase::every(1, Frequency::Daily)));
        }
        "day" | "days" => RepeatPhrase::every(interval, Frequency::Daily),
        "week" | "weeks" => RepeatPhrase::every(interval, Frequency::Weekly),
        "fortnight" => RepeatPhrase::every(2 * interval, Frequency::Weekly),
        "month" | "months" => RepeatPhrase::every(interval, Frequency::Monthly),
        "quarter" | "quarters" => RepeatPhrase::every(3 * interval, Frequency::Monthly),
        "year" | "years" => RepeatPhrase::every(interval, Frequency::Yearly),
        "weekday" | "workday" if interval == 1 => RepeatPhrase::weekly(1, WORKING),
        "weekend" => weekends(interval),
        "working" | "business" if cursor.ahead(1) == "day" && interval == 1 => {
            cursor.at += 1;
            RepeatPhrase::weekly(1, WORKING)
        }
        "hour" | "hours" | "minute" | "minutes" | "min" | "h" | "second" | "seconds" => {
            return Err(too_often(&cursor.part(start, cursor.at + 1)));
        }
        _ => {
            let why = "does not say what it is every one of";
            let end = if cursor.is_at_end() { cursor.at } else { cursor.at + 1 };
            let said = cursor.part(start, end);
            return Err(TimeParseError::new(TimeParseProblem::Unknown, &said, why, REPEATS));
        }
    };
    cursor.at += 1;
    Ok(Some(repeat))
}

/// How many periods lie between two times: `other`, `2`, `third`.
fn interval(cursor: &mut PhraseCursor<'_>) -> u32 {
    if cursor.eat_one(&["other", "alternate"]).is_some() {
        return 2;
    }
    let start = cursor.at;
    // `second` is a number here and no length of time.
    if let Some(number) = cursor.ordinal() {
        return number;
    }
    cursor.at = start;
    cursor.number().unwrap_or(1)
}

/// `3 May`, `May 3rd`, `3rd of May` after `every`.
fn date_of_year(cursor: &mut PhraseCursor<'_>) -> Result<Option<RepeatPhrase>, TimeParseError> {
    let start = cursor.at;
    cursor.eat("the");
    let month = names::month(cursor.word());
    cursor.at += usize::from(month.is_some());
    cursor.eat_one(&[".", "the"]);
    let Some(day) = cursor.ordinal().or_else(|| cursor.digits().map(|(number, _)| number)) else {
        return Ok(None);
    };
    cursor.eat_one(&["of", "."]);
    let month = month.or_else(|| {
        let month = names::month(cursor.word());
        cursor.at += usize::from(month.is_some());
        month
    });
    let Some(month) = month else { return Ok(None) };
    let longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let longest = usize::try_from(month - 1).ok().and_then(|at| longest.get(at)).copied();
    let Some(day) = i8::try_from(day).ok().filter(|day| (1..=longest.unwrap_or(31)).contains(day))
    else {
        let why = "is no day of that month";
        return Err(TimeParseError::new(
            TimeParseProblem::Impossible,
            &cursor.said(start),
            why,
            REPEATS,
        ));
    };
    let mut repeat = RepeatPhrase::every(1, Frequency::Yearly);
    repeat.months.push(month);
    repeat.month_days.push(day);
    Ok(Some(repeat))
}

/// `first Monday`, `15th`, `last day of the month` after `every`.
fn of_month(cursor: &mut PhraseCursor<'_>) -> Result<Option<RepeatPhrase>, TimeParseError> {
    let start = cursor.at;
    let mut repeat = RepeatPhrase::every(1, Frequency::Monthly);
    if !numbered(cursor, &mut repeat)? {
        return Ok(None);
    }
    let mut ahead = *cursor;
    let is_of = ahead.eat_one(&["of", "in"]).is_some();
    ahead.eat_one(&["the", "a", "each", "every"]);
    if is_of && ahead.eat("month") {
        *cursor = ahead;
        return Ok(Some(repeat));
    }
    // Every second Tuesday: of the month, or every other one?
    let is_doubtful =
        repeat.days.iter().any(|day| day.nth > 1) || repeat.positions.iter().any(|p| *p > 1);
    let is_unit = repeat.month_days.iter().any(|_| cursor.part(start, cursor.at).ends_with("day"));
    if is_unit && repeat.month_days != [-1] {
        return Ok(None);
    }
    if is_doubtful {
        let said = cursor.said(start);
        let nth = repeat.days.first().map_or(2, |day| day.nth);
        let name = repeat.days.first().map_or("Monday", |day| names::weekday_name(day.weekday));
        let cure = format!("say `every {nth} weeks on {name}` or `{said} of every month`");
        return Err(TimeParseError::new(
            TimeParseProblem::Ambiguous,
            &said,
            "may count weeks or months",
            &cure,
        ));
    }
    Ok(Some(repeat))
}

/// Days of a month by their number: `first Monday and third Monday`, `15th and 30th`.
fn numbered(
    cursor: &mut PhraseCursor<'_>,
    repeat: &mut RepeatPhrase,
) -> Result<bool, TimeParseError> {
    let mut found = false;
    loop {
        let mut ahead = *cursor;
        if found && ahead.eat_one(&[",", "and", "&"]).is_none() {
            return Ok(true);
        }
        ahead.eat("and");
        ahead.eat("the");
        let start = ahead.at;
        if let Some((nth, of)) = nth_of(&mut ahead) {
            if !(-5..=5).contains(&nth) && of != DayKind::Day
                || !(-31..=31).contains(&nth)
                || nth == 0
            {
                let why = "is no day of a month";
                return Err(TimeParseError::new(
                    TimeParseProblem::Impossible,
                    &ahead.said(start),
                    why,
                    REPEATS,
                ));
            }
            repeat.add_nth(nth, of);
        } else {
            ahead.at = start;
            let is_unit = |cursor: &PhraseCursor<'_>| {
                matches!(
                    cursor.word(),
                    "week" | "month" | "year" | "quarter" | "weekend" | "hour" | "minute"
                )
            };
            match ahead.ordinal() {
                Some(day @ 1..=31) if !is_unit(&ahead) => {
                    repeat.month_days.push(i8::try_from(day).unwrap_or(1));
                }
                Some(32..) => {
                    let why = "is no day of a month";
                    return Err(TimeParseError::new(
                        TimeParseProblem::Impossible,
                        &ahead.said(start),
                        why,
                        REPEATS,
                    ));
                }
                Some(_) | None => return Ok(found),
            }
        }
        found = true;
        *cursor = ahead;
    }
}

/// The days after `on`.
fn choices(cursor: &mut PhraseCursor<'_>, repeat: &mut RepeatPhrase) -> Result<(), TimeParseError> {
    loop {
        let mut ahead = *cursor;
        ahead.eat(",");
        if ahead.eat_one(&["on", "in"]).is_none() && !ahead.eat("and") {
            return Ok(());
        }
        let days = weekdays(&mut ahead);
        if !days.is_empty() {
            if repeat.frequency == Frequency::Daily {
                return Ok(());
            }
            repeat.add_weekdays(days);
            *cursor = ahead;
            continue;
        }
        let start = ahead.at;
        if repeat.frequency == Frequency::Yearly
            && repeat.months.is_empty()
            && let Some(found) = date_of_year(&mut ahead)?
        {
            repeat.months = found.months;
            repeat.month_days = found.month_days;
            *cursor = ahead;
            continue;
        }
        ahead.at = start;
        ahead.eat("the");
        if !numbered(&mut ahead, repeat)? {
            return Ok(());
        }
        if ahead.eat_one(&["of", "in"]).is_some()
            && !(ahead.eat_all(&["the", "month"]) || ahead.eat_all(&["each", "month"]))
        {
            let Some(month) = names::month(ahead.word()) else { return Ok(()) };
            ahead.at += 1;
            repeat.months.push(month);
        }
        *cursor = ahead;
    }
}
