//! Calendars as strangers may write them, and what servers of calendars may answer.

use toolcrib_desk::CalendarOwner;
use toolcrib_desk::backend::{CalendarBackend, EventQuery, TaskQuery, TasksBackend};
use toolcrib_desk::caldav::XmlElement;
use toolcrib_desk::embedded::{Agenda, DeskDatabase};
use toolcrib_desk::ical::IcalComponent;

/// Larger texts only cost time.
const LONGEST: usize = 64 * 1024;

/// A file of iCalendar as a stranger may write it: what was read is written and read again as the
/// same, what is taken in is listed within bounds, and what is given out is taken in whole.
pub fn icalendar(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(whole) = IcalComponent::read(&text, LONGEST) {
        let written: String = whole.iter().map(IcalComponent::write).collect();
        let again = IcalComponent::read(&written, usize::MAX);
        assert_eq!(again.as_ref(), Ok(&whole), "written and read again, it is another");
    }
    if text.len() > LONGEST {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        let Some(given) = taken_and_given(text.into_owned()).await else { return };
        let (Some(again), home) = (agenda(), "again") else { return };
        let again = again.import(home, given).await;
        let skipped = again.map(|again| again.skipped).map_err(|fault| fault.message);
        assert_eq!(skipped, Ok(Vec::new()), "a file of ours is not taken in");
    });
}

async fn taken_and_given(text: String) -> Option<String> {
    let agenda = agenda()?;
    agenda.import("owner", text).await.ok()?;
    let query = EventQuery {
        calendar: None,
        from: "2026-01-01T00:00:00Z".parse().ok()?,
        until: "2027-01-01T00:00:00Z".parse().ok()?,
        text: None,
        limit: 10,
        cursor: None,
    };
    if let Ok(page) = agenda.events("owner", query).await {
        for event in page.items {
            let found = agenda.event("owner", &event.id).await;
            let found = found.map_err(|fault| fault.message);
            assert_eq!(found.as_ref(), Ok(&event), "listed, it is not found");
        }
    }
    let query = TaskQuery { limit: 10, ..TaskQuery::default() };
    let _ = agenda.tasks("owner", query).await;
    agenda.export("owner").await.ok()
}

fn agenda() -> Option<Agenda> {
    Some(Agenda::new(DeskDatabase::in_memory().ok()?, CalendarOwner::new(jiff::tz::TimeZone::UTC)))
}

/// An answer of a server as a stranger may write it: read without a panic, and the same twice.
pub fn webdav(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let read = XmlElement::read(&text).ok();
    assert_eq!(read, XmlElement::read(&text).ok(), "read twice, it says two things");
}
