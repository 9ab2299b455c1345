//! Content lines: unfolded, taken apart, and written again.

use std::fmt::Write as _;

/// Octets of a line before it is folded (RFC 5545, section 3.1).
const WIDTH: usize = 75;
/// What says when something is: a line of these that cannot be read must not be passed over.
const OF_TIME: [&str; 8] =
    ["DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID"];
/// Parameters of one property that are kept.
const MOST_PARAMETERS: usize = 64;

/// One property: `DTSTART;TZID=Europe/Zurich:20261123T090000`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IcalProperty {
    /// In upper case.
    pub name: String,
    /// Names in upper case, and their values without quotes.
    pub parameters: Vec<(String, Vec<String>)>,
    /// As it stands on the line: what is escaped in it depends on its type.
    pub value: String,
}

impl IcalProperty {
    /// A property whose value is written as it is.
    pub fn new(name: &str, value: impl Into<String>) -> Self {
        Self { name: name.to_owned(), parameters: Vec::new(), value: value.into() }
    }

    /// A property whose value is TEXT.
    pub fn text(name: &str, text: &str) -> Self {
        Self::new(name, escaped(text))
    }

    /// The same with a parameter, in place of one of its name.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.put(name, Some(value));
        self
    }

    /// Sets a parameter, or takes it away.
    pub fn put(&mut self, name: &str, value: Option<&str>) {
        let place = self.parameters.iter().position(|(known, _)| known == name);
        match (place.and_then(|place| self.parameters.get_mut(place)), value) {
            (Some((_, values)), Some(value)) => *values = vec![value.to_owned()],
            (None, Some(value)) => {
                self.parameters.push((name.to_owned(), vec![value.to_owned()]));
            }
            (_, None) => self.parameters.retain(|(known, _)| known != name),
        }
    }

    /// The first value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let (_, values) = self.parameters.iter().find(|(known, _)| known == name)?;
        values.first().map(String::as_str)
    }

    /// The value as TEXT.
    pub fn as_text(&self) -> String {
        unescaped(&self.value)
    }

    /// Reads one unfolded line; `None` if it is none.
    pub(super) fn read(line: &str) -> Option<Self> {
        let end = line.find([';', ':'])?;
        let (name, mut rest) = line.split_at_checked(end)?;
        if !is_name(name) {
            return None;
        }
        let mut parameters = Vec::new();
        while let Some(after) = rest.strip_prefix(';') {
            let end = after.find(['=', ';', ':'])?;
            let (name, after) = after.split_at_checked(end)?;
            let (values, after) = match after.strip_prefix('=') {
                Some(after) => values(after),
                None => (vec![String::new()], after),
            };
            if is_name(name) && parameters.len() < MOST_PARAMETERS {
                parameters.push((name.to_ascii_uppercase(), values));
            }
            rest = after;
        }
        let value = rest.strip_prefix(':')?;
        Some(Self { name: name.to_ascii_uppercase(), parameters, value: value.to_owned() })
    }

    /// A line that says when something is and cannot be read: all of it is the value, so that it is
    /// found to be no time.
    pub(super) fn of_time(line: &str) -> Option<Self> {
        let end = line.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')?;
        let name = line.get(..end)?.to_ascii_uppercase();
        OF_TIME.contains(&name.as_str()).then(|| Self::new(&name, line))
    }

    /// Appends the line, folded.
    pub(super) fn write(&self, out: &mut String) {
        let mut line = self.name.clone();
        for (name, values) in &self.parameters {
            let values: Vec<String> = values.iter().map(|value| parameter(value)).collect();
            let _ = write!(line, ";{name}={}", values.join(","));
        }
        line.push(':');
        line.extend(self.value.chars().filter(|letter| is_kept(*letter)));
        fold(&line, out);
    }
}

/// The lines of a text without their folds and without characters that no line may have.
pub(super) fn unfolded(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n') {
        let continued = line.strip_prefix([' ', '\t']);
        let part = continued.unwrap_or(line).chars().filter(|letter| is_kept(*letter));
        match (continued.is_some(), lines.last_mut()) {
            (true, Some(last)) => last.extend(part),
            _ => lines.push(part.collect()),
        }
    }
    lines
}

/// A line without characters that no line may have.
pub(super) fn clean(line: &str) -> String {
    line.chars().filter(|letter| is_kept(*letter)).collect()
}

/// What a text is as the value of a property of type TEXT.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' | ';' | ',' => out.extend(['\\', letter]),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\n' | '\r' => out.push_str("\\n"),
            letter if is_kept(letter) => out.push(letter),
            _ => {}
        }
    }
    out
}

fn unescaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match (letter, if letter == '\\' { letters.next() } else { None }) {
            ('\\', Some('n' | 'N')) => out.push('\n'),
            ('\\', Some(next)) => out.push(next),
            (letter, _) => out.push(letter),
        }
    }
    out
}

/// The values of a parameter from behind its `=`, and what follows them.
fn values(text: &str) -> (Vec<String>, &str) {
    let mut all = Vec::new();
    let mut rest = text;
    loop {
        let quoted = rest.strip_prefix('"').and_then(|inner| inner.split_once('"'));
        let (value, after) = match quoted {
            Some((value, after)) => (value, after),
            None => rest
                .split_at_checked(rest.find([',', ';', ':']).unwrap_or(rest.len()))
                .unwrap_or((rest, "")),
        };
        all.push(decoded(value));
        // What stands between a closing quote and the next sign is nothing.
        let after = after.find([',', ';', ':']).and_then(|end| after.get(end..)).unwrap_or("");
        match after.strip_prefix(',') {
            Some(after) => rest = after,
            None => return (all, after),
        }
    }
}

/// RFC 6868: how a parameter says what it cannot hold.
fn decoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut letters = value.chars().peekable();
    while let Some(letter) = letters.next() {
        let meant = match (letter, letters.peek()) {
            ('^', Some('n')) => '\n',
            ('^', Some('\'')) => '"',
            ('^', Some('^')) => '^',
            _ => {
                out.push(letter);
                continue;
            }
        };
        letters.next();
        out.push(meant);
    }
    out
}

fn parameter(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    for letter in value.chars() {
        match letter {
            '\n' => out.push_str("^n"),
            '"' => out.push_str("^'"),
            '^' => out.push_str("^^"),
            letter if is_kept(letter) => out.push(letter),
            _ => {}
        }
    }
    if out.contains([',', ';', ':']) { format!("\"{out}\"") } else { out }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_kept(letter: char) -> bool {
    letter == '\t' || !letter.is_control()
}

fn fold(line: &str, out: &mut String) {
    let mut width = 0;
    for letter in line.chars() {
        if width + letter.len_utf8() > WIDTH {
            out.push_str("\r\n ");
            width = 1;
        }
        out.push(letter);
        width += letter.len_utf8();
    }
    out.push_str("\r\n");
}
