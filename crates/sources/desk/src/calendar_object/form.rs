//! What others write in another form than the start of their series, in the form of the start.
//!
//! The standard wants one form for all of them (RFC 5545, sections 3.8.2.2, 3.8.4.4, 3.8.5.1); what
//! is written in another can mean one thing alone, or is left as it is and refused.

use super::CalendarObject;
use crate::ical::IcalProperty;

/// The form of a date or a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Day,
    Utc,
    /// On the clock of a zone, or of none.
    Clock,
    /// None that is known.
    Odd,
}

impl Form {
    fn of(value: &str) -> Self {
        let value = value.trim();
        let (day, time) = value.split_at_checked(8).unwrap_or((value, ""));
        if day.len() != 8 || !day.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::Odd;
        }
        match time.strip_prefix(['T', 't']) {
            Some(time) if time.ends_with(['Z', 'z']) => Self::Utc,
            Some(_) => Self::Clock,
            None if time.is_empty() => Self::Day,
            None => Self::Odd,
        }
    }
}

impl CalendarObject {
    /// Gives what names an occurrence the form of the start, and an end without a zone that of its
    /// own start.
    pub(super) fn straighten(&mut self) {
        let Some(start) = self.main().and_then(|main| main.get("DTSTART")).cloned() else { return };
        let added: Vec<String> = self.main().map_or_else(Vec::new, |main| {
            let dates = main.all("RDATE").flat_map(|it| it.value.split(','));
            dates.map(|date| date.trim().to_owned()).collect()
        });
        for part in self.parts_mut() {
            let own = part.get("DTSTART").cloned();
            for property in &mut part.properties {
                match (property.name.as_str(), &own) {
                    ("DTEND" | "DUE", Some(own)) => in_zone(property, own),
                    ("RDATE", _) => in_zone(property, &start),
                    ("EXDATE", _) => {
                        in_zone(property, &start);
                        as_days(property, &start);
                    }
                    ("RECURRENCE-ID", _) => {
                        in_zone(property, &start);
                        as_days(property, &start);
                        as_time(property, &start, &added);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// A time without a zone is of the zone of the start.
fn in_zone(property: &mut IcalProperty, start: &IcalProperty) {
    let is_bare = |value: &str| Form::of(value) == Form::Clock && !value.contains('/');
    let is_floating = property.parameter("TZID").is_none();
    if !is_floating || !property.value.split(',').all(is_bare) {
        return;
    }
    match (Form::of(&start.value), start.parameter("TZID")) {
        (Form::Utc, _) => {
            let all: Vec<String> =
                property.value.split(',').map(|it| format!("{}Z", it.trim())).collect();
            property.value = all.join(",");
        }
        (Form::Clock, Some(id)) => property.put("TZID", Some(id)),
        (Form::Clock, None) | (Form::Day | Form::Odd, _) => {}
    }
}

/// Beside whole days a time means its day. One in UTC may be that of another day, unless it is at
/// midnight.
fn as_days(property: &mut IcalProperty, start: &IcalProperty) {
    let day = |value: &str| {
        let value = value.trim();
        let time = value.get(8..)?;
        let is_plain = match Form::of(value) {
            Form::Day => time.is_empty(),
            Form::Clock => true,
            Form::Utc => time.get(1..7) == Some("000000"),
            Form::Odd => false,
        };
        value.get(..8).filter(|_| is_plain).map(str::to_owned)
    };
    let is_time = |value: &str| Form::of(value) != Form::Day;
    if Form::of(&start.value) != Form::Day || !property.value.split(',').any(is_time) {
        return;
    }
    if let Some(days) = property.value.split(',').map(day).collect::<Option<Vec<_>>>() {
        property.value = days.join(",");
        property.put("TZID", None);
        property.put("VALUE", Some("DATE"));
    }
}

/// Beside times a day means what occurs on it: one that was added, or else by the rule.
fn as_time(property: &mut IcalProperty, start: &IcalProperty, added: &[String]) {
    let (form, day) = (Form::of(&start.value), property.value.trim().to_owned());
    if !matches!(form, Form::Utc | Form::Clock) || Form::of(&day) != Form::Day {
        return;
    }
    let own = added.iter().find(|date| date.starts_with(&day) && Form::of(date) == form);
    let time = own.map_or(start.value.trim(), String::as_str).get(8..);
    if let Some(time) = time.map(|time| time.split('/').next().unwrap_or(time)) {
        property.value = format!("{day}{time}");
        property.put("VALUE", None);
        property.put("TZID", start.parameter("TZID"));
    }
}
