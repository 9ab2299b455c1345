//! Events that repeat.

use toolcrib_desk::backend::{Change, EventChange, FaultKind, Slot};

use super::{OWNER, Subject, at, days, kind, new, repeated, timed};

const WEEKLY: &str = "FREQ=WEEKLY;BYDAY=MO";

fn standup(date: &str) -> Slot {
    timed(&format!("{date} 09:00"), &format!("{date} 09:15"))
}

fn moved_to(slot: Slot) -> EventChange {
    EventChange { slot: Some(slot), ..EventChange::default() }
}

/// Only the slots.
async fn slots(it: &Subject, from: &str, until: &str) -> Vec<Slot> {
    it.listed(from, until).await.into_iter().map(|(_, slot)| slot).collect()
}

pub(crate) async fn one_occurrence_is_moved_and_one_removed(it: &Subject) {
    let series = it.add(repeated("Standup", standup("2026-11-23"), WEEKLY)).await;
    assert_eq!(series.series.as_ref(), Some(&series.id));
    assert_eq!(series.rule.as_deref(), Some(WEEKLY));
    let second = format!("{}@20261130T080000Z", series.id);
    let third = format!("{}@20261207T080000Z", series.id);
    let late = timed("2026-12-01 10:00", "2026-12-01 10:15");
    let moved = it.calendar.change(OWNER, &second, moved_to(late.clone())).await.unwrap();
    assert_eq!((&moved.id, &moved.slot), (&second, &late));
    it.calendar.remove(OWNER, &third).await.unwrap();

    let expected = [standup("2026-11-23"), late.clone(), standup("2026-12-14")];
    assert_eq!(slots(it, "2026-11-22 00:00", "2026-12-20 00:00").await, expected);
    assert_eq!(it.event(&second).await, moved);
    assert_eq!(moved.series, Some(series.id.clone()));
    assert_eq!(kind(it.calendar.event(OWNER, &third).await), FaultKind::NotFound);
    assert_eq!(kind(it.calendar.remove(OWNER, &third).await), FaultKind::NotFound);
    // It is told under its own id in a list too.
    let page = it.calendar.events(OWNER, super::query("2026-12-01 00:00", "2026-12-02 00:00"));
    assert_eq!(page.await.unwrap().items, [moved]);
    let renamed = EventChange { title: Some("Big one".to_owned()), ..EventChange::default() };
    let renamed = it.calendar.change(OWNER, &second, renamed).await.unwrap();
    assert_eq!((renamed.title.as_str(), &renamed.slot), ("Big one", &late));
    assert_eq!(it.event(&series.id).await.title, "Standup");
}

pub(crate) async fn an_occurrence_moved_out_of_a_stretch_is_found_where_it_is(it: &Subject) {
    let series =
        it.add(repeated("Call", standup("2026-11-23"), "FREQ=WEEKLY;COUNT=3;BYDAY=MO")).await;
    let last = format!("{}@20261207T080000Z", series.id);
    let far = standup("2027-06-01");
    it.calendar.change(OWNER, &last, moved_to(far.clone())).await.unwrap();
    assert_eq!(slots(it, "2027-05-31 00:00", "2027-06-02 00:00").await, [far]);
    assert_eq!(slots(it, "2026-12-01 00:00", "2027-01-01 00:00").await, []);
    let early = standup("2026-01-05");
    it.calendar.change(OWNER, &last, moved_to(early.clone())).await.unwrap();
    assert_eq!(slots(it, "2026-01-01 00:00", "2026-02-01 00:00").await, [early]);
}

