//! Events and tasks in the desk's file.

use std::sync::Arc;

use toolcrib_desk::backend::{
    BackendErrorKind, CalendarBackend, EventChange, FieldChange, NewTask, TaskChange, TaskDue,
    TaskQuery, TasksBackend,
};
use toolcrib_desk::embedded::{Agenda, CalendarImportReport, DeskDatabase};

use crate::agenda::{OWNER, Subject, agenda_tests, home, kind, new, query, timed};

#[expect(clippy::unused_async, reason = "others wait for their server")]
async fn open() -> Option<Subject> {
    let agenda = Arc::new(Agenda::new(DeskDatabase::in_memory().unwrap(), home()));
    Some(Subject { calendar: agenda.clone(), tasks: agenda, _guard: None })
}

agenda_tests!(open);

fn agenda() -> Agenda {
    Agenda::new(DeskDatabase::in_memory().unwrap(), home())
}

#[tokio::test]
async fn the_first_calendar_and_list_are_there_at_once() {
    let agenda = agenda();
    let calendars = agenda.calendars(OWNER).await.unwrap();
    let told: Vec<_> = calendars.iter().map(|it| (it.id.as_str(), it.name.as_str())).collect();
    assert_eq!(told, [("personal", "Personal")]);
    let lists = agenda.lists(OWNER).await.unwrap();
    let told: Vec<_> = lists.iter().map(|it| (it.id.as_str(), it.name.as_str())).collect();
    assert_eq!(told, [("tasks", "Tasks")]);
}

#[tokio::test]
async fn nobody_sees_what_another_owner_has() {
    let agenda = agenda();
    let slot = timed("2026-11-24 10:00", "2026-11-24 11:00");
    let event = CalendarBackend::add(&agenda, "anna", new("Secret", slot)).await.unwrap();
    let task = NewTask { list: None, title: "Secret".to_owned(), notes: None, due: None };
    let task = TasksBackend::add(&agenda, "anna", task).await.unwrap();
    let all = query("2020-01-01 00:00", "2030-01-01 00:00");
    assert_eq!(agenda.events("ben", all).await.unwrap().items, []);
    let tasks = agenda.tasks("ben", TaskQuery { limit: 9, ..TaskQuery::default() });
    assert_eq!(tasks.await.unwrap().items, []);
    assert_eq!(kind(agenda.event("ben", &event.id).await), BackendErrorKind::NotFound);
    let change = EventChange { title: Some("x".to_owned()), ..EventChange::default() };
    let changed = CalendarBackend::change(&agenda, "ben", &event.id, change).await;
    assert_eq!(kind(changed), BackendErrorKind::NotFound);
    assert_eq!(
        kind(CalendarBackend::remove(&agenda, "ben", &event.id).await),
        BackendErrorKind::NotFound
    );
    assert_eq!(
        kind(TasksBackend::remove(&agenda, "ben", &task.id).await),
        BackendErrorKind::NotFound
    );
    // An event is no task, though both are objects.
    assert_eq!(kind(agenda.task("anna", &event.id).await), BackendErrorKind::NotFound);
    assert_eq!(
        kind(TasksBackend::remove(&agenda, "anna", &event.id).await),
        BackendErrorKind::NotFound
    );
}

const FILE: &str = "BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:-//Example//Test//EN\r
BEGIN:VTIMEZONE\r
TZID:Odd zone\r
BEGIN:STANDARD\r
DTSTART:19701025T030000\r
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r
TZOFFSETFROM:+0200\r
TZOFFSETTO:+0100\r
END:STANDARD\r
BEGIN:DAYLIGHT\r
DTSTART:19700329T020000\r
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r
TZOFFSETFROM:+0100\r
TZOFFSETTO:+0200\r
END:DAYLIGHT\r
END:VTIMEZONE\r
BEGIN:VEVENT\r
UID:one@example.org\r
DTSTAMP:20260101T000000Z\r
DTSTART;TZID=Odd zone:20260701T090000\r
DURATION:PT1H30M\r
SUMMARY:Own\\, rules\r
X-OWN;X-PARAMETER=\"a:b\":stays\r
END:VEVENT\r
BEGIN:VEVENT\r
UID:windows\r
DTSTAMP:20260101T000000Z\r
DTSTART;TZID=\"W. Europe Standard Time\":20260702T090000\r
DTEND;TZID=\"W. Europe Standard Time\":20260702T100000\r
SUMMARY:Of Outlook\r
END:VEVENT\r
BEGIN:VEVENT\r
UID:path\r
DTSTAMP:20260101T000000Z\r
DTSTART;TZID=/example.org/20210210_1/Europe/Zurich:20260703T090000\r
DTEND;TZID=/example.org/20210210_1/Europe/Zurich:20260703T100000\r
SUMMARY:A long title that goes over the end of its line and is folded th\r
 ere\r
