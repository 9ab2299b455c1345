//! Events that repeat.

use toolcrib_desk::backend::{BackendErrorKind, EventChange, EventSlot, FieldChange};

use super::{OWNER, Subject, at, days, kind, new, repeated, timed};

const WEEKLY: &str = "FREQ=WEEKLY;BYDAY=MO";

fn standup(date: &str) -> EventSlot {
    timed(&format!("{date} 09:00"), &format!("{date} 09:15"))
}

fn moved_to(slot: EventSlot) -> EventChange {
    EventChange { slot: Some(slot), ..EventChange::default() }
}

/// Only the slots.
async fn slots(it: &Subject, from: &str, until: &str) -> Vec<EventSlot> {
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
    assert_eq!(kind(it.calendar.event(OWNER, &third).await), BackendErrorKind::NotFound);
    assert_eq!(kind(it.calendar.remove(OWNER, &third).await), BackendErrorKind::NotFound);
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
    assert_eq!(kind(refused), BackendErrorKind::Invalid);
    let both = EventChange {
        rule: FieldChange::Set("FREQ=MONTHLY;BYDAY=-1TH".to_owned()),
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
        assert_eq!(kind(it.calendar.add(OWNER, event).await), BackendErrorKind::Invalid, "{rule}");
    }
    assert_eq!(it.listed("2026-11-01 00:00", "2027-01-01 00:00").await, []);
}

pub(crate) async fn a_rule_is_set_and_taken_away(it: &Subject) {
    let single = it.add(new("Standup", standup("2026-11-23"))).await;
    let rule = |rule| EventChange { rule, ..EventChange::default() };
    let set = rule(FieldChange::Set("FREQ=DAILY;UNTIL=20261125".to_owned()));
    let series = it.calendar.change(OWNER, &single.id, set).await.unwrap();
    // The end of that day in Zurich, as the standard wants it beside a time.
    assert_eq!(series.rule.as_deref(), Some("FREQ=DAILY;UNTIL=20261125T225959Z"));
    let all = [standup("2026-11-23"), standup("2026-11-24"), standup("2026-11-25")];
    assert_eq!(slots(it, "2026-11-01 00:00", "2027-01-01 00:00").await, all);
    let occurrence = format!("{}@20261123T080000Z", single.id);
    let refused = it.calendar.change(OWNER, &occurrence, rule(FieldChange::Clear)).await;
    assert_eq!(kind(refused), BackendErrorKind::Invalid);
    let cleared = it.calendar.change(OWNER, &single.id, rule(FieldChange::Clear)).await.unwrap();
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
        location: FieldChange::Set("Room 2".to_owned()),
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
    assert!(
        matches!(&left.slot, EventSlot::Timed { start, .. } if *start == at("2026-11-24 09:00"))
    );
    it.calendar.remove(OWNER, &format!("{}@20261124T080000Z", series.id)).await.unwrap();
    assert_eq!(kind(it.calendar.event(OWNER, &series.id).await), BackendErrorKind::NotFound);
}

pub(crate) async fn all_after_an_occurrence_go_on_by_themselves(it: &Subject) {
    for (rule, before, after) in [
        (WEEKLY, "FREQ=WEEKLY;UNTIL=20261207T075959Z;BYDAY=MO", "FREQ=WEEKLY;BYDAY=TU"),
        (
            "FREQ=WEEKLY;COUNT=4;BYDAY=MO",
            "FREQ=WEEKLY;UNTIL=20261207T075959Z;BYDAY=MO",
            "FREQ=WEEKLY;COUNT=2;BYDAY=TU",
        ),
        (
            "FREQ=WEEKLY;UNTIL=20261214T225959Z;BYDAY=MO",
            "FREQ=WEEKLY;UNTIL=20261207T075959Z;BYDAY=MO",
            "FREQ=WEEKLY;UNTIL=20261214T225959Z;BYDAY=TU",
        ),
    ] {
        let first = it.add(repeated("Standup", standup("2026-11-23"), rule)).await;
        let third = format!("{}@20261207T080000Z", first.id);
        let ten = |day: &str| timed(&format!("{day} 10:00"), &format!("{day} 10:30"));
        let change = EventChange {
            title: Some("Sync".to_owned()),
            location: FieldChange::Set("Room 2".to_owned()),
            ..moved_to(ten("2026-12-08"))
        };
        let rest = it.calendar.change_following(OWNER, &third, change).await.unwrap();
        assert_eq!((&*rest.title, rest.rule.as_deref()), ("Sync", Some(after)));
        assert_eq!((&rest.slot, &rest.series), (&ten("2026-12-08"), &Some(rest.id.clone())));
        assert_ne!(rest.id, first.id);
        assert_eq!(it.event(&rest.id).await, rest);
        let left = it.event(&first.id).await;
        assert_eq!((&*left.title, &left.location), ("Standup", &None));
        assert_eq!(left.rule.as_deref(), Some(before));
        let mut expected = vec![standup("2026-11-23"), standup("2026-11-30"), ten("2026-12-08")];
        // The end of the third rule is before the second Tuesday.
        if !rule.contains("UNTIL") {
            expected.push(ten("2026-12-15"));
        }
        assert_eq!(slots(it, "2026-11-22 00:00", "2026-12-20 00:00").await, expected, "{rule}");
        assert_eq!(kind(it.calendar.event(OWNER, &third).await), BackendErrorKind::NotFound);
        for id in [first.id, rest.id] {
            it.calendar.remove(OWNER, &id).await.unwrap();
        }
    }
    // From the first on it is the whole series, and a single event is itself.
    let days_off = it.add(repeated("Off", days("2026-11-23", "2026-11-24"), "FREQ=WEEKLY")).await;
    let first = format!("{}@20261123", days_off.id);
    let renamed = EventChange { title: Some("Away".to_owned()), ..EventChange::default() };
    let all = it.calendar.change_following(OWNER, &first, renamed.clone()).await.unwrap();
    assert_eq!((&all.id, &*all.title), (&days_off.id, "Away"));
    let second = format!("{}@20261130", days_off.id);
    let ended = EventChange { rule: FieldChange::Clear, ..renamed.clone() };
    let last = it.calendar.change_following(OWNER, &second, ended).await.unwrap();
    assert_eq!((&last.series, &last.slot), (&None, &days("2026-11-30", "2026-12-01")));
    let left = it.event(&days_off.id).await;
    assert_eq!(left.rule.as_deref(), Some("FREQ=WEEKLY;UNTIL=20261129"));
    let single = it.calendar.change_following(OWNER, &last.id, renamed).await.unwrap();
    assert_eq!((&single.id, &*single.title), (&last.id, "Away"));
}

