//! Files of others taken in: what is in them is at its hour, or told to be unreadable with its UID.

mod forms;
mod lines;
mod observances;
mod onward;
mod rules;
mod told;
mod zones;

use jiff::tz::TimeZone;
use toolcrib_desk::backend::{CalendarBackend, CalendarEvent, EventSlot};
use toolcrib_desk::embedded::{Agenda, CalendarImportReport, DeskDatabase};

use crate::agenda::{OWNER, home, query};

/// A calendar with such lines in it.
fn calendar(lines: &str) -> String {
    let lines = lines.lines().map(str::trim_start).collect::<Vec<_>>().join("\r\n");
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\n{lines}\r\nEND:VCALENDAR\r\n")
}

/// An event whose UID and title is `a`.
fn event(lines: &str) -> String {
    format!("BEGIN:VEVENT\nUID:a\nDTSTAMP:20261101T000000Z\nSUMMARY:a\n{lines}\nEND:VEVENT")
}

struct Taken {
    agenda: Agenda,
    imported: CalendarImportReport,
}

impl Taken {
    async fn of(file: impl Into<Vec<u8>>) -> Self {
        let agenda = Agenda::new(DeskDatabase::in_memory().unwrap(), home());
        let imported = agenda.import(OWNER, file).await.unwrap();
        Self { agenda, imported }
    }

    /// What occurs in a stretch of time.
    async fn events(&self, from: &str, until: &str) -> Vec<CalendarEvent> {
        self.agenda.events(OWNER, query(from, until)).await.unwrap().items
    }

    /// What occurs in a year, as a person in Zurich sees it.
    async fn year(&self, year: i16) -> Vec<String> {
        let (from, until) = (format!("{year}-01-01 00:00"), format!("{}-01-01 00:00", year + 1));
        self.events(&from, &until).await.iter().map(shown).collect()
    }
}

/// `2027-01-15 13:00 60 Title`, with the minutes that it takes.
fn shown(event: &CalendarEvent) -> String {
    let zurich = TimeZone::get("Europe/Zurich").unwrap();
    let when = match &event.slot {
        EventSlot::Timed { start, end } => {
            let minutes = start.duration_until(end).as_mins();
            format!("{} {minutes}", start.with_time_zone(zurich).strftime("%F %R"))
        }
        EventSlot::Days { first, last } => format!("{first} to {last}"),
    };
    format!("{when} {}", event.title)
}

/// What such lines of a calendar are in 2027.
async fn in_2027(lines: &str) -> Vec<String> {
    let taken = Taken::of(calendar(lines)).await;
    assert_eq!(taken.imported.skipped, [""; 0]);
    taken.year(2027).await
}

/// Why such lines of a calendar are not taken.
async fn why_not(lines: &str) -> String {
    let taken = Taken::of(calendar(lines)).await;
    let [why] = &taken.imported.skipped[..] else { panic!("{:?}", taken.imported) };
    assert!(why.contains("(UID `a`)"), "{why}");
    why.clone()
}