END:VEVENT\r
BEGIN:VEVENT\r
UID:floating\r
DTSTAMP:20260101T000000Z\r
DTSTART:20260704T090000\r
DTEND:20260704T100000\r
RRULE:FREQ=DAILY;COUNT=3\r
SUMMARY:Floating\r
END:VEVENT\r
BEGIN:VEVENT\r
UID:floating\r
DTSTAMP:20260101T000000Z\r
RECURRENCE-ID:20260705T090000\r
DTSTART:20260705T190000\r
DTEND:20260705T200000\r
SUMMARY:Floating\\, late\r
END:VEVENT\r
BEGIN:VEVENT\r
UID:nowhere\r
DTSTAMP:20260101T000000Z\r
DTSTART;TZID=Moon/Base:20260704T090000\r
SUMMARY:On the moon\r
END:VEVENT\r
BEGIN:VEVENT\r
DTSTART:20260704T090000Z\r
SUMMARY:No UID\r
END:VEVENT\r
BEGIN:VEVENT\r
UID:hourly\r
DTSTART:20260704T090000Z\r
RRULE:FREQ=HOURLY\r
SUMMARY:Every hour\r
END:VEVENT\r
BEGIN:VTODO\r
UID:todo\r
DTSTAMP:20260101T000000Z\r
DUE;VALUE=DATE:20260801\r
SUMMARY:To do\r
END:VTODO\r
END:VCALENDAR\r
";

