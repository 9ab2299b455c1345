//! Words, numbers and signs of a phrase, with what one word alone says: ISO times and zones.

use jiff::Span;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

use crate::error::{LENGTHS, TIMES, TimeParseError, TimeParseProblem};
use crate::iso::{self, IsoTime};

/// The longest text that is read, in characters.
pub(crate) const LONGEST: usize = 200;

#[derive(Debug, Clone)]
pub(crate) enum PhraseTokenKind {
    Number,
    Word,
    Iso(IsoTime),
    Zone(TimeZone),
    Offset(Offset),
    Length(Span),
}

#[derive(Debug, Clone)]
pub(crate) struct PhraseToken {
    pub(crate) kind: PhraseTokenKind,
    /// In lower case; a sign is a word of one character.
    pub(crate) text: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Whether nothing stands between it and the one before.
    pub(crate) is_glued: bool,
}

/// The areas of the time zone database, by which a name is known to be meant as one.
const AREAS: [&str; 12] = [
    "africa",
    "america",
    "antarctica",
    "arctic",
    "asia",
    "atlantic",
    "australia",
    "europe",
    "indian",
    "pacific",
    "etc",
    "us",
];

/// Letters that stand for several zones, or for one half of the year, and names without doubt.
const LETTERS: [(&[&str], &str); 16] = [
    (&["est", "edt", "et"], "`America/New_York` or `Australia/Sydney`"),
    (&["cst", "cdt", "ct"], "`America/Chicago` or `Asia/Shanghai`"),
    (&["mst", "mdt", "mt"], "`America/Denver` or `America/Phoenix`"),
    (&["pst", "pdt", "pt"], "`America/Los_Angeles` or `Asia/Manila`"),
    (&["ast", "adt"], "`America/Halifax` or `Asia/Riyadh`"),
    (&["akst", "akdt"], "`America/Anchorage`"),
    (&["hst"], "`Pacific/Honolulu`"),
    (&["bst"], "`Europe/London` or `Asia/Dhaka`"),
    (&["ist"], "`Asia/Kolkata`, `Europe/Dublin` or `Asia/Jerusalem`"),
    (&["wet", "west"], "`Europe/Lisbon`"),
    (&["cet", "cest", "mez", "mesz"], "`Europe/Zurich` or `Europe/Paris`"),
    (&["eet", "eest"], "`Europe/Athens` or `Africa/Cairo`"),
    (&["msk"], "`Europe/Moscow`"),
    (&["jst", "kst"], "`Asia/Tokyo` or `Asia/Seoul`"),
    (&["sgt", "hkt"], "`Asia/Singapore` or `Asia/Hong_Kong`"),
    (&["aest", "aedt", "acst", "awst", "nzst", "nzdt"], "`Australia/Sydney` or `Pacific/Auckland`"),
];

/// The words of a text within its bounds; `cure` is what can be said instead.
pub(crate) fn lex(text: &str, cure: &str) -> Result<Vec<PhraseToken>, TimeParseError> {
    if text.chars().nth(LONGEST).is_some() {
        let why = format!("is longer than the {LONGEST} characters that are read");
        return Err(TimeParseError::new(TimeParseProblem::TooLong, text, &why, cure));
    }
    let mut tokens = Vec::new();
    let mut from = 0;
    for chunk in text.split(char::is_whitespace) {
        if !chunk.is_empty() {
            whole(chunk, from, &mut tokens)?;
        }
        // A sign of space may be longer than a byte.
        let end = from + chunk.len();
        from = end + text.get(end..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
    if tokens.is_empty() {
        return Err(TimeParseError::new(
            TimeParseProblem::Empty,
            text.trim(),
            "says nothing",
            cure,
        ));
    }
    Ok(tokens)
}

/// A chunk between spaces that says something as a whole, or else its letters and digits.
fn whole(chunk: &str, from: usize, tokens: &mut Vec<PhraseToken>) -> Result<(), TimeParseError> {
    let core = chunk.trim_start_matches('(').trim_end_matches([',', ';', ')', '!', '?', '.']);
    let start = from + (chunk.len() - chunk.trim_start_matches('(').len());
    let mut push = |kind: PhraseTokenKind, text: &str, at: usize, length: usize| {
        let (from, to) = (start + at, start + at + length);
        tokens.push(PhraseToken { kind, text: text.to_owned(), from, to, is_glued: false });
    };
    if iso::is_iso(core) {
        let (first, second) = halves(core);
        push(PhraseTokenKind::Iso(iso::read(first)?), "", 0, first.len());
        let after = first.len() + 1;
        match second {
            None => {}
            Some(length) if length.starts_with(['P', 'p']) => {
                push(PhraseTokenKind::Word, "for", first.len(), 1);
                let span = length.to_uppercase().parse().map_err(|_| {
                    TimeParseError::new(
                        TimeParseProblem::Impossible,
                        length,
                        "is no duration",
                        LENGTHS,
                    )
                })?;
                push(PhraseTokenKind::Length(span), "", after, length.len());
            }
            Some(second) => {
                push(PhraseTokenKind::Word, "-", first.len(), 1);
                push(PhraseTokenKind::Iso(iso::read(second)?), "", after, second.len());
            }
        }
    } else if let Some(kind) = zone(core, chunk.starts_with('('))? {
        push(kind, "", 0, core.len());
    } else if core.len() > 8 && core.bytes().all(|byte| byte.is_ascii_digit()) {
        let why = "may be seconds since 1970 or something else";
        return Err(TimeParseError::new(TimeParseProblem::Ambiguous, core, why, TIMES));
    } else {
        letters(chunk, from, tokens);
    }
    Ok(())
}

/// The two sides of an interval; a slash in brackets is one of a zone.
fn halves(core: &str) -> (&str, Option<&str>) {
    let mut depth = 0;
    for (at, c) in core.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            '/' if depth == 0 => {
                return (core.get(..at).unwrap_or(core), core.get(at + 1..));
            }
            _ => {}
        }
    }
    (core, None)
}

