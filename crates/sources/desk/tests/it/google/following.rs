//! An occurrence and all after it.

use toolcrib_desk::backend::{BackendErrorKind, CalendarBackend, EventChange, NewEvent};

use super::calendar::{add, change, listed, new, query};
use super::{Account, kind, person, timed};

#[tokio::test]
async fn all_after_an_occurrence_go_on_by_themselves_or_are_removed() {
    let account = Account::open();
    let google = &account.google;
    let slot =
        |day: &str, hour: u8| timed(&format!("{day} {hour:02}:00"), &format!("{day} {hour:02}:30"));
    let weekly = NewEvent {
        rule: Some("FREQ=WEEKLY;COUNT=5;BYDAY=MO".to_owned()),
        description: Some("Daily".to_owned()),
        guests: vec![person("ben@example.org")],
        ..new("Standup", slot("2026-11-23", 9))
    };
    let series = add(&account, weekly).await;
    let listed = async || listed(&account, query("2026-11-22 00:00", "2027-01-10 00:00")).await;
    let third = listed().await.remove(2);
    let later = EventChange {
        title: Some("Sync".to_owned()),
        slot: Some(slot("2026-12-08", 10)),
        ..EventChange::default()
    };
    let rest = google.change_following("", &third.id, later).await.unwrap();
    assert_eq!(rest.rule.as_deref(), Some("FREQ=WEEKLY;COUNT=3;BYDAY=TU"));
    assert_eq!((&rest.guests, &rest.description), (&series.guests, &series.description));
    let told: Vec<_> = listed().await.into_iter().map(|it| (it.title, it.slot)).collect();
    let one = |title: &str, slot| (title.to_owned(), slot);
    let expected = [
        one("Standup", slot("2026-11-23", 9)),
        one("Standup", slot("2026-11-30", 9)),
        one("Sync", slot("2026-12-08", 10)),
        one("Sync", slot("2026-12-15", 10)),
        one("Sync", slot("2026-12-22", 10)),
    ];
    assert_eq!(told, expected);
    let ended = google.event("", &series.id).await.unwrap();
    assert_eq!(ended.rule.as_deref(), Some("FREQ=WEEKLY;UNTIL=20261207T075959Z;BYDAY=MO"));
    // From the first on it is all of it, and what was moved by itself moves nothing else.
    let first = listed().await.remove(0);
    let renamed = EventChange { title: Some("Early".to_owned()), ..EventChange::default() };
    let all = google.change_following("", &first.id, renamed).await.unwrap();
    assert_eq!((&all.id, &*all.title), (&series.id, "Early"));
    let last = listed().await.remove(4);
    let moved = |slot| EventChange { slot: Some(slot), ..EventChange::default() };
    change(&account, &last.id, moved(slot("2026-12-23", 10))).await;
    let refused = google.change_following("", &last.id, moved(slot("2026-12-24", 10))).await;
    assert_eq!(kind(refused), BackendErrorKind::Invalid);
    let fourth = listed().await.remove(3);
    google.remove_following("", &fourth.id).await.unwrap();
    assert_eq!(
        google.event("", &rest.id).await.unwrap().rule.as_deref(),
        Some("FREQ=WEEKLY;UNTIL=20261215T085959Z;BYDAY=TU")
    );
    google.remove_following("", &listed().await[2].id).await.unwrap();
    assert_eq!(kind(google.event("", &rest.id).await), BackendErrorKind::NotFound);
    let none = google.remove_following("", "nothing").await;
    assert_eq!(kind(none), BackendErrorKind::NotFound);
    account.close();
}