pub(crate) async fn a_series_keeps_its_time_on_the_clock_over_a_change_of_clocks(it: &Subject) {
    // Clocks go back on 2026-10-25 and forward on 2027-03-28.
    it.add(repeated("Standup", standup("2026-10-19"), WEEKLY)).await;
    let expected = [standup("2026-10-19"), standup("2026-10-26"), standup("2026-11-02")];
    assert_eq!(slots(it, "2026-10-18 00:00", "2026-11-03 00:00").await, expected);
    let spring = slots(it, "2027-03-22 00:00", "2027-03-30 00:00").await;
    assert_eq!(spring, [standup("2027-03-22"), standup("2027-03-29")]);
    let page = it.calendar.events(OWNER, super::query("2026-10-18 00:00", "2026-11-03 00:00"));
    let ids: Vec<String> = page.await.unwrap().items.into_iter().map(|event| event.id).collect();
    let ends: Vec<&str> = ids.iter().map(|id| id.rsplit('@').next().unwrap()).collect();
    assert_eq!(ends, ["20261019T070000Z", "20261026T080000Z", "20261102T080000Z"]);
}

pub(crate) async fn a_series_of_days_has_days_for_occurrences(it: &Subject) {
    let weekend = days("2026-11-28", "2026-11-29");
    let series = it.add(repeated("Weekend", weekend.clone(), "FREQ=WEEKLY;COUNT=3")).await;
    let next = days("2026-12-05", "2026-12-06");
    let last = days("2026-12-12", "2026-12-13");
    let expected = [weekend.clone(), next, last.clone()];
    assert_eq!(slots(it, "2026-11-01 00:00", "2027-01-01 00:00").await, expected);
    it.calendar.remove(OWNER, &format!("{}@20261205", series.id)).await.unwrap();
    assert_eq!(slots(it, "2026-11-01 00:00", "2027-01-01 00:00").await, [weekend, last.clone()]);
    let one_day = days("2026-12-14", "2026-12-14");
    let id = format!("{}@20261212", series.id);
    it.calendar.change(OWNER, &id, moved_to(one_day.clone())).await.unwrap();
    assert_eq!(slots(it, "2026-12-01 00:00", "2027-01-01 00:00").await, [one_day]);
}

pub(crate) async fn a_series_is_moved_with_its_exceptions(it: &Subject) {
    let series = it.add(repeated("Standup", standup("2026-11-23"), WEEKLY)).await;
    it.calendar.remove(OWNER, &format!("{}@20261130T080000Z", series.id)).await.unwrap();
    let own = timed("2026-12-08 11:00", "2026-12-08 11:30");
    let third = format!("{}@20261207T080000Z", series.id);
    it.calendar.change(OWNER, &third, moved_to(own.clone())).await.unwrap();

    let ten = |date: &str| timed(&format!("{date} 10:00"), &format!("{date} 11:00"));
    let moved = it.calendar.change(OWNER, &series.id, moved_to(ten("2026-11-23"))).await.unwrap();
    assert_eq!(moved.slot, ten("2026-11-23"));
    let expected = [ten("2026-11-23"), own, ten("2026-12-14")];
    assert_eq!(slots(it, "2026-11-22 00:00", "2026-12-20 00:00").await, expected);
}

pub(crate) async fn a_series_moved_to_another_day_takes_its_rule_along(it: &Subject) {
    let series = it.add(repeated("Standup", standup("2026-11-23"), WEEKLY)).await;
    let moved = it.calendar.change(OWNER, &series.id, moved_to(standup("2026-11-24")));
    assert_eq!(moved.await.unwrap().rule.as_deref(), Some("FREQ=WEEKLY;BYDAY=TU"));
    let expected = [standup("2026-11-24"), standup("2026-12-01")];
    assert_eq!(slots(it, "2026-11-22 00:00", "2026-12-05 00:00").await, expected);

    let monthly = repeated("Rent", standup("2026-11-27"), "FREQ=MONTHLY;BYDAY=-1FR");
    let monthly = it.add(monthly).await;
    let refused = it.calendar.change(OWNER, &monthly.id, moved_to(standup("2026-11-26"))).await;
    assert_eq!(kind(refused), FaultKind::Invalid);
    let both = EventChange {
        rule: Change::Set("FREQ=MONTHLY;BYDAY=-1TH".to_owned()),
        ..moved_to(standup("2026-11-26"))
    };
    let moved = it.calendar.change(OWNER, &monthly.id, both).await.unwrap();
    assert_eq!(moved.slot, standup("2026-11-26"));
    assert_eq!(
        slots(it, "2026-12-28 00:00", "2027-01-01 00:00").await,
        // The last Thursday of December, and the Tuesday before it.
        [standup("2026-12-29"), standup("2026-12-31")]
    );
}

