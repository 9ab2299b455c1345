//! iCalendar, read and written by the public door.

use jiff::tz::TimeZone;
use proptest::prelude::*;
use toolcrib_desk::CalendarOwner;
use toolcrib_desk::backend::CalendarBackend;
use toolcrib_desk::embedded::{Agenda, DeskDatabase};
use toolcrib_desk::ical::{IcalComponent, IcalProperty, IcalReadError};

use crate::agenda::{OWNER, home, new, repeated, timed};

const MOST: usize = 1 << 20;

fn read(text: &str) -> Result<Vec<IcalComponent>, IcalReadError> {
    IcalComponent::read(text, MOST)
}

#[test]
fn lines_are_folded_at_75_octets_and_unfolded_as_they_were() {
    let mut component = IcalComponent::new("VEVENT");
    component.push(IcalProperty::text("SUMMARY", &"é🎉, ".repeat(40)));
    component.push(IcalProperty::new("X-A", "v").with("CN", "a;b:c,d\"e^f\ng"));
    let text = component.write();
    assert!(text.split("\r\n").all(|line| line.len() <= 75), "{text}");
    assert_eq!(read(&text).unwrap(), [component]);
}

#[test]
fn what_is_cut_off_or_closed_twice_or_too_deep_is_refused() {
    assert_eq!(read("BEGIN:VEVENT\nUID:1\n"), Err(IcalReadError::CutOff("VEVENT".to_owned())));
    assert_eq!(read("BEGIN:A\nEND:A\nEND:A\n"), Err(IcalReadError::NotBegun(3)));
    assert_eq!(read("BEGIN:A\nBEGIN:B\nEND:A\n"), Err(IcalReadError::NotBegun(3)));
    assert_eq!(read(&"BEGIN:A\n".repeat(9)), Err(IcalReadError::TooDeep(9)));
    assert_eq!(read(&" ".repeat(MOST + 1)), Err(IcalReadError::TooLarge(MOST)));
}

#[test]
fn odd_lines_are_passed_over() {
    let text = "\u{feff}BEGIN:VEVENT\nno line\n:v\n;X:v\nSUMMARY;=;A;B=:x\n\nEND:VEVENT\nX:outside";
    let [event] = &read(text).unwrap()[..] else { panic!("one component") };
    let names: Vec<&str> = event.properties.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["SUMMARY"]);
}

/// The VTIMEZONE that an event in a zone is written with.
async fn zone_of(name: &str) -> Vec<String> {
    let zone = TimeZone::get(name).unwrap();
    let agenda = Agenda::new(DeskDatabase::in_memory().unwrap(), CalendarOwner::new(zone.clone()));
    let time = |hour| {
        let time: jiff::civil::DateTime = format!("2026-11-24 {hour}:00").parse().unwrap();
        time.to_zoned(zone.clone()).unwrap()
    };
    let slot = toolcrib_desk::backend::EventSlot::Timed { start: time(10), end: time(11) };
    agenda.add(OWNER, new("x", slot)).await.unwrap();
    let text = agenda.export(OWNER).await.unwrap();
    let lines = text.lines().skip_while(|line| *line != "BEGIN:VTIMEZONE");
    lines.take_while(|line| *line != "END:VTIMEZONE").map(str::to_owned).collect()
}

#[tokio::test]
async fn a_zone_is_written_with_its_rules() {
    let expected = [
        "BEGIN:VTIMEZONE",
        "TZID:Europe/Zurich",
        "X-LIC-LOCATION:Europe/Zurich",
        "BEGIN:STANDARD",
        "DTSTART:20261025T030000",
        "TZOFFSETFROM:+0200",
        "TZOFFSETTO:+0100",
        "TZNAME:CET",
        "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
        "END:STANDARD",
        "BEGIN:DAYLIGHT",
        "DTSTART:20260329T020000",
        "TZOFFSETFROM:+0100",
        "TZOFFSETTO:+0200",
        "TZNAME:CEST",
        "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
        "END:DAYLIGHT",
    ];
    assert_eq!(zone_of("Europe/Zurich").await, expected);
    let york = zone_of("America/New_York").await;
    assert!(york.contains(&"RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU".to_owned()), "{york:?}");
    let kolkata = zone_of("Asia/Kolkata").await;
    assert!(kolkata.contains(&"TZOFFSETTO:+0530".to_owned()), "{kolkata:?}");
    assert_eq!(kolkata.iter().filter(|line| line.starts_with("BEGIN:")).count(), 2);
    // Changes by the moon, which no rule says.
    let gaza = zone_of("Asia/Gaza").await;
    assert!(gaza.iter().filter(|line| *line == "END:DAYLIGHT").count() > 5, "{gaza:?}");
    assert_eq!(zone_of("UTC").await, [""; 0]);
}

