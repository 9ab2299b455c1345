//! Files of others: their lines unfolded as octets, and all that is whole of them.
//!
//! What stands in the own file or comes of a server is read by [`IcalComponent::read`], which takes
//! nothing that is not whole.

use super::component::{DEEPEST, IcalComponent, IcalReadError};
use super::content_line::{IcalProperty, clean};

/// Faults that are told one by one.
const MOST_FAULTS: usize = 100;
/// Components that stand in none of their kind: one that begins in another ends that one.
const PARTS: [&str; 5] = ["VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VTIMEZONE"];

/// What a file has of components, and what was wrong with it.
#[derive(Debug, Default)]
pub(crate) struct Calendars {
    pub(crate) whole: Vec<IcalComponent>,
    /// Components that were cut off, each told by its name and UID.
    pub(crate) cut: Vec<String>,
    /// Lines that could not be read, each told by its number.
    pub(crate) faults: Vec<String>,
}

impl Calendars {
    /// Reads a file. One of which nothing is whole is refused for its first fault.
    pub(crate) fn read(bytes: &[u8], max: usize) -> Result<Self, IcalReadError> {
        if bytes.len() > max {
            return Err(IcalReadError::TooLarge(max));
        }
        if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
            return Err(IcalReadError::NotUtf8);
        }
        let mut reader = Reader::default();
        for (number, line) in unfolded(bytes) {
            let line = String::from_utf8(line).unwrap_or_else(|error| {
                let cure = "what cannot be read of it stands as `\u{fffd}`";
                reader.note(format!("line {number} is no UTF-8: {cure}"));
                String::from_utf8_lossy(error.as_bytes()).into_owned()
            });
            reader.take(number, &clean(&line))?;
        }
        reader.end()
    }
}

/// A file while it is read.
#[derive(Default)]
struct Reader {
    open: Vec<IcalComponent>,
    read: Calendars,
    first: Option<IcalReadError>,
}

impl Reader {
    fn note(&mut self, fault: String) {
        if self.read.faults.len() < MOST_FAULTS {
            self.read.faults.push(fault);
        }
    }

    fn take(&mut self, number: usize, line: &str) -> Result<(), IcalReadError> {
        let Some(property) = IcalProperty::read(line).or_else(|| IcalProperty::of_time(line))
        else {
            if !line.trim().is_empty() && !self.open.is_empty() {
                self.note(format!("line {number} is none of iCalendar, and was passed over"));
            }
            return Ok(());
        };
        let name = || property.value.trim().to_ascii_uppercase();
        match property.name.as_str() {
            "BEGIN" => {
                let name = name();
                self.end_before(&name);
                if self.open.len() >= DEEPEST {
                    return Err(IcalReadError::TooDeep(number));
                }
                self.open.push(IcalComponent::new(&name));
            }
            "END" => self.close(number, &name()),
            _ => {
                if let Some(inner) = self.open.last_mut() {
                    inner.properties.push(property);
                }
            }
        }
        Ok(())
    }

    /// Ends what is open and cannot hold what begins now.
    fn end_before(&mut self, name: &str) {
        let is_part = PARTS.contains(&name);
        let holds_none = |it: &IcalComponent| {
            (is_part && PARTS.contains(&it.name.as_str()))
                || (name == "VCALENDAR" && it.name == "VCALENDAR")
        };
        if let Some(at) = self.open.iter().position(holds_none) {
            self.cut_to(at);
        }
    }

    fn close(&mut self, number: usize, name: &str) {
        let Some(at) = self.open.iter().rposition(|it| it.name == name) else {
            self.first.get_or_insert(IcalReadError::NotBegun(number));
            self.note(format!("line {number} ends a component that was not begun"));
            return;
        };
        self.cut_to(at + 1);
        if let Some(ended) = self.open.pop() {
            self.keep(ended);
        }
    }

    /// Ends what is open from a depth on without its end: what a calendar has of whole parts
    /// stays, a part that was cut off does not.
    fn cut_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            let Some(cut) = self.open.pop() else { return };
            self.first.get_or_insert_with(|| IcalReadError::CutOff(cut.name.clone()));
            if cut.name == "VCALENDAR" {
                self.note("a VCALENDAR has no end: the file may be cut off".to_owned());
                self.keep(cut);
            } else {
                let uid = cut.get("UID").map(|uid| format!(" (UID `{}`)", uid.value.trim()));
                let uid = uid.unwrap_or_default();
                self.read.cut.push(format!("a {}{uid} has no end: it is cut off", cut.name));
            }
        }
    }

    fn keep(&mut self, ended: IcalComponent) {
        match self.open.last_mut() {
            Some(outer) => outer.components.push(ended),
            None => self.read.whole.push(ended),
        }
    }

    fn end(mut self) -> Result<Calendars, IcalReadError> {
        self.cut_to(0);
        let has_parts = self
            .read
            .whole
            .iter()
            .any(|it| PARTS.contains(&it.name.as_str()) || !it.components.is_empty());
        match self.first {
            Some(fault) if !has_parts => Err(fault),
            Some(_) | None => Ok(self.read),
        }
    }
}

/// The lines of a file, each with its number: folds may stand inside of a letter (RFC 5545,
/// section 3.1).
fn unfolded(bytes: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    // Old files end their lines with CR alone.
    let end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
    let mut lines: Vec<(usize, Vec<u8>)> = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == end).enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match (line, lines.last_mut()) {
            ([b' ' | b'\t', rest @ ..], Some((_, last))) => last.extend(rest),
            _ => lines.push((index + 1, line.to_vec())),
        }
    }
    lines
}
