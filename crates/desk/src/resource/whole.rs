//! Whole objects, as files carry them.

use super::make::calendar;
use super::{Kind, Place, Resource};
use crate::home::Home;

/// Letters of a title that name an object in a message.
const SHOWN: usize = 60;

impl Resource {
    /// What a person knows it by.
    pub(crate) fn name(&self, home: &Home) -> String {
        let part = self.main();
        let title = part.and_then(|part| part.text("SUMMARY")).unwrap_or_default();
        let title: String = title.chars().take(SHOWN).collect();
        let start = part.and_then(|part| part.get("DTSTART"));
        let day = start.and_then(|start| self.zones(home).moment(start)).map(|it| it.date());
        match day {
            Some(day) => format!("`{title}` of {day}"),
            None => format!("`{title}`"),
        }
    }

    /// Why it cannot be kept, if it cannot be understood.
    pub(crate) fn not_understood(&self, place: Place<'_>) -> Option<String> {
        if self.kind == Kind::Task {
            return self.task(place).err().map(|fault| fault.message);
        }
        if self.series(place.home).is_none() {
            return Some("its start is missing, or of a zone that nobody knows".to_owned());
        }
        let rules = self.parts().flat_map(|part| part.all("RRULE"));
        let mut unread = rules.filter_map(|rule| {
            let read: Result<toolcrib_when::Recurrence, _> = rule.value.parse();
            read.err().map(|error| format!("its rule cannot be used: {error}"))
        });
        unread.next()
    }

    /// Many objects as one file.
    pub(crate) fn together(objects: impl Iterator<Item = Self>) -> String {
        let mut whole = calendar();
        let mut parts = Vec::new();
        for part in objects.flat_map(|object| object.calendar.components) {
            if part.name != "VTIMEZONE" {
                parts.push(part);
            } else if !whole.components.contains(&part) {
                let is_named = |it: &crate::ical::Component| it.get("TZID") == part.get("TZID");
                if !whole.components.iter().any(is_named) {
                    whole.components.push(part);
                }
            }
        }
        whole.components.extend(parts);
        whole.write()
    }
}
