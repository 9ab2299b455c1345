//! Lists, searches and pages.

use jiff::Timestamp;
use toolcrib_desk::backend::{BackendErrorKind, EventQuery, NewEvent, Person};

use super::{OWNER, Subject, days, kind, new, query, repeated, timed};

async fn found(it: &Subject, text: &str) -> Vec<String> {
    let query =
        EventQuery { text: Some(text.to_owned()), ..query("2026-01-01 00:00", "2027-12-31 00:00") };
    let page = it.calendar.events(OWNER, query).await.unwrap();
    page.items.into_iter().map(|event| event.title).collect()
}

pub(crate) async fn words_are_found_wherever_they_stand(it: &Subject) {
    let slot = |day: &str| timed(&format!("{day} 10:00"), &format!("{day} 11:00"));
    it.add(NewEvent {
        description: Some("About the BUDGET of spring".to_owned()),
        ..new("Review", slot("2026-11-24"))
    })
    .await;
    it.add(NewEvent {
        location: Some("Café Müller".to_owned()),
        ..new("Breakfast", slot("2026-11-25"))
    })
    .await;
    let guest = Person { address: "zoe@example.org".to_owned(), name: Some("Zoë Keller".into()) };
    it.add(NewEvent { guests: vec![guest], ..new("One to one", slot("2026-11-26")) }).await;
    assert_eq!(found(it, "budget").await, ["Review"]);
    assert_eq!(found(it, "spring REVIEW").await, ["Review"]);
    assert_eq!(found(it, "müller").await, ["Breakfast"]);
    assert_eq!(found(it, "ZOË").await, ["One to one"]);
    assert_eq!(found(it, "zoe@example").await, ["One to one"]);
    assert_eq!(found(it, "budget müller").await, [""; 0]);
    assert_eq!(found(it, "  ").await, ["Review", "Breakfast", "One to one"]);
}

pub(crate) async fn pages_go_on_where_the_one_before_ended(it: &Subject) {
    for number in 0..5 {
        let same = timed("2026-11-24 10:00", "2026-11-24 11:00");
        it.add(new(&format!("Same {number}"), same)).await;
    }
    let start = timed("2026-11-20 08:00", "2026-11-20 08:05");
    it.add(repeated("Daily", start, "FREQ=DAILY;COUNT=9")).await;
    let whole = it.calendar.events(OWNER, query("2026-11-01 00:00", "2026-12-01 00:00"));
    let whole = whole.await.unwrap();
    assert_eq!((whole.items.len(), &whole.next), (14, &None));
    let mut paged = Vec::new();
    let mut cursor = None;
    loop {
        let query =
            EventQuery { limit: 3, cursor, ..query("2026-11-01 00:00", "2026-12-01 00:00") };
        let page = it.calendar.events(OWNER, query).await.unwrap();
        assert!(page.items.len() <= 3);
        paged.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
        // What comes in the meantime before the place of the cursor changes nothing after it.
        if paged.len() == 3 {
            let early = timed("2026-11-02 10:00", "2026-11-02 11:00");
            it.add(new("Early", early)).await;
        }
    }
    assert_eq!(paged, whole.items);
    let odd = EventQuery {
        cursor: Some("nonsense".to_owned()),
        ..query("2026-11-01 00:00", "2026-12-01 00:00")
    };
    assert_eq!(kind(it.calendar.events(OWNER, odd).await), BackendErrorKind::Invalid);
}

pub(crate) async fn only_what_overlaps_is_in_a_stretch_of_time(it: &Subject) {
    it.add(new("Night", timed("2026-11-24 22:00", "2026-11-25 02:00"))).await;
    it.add(new("Moment", timed("2026-11-25 02:00", "2026-11-25 02:00"))).await;
    it.add(new("Day", days("2026-11-25", "2026-11-25"))).await;
    let titles = async |from: &str, until: &str| -> Vec<String> {
        it.listed(from, until).await.into_iter().map(|(title, _)| title).collect()
    };
    assert_eq!(titles("2026-11-24 00:00", "2026-11-25 00:00").await, ["Night"]);
    assert_eq!(titles("2026-11-25 00:00", "2026-11-25 01:00").await, ["Night", "Day"]);
    assert_eq!(titles("2026-11-25 02:00", "2026-11-25 03:00").await, ["Day", "Moment"]);
    assert_eq!(titles("2026-11-25 03:00", "2026-11-25 04:00").await, ["Day"]);
    assert_eq!(titles("2026-11-26 00:00", "2026-11-27 00:00").await, [""; 0]);
}

pub(crate) async fn a_stretch_may_be_all_of_time(it: &Subject) {
    it.add(new("Old", timed("1903-01-01 10:00", "1903-01-01 11:00"))).await;
    it.add(new("New", days("2199-12-31", "2199-12-31"))).await;
    let all = EventQuery {
        from: Timestamp::MIN,
        until: Timestamp::MAX,
        ..query("2026-01-01 00:00", "2026-01-01 00:00")
    };
    let page = it.calendar.events(OWNER, all.clone()).await.unwrap();
    let titles: Vec<&str> = page.items.iter().map(|event| event.title.as_str()).collect();
    assert_eq!(titles, ["Old", "New"]);
    let daily = timed("2026-11-23 09:00", "2026-11-23 09:15");
    it.add(repeated("For ever", daily, "FREQ=DAILY")).await;
    assert_eq!(kind(it.calendar.events(OWNER, all).await), BackendErrorKind::Invalid);
    let backwards = query("2026-12-01 00:00", "2026-11-01 00:00");
    assert_eq!(it.calendar.events(OWNER, backwards).await.unwrap().items, []);
}