#[tokio::test]
async fn a_file_is_taken_in_once_however_often_it_comes() {
    let agenda = agenda();
    for _ in 0..2 {
        let CalendarImportReport { events, tasks, skipped, notes } =
            agenda.import(OWNER, FILE.to_owned()).await.unwrap();
        assert_eq!((events, tasks, notes), (4, 1, Vec::new()), "{skipped:?}");
        let [moon, no_uid, hourly] = &skipped[..] else { panic!("{skipped:?}") };
        assert_eq!(
            moon,
            "`On the moon` (UID `nowhere`): its zone `Moon/Base` is one that nobody knows"
        );
        assert_eq!(no_uid, "`No UID` of 2026-07-04: it has no UID");
        assert!(
            hourly
                .starts_with("`Every hour` of 2026-07-04 (UID `hourly`): its rule cannot be used"),
            "{hourly}"
        );
    }
    let page = agenda.events(OWNER, query("2026-07-01 00:00", "2026-08-01 00:00")).await.unwrap();
    let told: Vec<_> = page.items.iter().map(|it| (it.title.as_str(), it.slot.clone())).collect();
    let long = "A long title that goes over the end of its line and is folded there";
    let expected = [
        ("Own, rules", timed("2026-07-01 09:00", "2026-07-01 10:30")),
        ("Of Outlook", timed("2026-07-02 09:00", "2026-07-02 10:00")),
        (long, timed("2026-07-03 09:00", "2026-07-03 10:00")),
        ("Floating", timed("2026-07-04 09:00", "2026-07-04 10:00")),
        ("Floating, late", timed("2026-07-05 19:00", "2026-07-05 20:00")),
        ("Floating", timed("2026-07-06 09:00", "2026-07-06 10:00")),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn what_is_not_understood_stays_when_an_event_is_changed() {
    let agenda = agenda();
    agenda.import(OWNER, FILE.to_owned()).await.unwrap();
    let page = agenda.events(OWNER, query("2026-07-01 00:00", "2026-07-02 00:00")).await.unwrap();
    let change = EventChange { title: Some("New".to_owned()), ..EventChange::default() };
    CalendarBackend::change(&agenda, OWNER, &page.items[0].id, change).await.unwrap();
    let text = agenda.export(OWNER).await.unwrap();
    for line in ["X-OWN;X-PARAMETER=\"a:b\":stays\r\n", "SUMMARY:New\r\n", "TZID:Odd zone\r\n"] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert_eq!(text.matches("BEGIN:VTIMEZONE").count(), 1);
    // A file of ours is taken in by another as it is.
    let other = self::agenda();
    let imported = other.import(OWNER, text.clone()).await.unwrap();
    assert_eq!(
        imported,
        CalendarImportReport { events: 4, tasks: 1, ..CalendarImportReport::default() }
    );
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let again = other.export(OWNER).await.unwrap();
    let mut again: Vec<_> = again.lines().map(str::to_owned).collect();
    lines.sort();
    again.sort();
    assert_eq!(lines, again);
}

#[tokio::test]
async fn an_older_file_does_not_undo_a_change() {
    let agenda = agenda();
    agenda.import(OWNER, FILE.to_owned()).await.unwrap();
    let page = agenda.events(OWNER, query("2026-07-01 00:00", "2026-07-02 00:00")).await.unwrap();
    let change = EventChange { title: Some("New".to_owned()), ..EventChange::default() };
    CalendarBackend::change(&agenda, OWNER, &page.items[0].id, change).await.unwrap();
    let imported = agenda.import(OWNER, FILE.to_owned()).await.unwrap();
    let own = "`Own, rules` of 2026-07-01 (UID `one@example.org`): what is kept of it is newer";
    assert_eq!(imported.skipped[0], own);
    assert_eq!(agenda.event(OWNER, &page.items[0].id).await.unwrap().title, "New");
}

#[tokio::test]
async fn a_task_that_repeats_goes_on_to_its_next_until_there_is_none() {
    let agenda = agenda();
    let file = "BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:rent\r\nSUMMARY:Rent\r\n\
                DTSTART;VALUE=DATE:20261201\r\nDUE;VALUE=DATE:20261203\r\n\
                RRULE:FREQ=MONTHLY;COUNT=4\r\nEXDATE;VALUE=DATE:20270101\r\n\
                END:VTODO\r\nEND:VCALENDAR\r\n";
    let imported = agenda.import(OWNER, file.to_owned()).await.unwrap();
    assert_eq!(imported.tasks, 1, "{imported:?}");
    let query = TaskQuery { limit: 9, ..TaskQuery::default() };
    let id = agenda.tasks(OWNER, query).await.unwrap().items[0].id.clone();
    let now = jiff::Timestamp::now();
    let mut told = Vec::new();
    for _ in 0..3 {
        let done = FieldChange::Set(now);
        let change = TaskChange { done, ..TaskChange::default() };
        let task = TasksBackend::change(&agenda, OWNER, &id, change).await.unwrap();
        assert_eq!(agenda.task(OWNER, &id).await.unwrap(), task);
        told.push((task.due, task.done.is_some()));
    }
    let due = |day: &str| Some(TaskDue::Day(day.parse().unwrap()));
    let expected =
        [(due("2027-02-03"), false), (due("2027-03-03"), false), (due("2027-03-03"), true)];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn two_who_have_the_file_open_lose_nothing_of_each_other() {
    let folder = toolcrib_testkit::TestFolder::new();
    let path = folder.path().join("desk.db");
    let open = || Agenda::new(DeskDatabase::open(&path).unwrap(), home());
    let agendas = [open(), open()];
    let adding = agendas.iter().enumerate().flat_map(|(who, agenda)| {
        (0..20).map(move |number| {
            let slot = timed("2026-11-24 10:00", "2026-11-24 11:00");
            let agenda = agenda.clone();
            tokio::spawn(async move {
                let event = new(&format!("{who} {number}"), slot);
                CalendarBackend::add(&agenda, OWNER, event).await.map_err(|fault| fault.message)
            })
        })
    });
    for added in adding.collect::<Vec<_>>() {
        added.await.unwrap().unwrap();
    }
    for agenda in &agendas {
        let all = query("2026-11-24 00:00", "2026-11-25 00:00");
        assert_eq!(agenda.events(OWNER, all).await.unwrap().items.len(), 40);
        assert_eq!(agenda.calendars(OWNER).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_text_that_is_no_calendar_is_refused() {
    let agenda = agenda();
    for text in ["BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:x\r\n", "END:VCALENDAR\r\n"] {
        assert_eq!(kind(agenda.import(OWNER, text.to_owned()).await), BackendErrorKind::Invalid);
    }
    let nothing = agenda.import(OWNER, "hello".to_owned()).await.unwrap();
    assert_eq!(nothing, CalendarImportReport::default());
}

#[tokio::test]
async fn what_was_kept_is_there_when_the_file_is_opened_again() {
    let folder = toolcrib_testkit::TestFolder::new();
    let path = folder.path().join("desk.db");
    let slot = timed("2026-11-24 10:00", "2026-11-24 11:00");
    let event = {
        let agenda = Agenda::new(DeskDatabase::open(&path).unwrap(), home());
        CalendarBackend::add(&agenda, OWNER, new("Kept", slot)).await.unwrap()
    };
    let agenda = Agenda::new(DeskDatabase::open(&path).unwrap(), home());
    assert_eq!(agenda.event(OWNER, &event.id).await.unwrap(), event);
}