/// A zone or an offset; one that begins with a minus may be the end of a range, unless it is in
/// brackets.
fn zone(core: &str, is_in_brackets: bool) -> Result<Option<PhraseTokenKind>, TimeParseError> {
    let lower = core.to_lowercase();
    if matches!(&*lower, "utc" | "gmt") {
        return Ok(Some(PhraseTokenKind::Zone(TimeZone::UTC)));
    }
    let numeric = lower.strip_prefix("utc").or_else(|| lower.strip_prefix("gmt"));
    let is_bare = numeric.is_none();
    let is_signed = lower.starts_with('+') || (is_in_brackets && lower.starts_with(['-', '−']));
    if let Some(number) = numeric.or(Some(&*lower).filter(|_| is_signed))
        && let Some(offset) = offset(number, is_bare)
    {
        return Ok(Some(PhraseTokenKind::Offset(offset)));
    }
    if let Some((_, names)) = LETTERS.iter().find(|(letters, _)| letters.contains(&&*lower)) {
        let why = "is not one zone for sure";
        return Err(TimeParseError::new(
            TimeParseProblem::Ambiguous,
            core,
            why,
            &format!("say {names}"),
        ));
    }
    if !lower.split_once('/').is_some_and(|(area, _)| AREAS.contains(&area)) {
        return Ok(None);
    }
    let found = TimeZoneDatabase::bundled().get(core).map(PhraseTokenKind::Zone);
    found.map(Some).map_err(|_| {
        let why = "is no name of the time zone database";
        TimeParseError::new(
            TimeParseProblem::Impossible,
            core,
            why,
            "say it like `Europe/Zurich` or `UTC`",
        )
    })
}

/// `+02:00` and `+0200`; after `UTC` also `+2`.
fn offset(text: &str, is_bare: bool) -> Option<Offset> {
    let (sign, digits) = match text.strip_prefix('+') {
        Some(digits) => (1, digits),
        None => (-1, text.strip_prefix(['-', '−'])?),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None if is_bare => return None,
        None => (digits, "0"),
    };
    let is_number = |text: &str| text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(hours) || !is_number(minutes) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let is_within = hours <= 14 && minutes < 60;
    Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok().filter(|_| is_within)
}

/// Splits where letters, digits and signs meet.
fn letters(chunk: &str, from: usize, tokens: &mut Vec<PhraseToken>) {
    let mut rest = chunk;
    while let Some(c) = rest.chars().next() {
        let at = from + (chunk.len() - rest.len());
        let is_letter = |c: char| c.is_alphabetic() || c == '\'' || c == '’';
        let (kind, length, text) = if c.is_ascii_digit() {
            let length = rest.bytes().take_while(u8::is_ascii_digit).count();
            (PhraseTokenKind::Number, length, rest.get(..length).unwrap_or_default().to_owned())
        } else if let Some((length, half)) = half_of_day(rest) {
            (PhraseTokenKind::Word, length, half.to_owned())
        } else if is_letter(c) {
            let length = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default();
            (PhraseTokenKind::Word, length, word.to_lowercase().replace('’', "'"))
        } else {
            let text = match c {
                '–' | '—' | '−' | '‐' | '‑' => '-',
                ';' | '(' | ')' | '!' | '?' => ',',
                other => other,
            };
            (PhraseTokenKind::Word, c.len_utf8(), text.to_string())
        };
        let is_glued = rest.len() < chunk.len();
        tokens.push(PhraseToken { kind, text, from: at, to: at + length, is_glued });
        rest = rest.get(length..).unwrap_or_default();
    }
}

/// `a.m.` and `p.m.`, which are one word.
fn half_of_day(rest: &str) -> Option<(usize, &'static str)> {
    let start: String = rest.chars().take(4).collect::<String>().to_ascii_lowercase();
    let half = match start.get(..3)? {
        "a.m" => "am",
        "p.m" => "pm",
        _ => return None,
    };
    Some((if start.ends_with("m.") { 4 } else { 3 }, half))
}