pub(crate) async fn all_after_an_occurrence_are_removed(it: &Subject) {
    let series = it.add(repeated("Standup", standup("2026-11-23"), WEEKLY)).await;
    it.calendar.remove(OWNER, &format!("{}@20261123T080000Z", series.id)).await.unwrap();
    let fourth = format!("{}@20261214T080000Z", series.id);
    it.calendar.remove_following(OWNER, &fourth).await.unwrap();
    let left = [standup("2026-11-30"), standup("2026-12-07")];
    assert_eq!(slots(it, "2026-11-22 00:00", "2027-02-01 00:00").await, left);
    assert_eq!(
        kind(it.calendar.remove_following(OWNER, &fourth).await),
        BackendErrorKind::NotFound
    );
    // The second is the first that is left.
    let second = format!("{}@20261130T080000Z", series.id);
    it.calendar.remove_following(OWNER, &second).await.unwrap();
    assert_eq!(kind(it.calendar.event(OWNER, &series.id).await), BackendErrorKind::NotFound);
    let single = it.add(new("Once", standup("2026-11-23"))).await;
    it.calendar.remove_following(OWNER, &single.id).await.unwrap();
    assert_eq!(slots(it, "2026-11-22 00:00", "2027-02-01 00:00").await, []);
}

pub(crate) async fn what_was_changed_of_a_series_stays_when_it_is_parted(it: &Subject) {
    let series = it.add(repeated("Standup", standup("2026-11-23"), WEEKLY)).await;
    let on = |day: &str| format!("{}@{day}T080000Z", series.id);
    let renamed =
        |title: &str| EventChange { title: Some(title.to_owned()), ..EventChange::default() };
    it.calendar.change(OWNER, &on("20261123"), renamed("First")).await.unwrap();
    let late = timed("2026-12-15 11:00", "2026-12-15 11:30");
    it.calendar.change(OWNER, &on("20261214"), moved_to(late.clone())).await.unwrap();
    it.calendar.remove(OWNER, &on("20261130")).await.unwrap();
    it.calendar.remove(OWNER, &on("20261221")).await.unwrap();
    it.calendar.change(OWNER, &on("20261207"), renamed("Third")).await.unwrap();
    let room =
        EventChange { location: FieldChange::Set("Room 2".to_owned()), ..EventChange::default() };
    it.calendar.change_following(OWNER, &on("20261207"), room).await.unwrap();
    let told = |title: &str, slot: EventSlot| (title.to_owned(), slot);
    let expected = [
        told("First", standup("2026-11-23")),
        told("Third", standup("2026-12-07")),
        told("Standup", late),
        told("Standup", standup("2026-12-28")),
    ];
    assert_eq!(it.listed("2026-11-22 00:00", "2027-01-01 00:00").await, expected);
    let page = it.calendar.events(OWNER, super::query("2026-11-22 00:00", "2027-01-01 00:00"));
    let rooms: Vec<bool> =
        page.await.unwrap().items.into_iter().map(|it| it.location.is_some()).collect();
    assert_eq!(rooms, [false, true, true, true]);
}

pub(crate) async fn what_cannot_be_parted_is_told(it: &Subject) {
    let series = it.add(repeated("Standup", standup("2026-11-23"), WEEKLY)).await;
    let second = format!("{}@20261130T080000Z", series.id);
    let late = standup("2026-12-01");
    it.calendar.change(OWNER, &second, moved_to(late.clone())).await.unwrap();
    let refused = it.calendar.change_following(OWNER, &second, moved_to(standup("2026-12-02")));
    assert_eq!(kind(refused.await), BackendErrorKind::Invalid);
    let none = format!("{}@20261201T080000Z", series.id);
    let refused = it.calendar.change_following(OWNER, &none, EventChange::default()).await;
    assert_eq!(kind(refused), BackendErrorKind::NotFound);
    assert_eq!(kind(it.calendar.remove_following(OWNER, &none).await), BackendErrorKind::NotFound);
    // 02:30 is left out on 2027-03-28, and no series begins on such a day.
    let night = timed("2027-03-27 02:30", "2027-03-27 02:45");
    let nights = it.add(repeated("Backup", night, "FREQ=DAILY;COUNT=3")).await;
    let odd = format!("{}@20270328T013000Z", nights.id);
    let refused = it.calendar.change_following(OWNER, &odd, EventChange::default()).await;
    assert_eq!(kind(refused), BackendErrorKind::Invalid);
    let listed = it.listed("2027-03-27 00:00", "2027-03-30 00:00").await;
    assert_eq!(listed.iter().filter(|(title, _)| title == "Backup").count(), 3);
}