pub(crate) async fn a_rule_that_does_not_fall_on_its_start_is_refused(it: &Subject) {
    for rule in ["FREQ=WEEKLY;BYDAY=TU", "FREQ=NEVER", "every Monday"] {
        let event = repeated("Standup", standup("2026-11-23"), rule);
        assert_eq!(kind(it.calendar.add(OWNER, event).await), FaultKind::Invalid, "{rule}");
    }
    assert_eq!(it.listed("2026-11-01 00:00", "2027-01-01 00:00").await, []);
}

pub(crate) async fn a_rule_is_set_and_taken_away(it: &Subject) {
    let single = it.add(new("Standup", standup("2026-11-23"))).await;
    let rule = |rule| EventChange { rule, ..EventChange::default() };
    let set = rule(Change::Set("FREQ=DAILY;UNTIL=20261125".to_owned()));
    let series = it.calendar.change(OWNER, &single.id, set).await.unwrap();
    // The end of that day in Zurich, as the standard wants it beside a time.
    assert_eq!(series.rule.as_deref(), Some("FREQ=DAILY;UNTIL=20261125T225959Z"));
    let all = [standup("2026-11-23"), standup("2026-11-24"), standup("2026-11-25")];
    assert_eq!(slots(it, "2026-11-01 00:00", "2027-01-01 00:00").await, all);
    let occurrence = format!("{}@20261123T080000Z", single.id);
    let refused = it.calendar.change(OWNER, &occurrence, rule(Change::Clear)).await;
    assert_eq!(kind(refused), FaultKind::Invalid);
    let cleared = it.calendar.change(OWNER, &single.id, rule(Change::Clear)).await.unwrap();
    assert_eq!((&cleared.rule, &cleared.series), (&None, &None));
    assert_eq!(slots(it, "2026-11-01 00:00", "2027-01-01 00:00").await, all[..1]);
}

pub(crate) async fn a_change_of_all_leaves_what_was_changed_by_itself(it: &Subject) {
    let series = it.add(repeated("Standup", standup("2026-11-23"), WEEKLY)).await;
    let second = format!("{}@20261130T080000Z", series.id);
    let own = EventChange { title: Some("Retro".to_owned()), ..EventChange::default() };
    it.calendar.change(OWNER, &second, own).await.unwrap();
    let all = EventChange {
        title: Some("Daily".to_owned()),
        location: Change::Set("Room 2".to_owned()),
        ..EventChange::default()
    };
    it.calendar.change(OWNER, &series.id, all).await.unwrap();
    let page = it.calendar.events(OWNER, super::query("2026-11-22 00:00", "2026-12-08 00:00"));
    let told: Vec<(String, Option<String>)> =
        page.await.unwrap().items.into_iter().map(|it| (it.title, it.location)).collect();
    let room = Some("Room 2".to_owned());
    let expected = ["Daily", "Retro", "Daily"].map(|title| (title.to_owned(), room.clone()));
    assert_eq!(told, expected);
}

pub(crate) async fn a_series_without_occurrences_is_gone(it: &Subject) {
    let series = it.add(repeated("Twice", standup("2026-11-23"), "FREQ=DAILY;COUNT=2")).await;
    it.calendar.remove(OWNER, &format!("{}@20261123T080000Z", series.id)).await.unwrap();
    let left = it.event(&series.id).await;
    assert_eq!(left.slot, standup("2026-11-24"));
    assert!(matches!(&left.slot, Slot::Timed { start, .. } if *start == at("2026-11-24 09:00")));
    it.calendar.remove(OWNER, &format!("{}@20261124T080000Z", series.id)).await.unwrap();
    assert_eq!(kind(it.calendar.event(OWNER, &series.id).await), FaultKind::NotFound);
}