#[tokio::test]
async fn an_event_is_written_as_others_read_it() {
    let agenda = Agenda::new(DeskDatabase::in_memory().unwrap(), home());
    let slot = timed("2026-11-23 09:00", "2026-11-23 09:15");
    let series = agenda.add(OWNER, repeated("Standup", slot, "FREQ=WEEKLY;BYDAY=MO"));
    let series = series.await.unwrap();
    for (key, gone) in [("20261130T080000Z", true), ("20261207T080000Z", false)] {
        let id = format!("{}@{key}", series.id);
        if gone {
            agenda.remove(OWNER, &id).await.unwrap();
        } else {
            let slot = Some(timed("2026-12-08 10:00", "2026-12-08 10:15"));
            let change = toolcrib_desk::backend::EventChange { slot, ..Default::default() };
            agenda.change(OWNER, &id, change).await.unwrap();
        }
    }
    let text = agenda.export(OWNER).await.unwrap();
    let of_time = ["DTSTART", "DTEND", "RRULE", "EXDATE", "RECURRENCE-ID"];
    let lines: Vec<&str> = text
        .lines()
        .skip_while(|line| *line != "BEGIN:VEVENT")
        .filter(|line| of_time.iter().any(|name| line.starts_with(name)))
        .collect();
    let expected = [
        "RRULE:FREQ=WEEKLY;BYDAY=MO",
        "DTSTART;TZID=Europe/Zurich:20261123T090000",
        "DTEND;TZID=Europe/Zurich:20261123T091500",
        "EXDATE;TZID=Europe/Zurich:20261130T090000",
        "DTSTART;TZID=Europe/Zurich:20261208T100000",
        "DTEND;TZID=Europe/Zurich:20261208T101500",
        "RECURRENCE-ID;TZID=Europe/Zurich:20261207T090000",
    ];
    assert_eq!(lines, expected);
}

/// Pieces of lines, put together as no program would.
fn lines() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "DTSTART",
        "DTEND",
        "DURATION",
        "RRULE",
        "EXDATE",
        "RDATE",
        "RECURRENCE-ID",
        "UID",
        "DUE",
        "SUMMARY",
        "ATTENDEE",
        "X-A",
        "STATUS",
        "COMPLETED",
    ]);
    let parameters = prop::sample::select(vec![
        "",
        ";VALUE=DATE",
        ";TZID=Europe/Zurich",
        ";TZID=\"Odd\"",
        ";CN=\"a,^n\";X",
        ";=",
        ";A=;B",
    ]);
    let values = prop::sample::select(vec![
        "20261123",
        "20261123T090000",
        "20261123T090000Z",
        "20261025T023000",
        "00000101",
        "99991231T235960Z",
        "PT1H",
        "-P1W",
        "P99999999999D",
        "FREQ=DAILY",
        "FREQ=WEEKLY;COUNT=3",
        "FREQ=YEARLY;UNTIL=20300101",
        "FREQ=SECONDLY",
        "a",
        "b\\, c\\n\\",
        "mailto:x@y.z",
        "COMPLETED",
        "20261123,20261124T000000Z,x",
    ]);
    let line = (names, parameters, values).prop_map(|(a, b, c)| format!("{a}{b}:{c}\r\n"));
    let odd = "[ -~éß\t\u{80}]{0,90}".prop_map(|text| format!("{text}\r\n"));
    let marks = prop::sample::select(vec![
        "END:VEVENT\r\nBEGIN:VEVENT\r\n",
        "END:VEVENT\r\nBEGIN:VTODO\r\nUID:t\r\nEND:VTODO\r\nBEGIN:VEVENT\r\n",
        " folded\r\n",
        "\r\n",
    ]);
    let part = prop_oneof![8 => line, 1 => odd, 2 => marks.prop_map(str::to_owned)];
    prop::collection::vec(part, 0..30).prop_map(|parts| {
        let parts = parts.concat();
        format!("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n{parts}END:VEVENT\r\nEND:VCALENDAR\r\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_read_is_the_same_when_it_is_written_and_read_again(text in lines()) {
        let Ok(whole) = read(&text) else { return Ok(()) };
        let written: String = whole.iter().map(IcalComponent::write).collect();
        prop_assert_eq!(read(&written), Ok(whole));
    }

    #[test]
    fn whatever_is_taken_in_is_listed_and_can_be_given_to_another(text in lines()) {
        comes_and_goes(&text)?;
    }
}

/// Takes a text in, asks for everything of it, and takes in again what is given out.
fn comes_and_goes(text: &str) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let agenda = Agenda::new(DeskDatabase::in_memory().unwrap(), home());
        if agenda.import(OWNER, text.to_owned()).await.is_err() {
            return Ok(());
        }
        let query = crate::agenda::query("2026-01-01 00:00", "2027-12-31 00:00");
        let events = agenda.events(OWNER, query).await.unwrap().items;
        for event in &events {
            prop_assert_eq!(&agenda.event(OWNER, &event.id).await.unwrap(), event);
        }
        let given = agenda.export(OWNER).await.unwrap();
        let other = Agenda::new(DeskDatabase::in_memory().unwrap(), home());
        let imported = other.import(OWNER, given).await.unwrap();
        prop_assert_eq!(imported.skipped, Vec::<String>::new());
        // Ids are others, and all else is the same.
        let query = crate::agenda::query("2026-01-01 00:00", "2027-12-31 00:00");
        let again = other.events(OWNER, query).await.unwrap().items;
        let shown = |events: &[toolcrib_desk::backend::CalendarEvent]| {
            let mut all: Vec<String> = events
                .iter()
                .map(|it| format!("{:?} {} {:?}", it.slot, it.title, it.rule))
                .collect();
            all.sort();
            all
        };
        prop_assert_eq!(shown(&again), shown(&events));
        Ok(())
    })
}
