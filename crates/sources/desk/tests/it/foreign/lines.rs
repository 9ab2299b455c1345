//! Lines that are folded, broken or missing.

use toolcrib_desk::backend::BackendErrorKind;
use toolcrib_desk::embedded::{Agenda, DeskDatabase};

use super::{Taken, calendar, event};
use crate::agenda::{OWNER, home, kind};

const START: &str = "DTSTART:20270502T090000Z";

#[tokio::test]
async fn a_fold_may_stand_inside_a_letter() {
    let text = calendar(&event(&format!("{START}\nLOCATION:Café")));
    let at = text.find('é').unwrap() + 1;
    let mut file = text.into_bytes();
    file.splice(at..at, *b"\r\n ");
    let taken = Taken::of(file).await;
    assert_eq!((&taken.imported.skipped[..], &taken.imported.notes[..]), (&[][..], &[][..]));
    let events = taken.events("2027-05-02 00:00", "2027-05-03 00:00").await;
    assert_eq!(events[0].location.as_deref(), Some("Café"));
}

#[tokio::test]
async fn a_line_that_is_no_text_costs_itself_alone() {
    let mut file = calendar(&event(&format!("{START}\nLOCATION:Caf#"))).into_bytes();
    let at = file.iter().position(|byte| *byte == b'#').unwrap();
    file[at] = 0xE9;
    let taken = Taken::of(file).await;
    let note = "line 9 is no UTF-8: what cannot be read of it stands as `\u{fffd}`";
    assert_eq!(taken.imported.notes, [note]);
    assert_eq!(taken.year(2027).await, ["2027-05-02 11:00 0 a"]);
    let file = calendar(&event(&format!("{START}\nno line"))).replace("no line", "no line at all");
    let taken = Taken::of(file).await;
    assert_eq!(taken.imported.notes, ["line 9 is none of iCalendar, and was passed over"]);
    assert_eq!(taken.year(2027).await, ["2027-05-02 11:00 0 a"]);
}

#[tokio::test]
async fn a_line_of_time_that_is_none_costs_its_event() {
    for line in ["RRULE FREQ=DAILY", "EXDATE;20270503T090000Z", "DTEND 20270502T100000Z"] {
        let why = super::why_not(&event(&format!("{START}\n{line}"))).await;
        assert!(why.starts_with("`a` of 2027-05-02 (UID `a`): its "), "{why}");
    }
}

#[tokio::test]
async fn what_is_whole_of_a_broken_file_is_taken() {
    let (a, b) = (event(START), event(START).replace(":a", ":b"));
    let cut = a.replace("\nEND:VEVENT", "");
    let cases = [
        (calendar(&format!("{cut}\n{b}")), "a VEVENT (UID `a`) has no end: it is cut off"),
        (calendar(&format!("{b}\n{cut}")), "a VEVENT (UID `a`) has no end: it is cut off"),
        (
            calendar(&format!("{b}\n{cut}")).replace("END:VCALENDAR\r\n", ""),
            "a VEVENT (UID `a`) has no end: it is cut off",
        ),
    ];
    for (file, why) in cases {
        let taken = Taken::of(file).await;
        assert_eq!(taken.imported.skipped, [why]);
        assert_eq!(taken.year(2027).await, ["2027-05-02 11:00 0 b"]);
    }
    let alarm = b.replace("END:VEVENT", "BEGIN:VALARM\nTRIGGER:-PT5M\nEND:VEVENT");
    let taken = Taken::of(calendar(&format!("END:VALARM\n{alarm}"))).await;
    assert_eq!(taken.imported.skipped, ["a VALARM has no end: it is cut off"]);
    assert_eq!(taken.imported.notes, ["line 4 ends a component that was not begun"]);
    assert_eq!(taken.year(2027).await, ["2027-05-02 11:00 0 b"]);
}

#[tokio::test]
async fn old_and_bare_files_are_read() {
    let old = calendar(&event(START)).replace("\r\n", "\r");
    assert_eq!(Taken::of(old).await.year(2027).await, ["2027-05-02 11:00 0 a"]);
    assert_eq!(Taken::of(event(START)).await.year(2027).await, ["2027-05-02 11:00 0 a"]);
    let wide = [0xFF, 0xFE, b'B', 0, b'E', 0];
    let agenda = Agenda::new(DeskDatabase::in_memory().unwrap(), home());
    assert_eq!(kind(agenda.import(OWNER, wide).await), BackendErrorKind::Invalid);
}
