//! What every keeper of events and tasks does alike: the same tests for each.

pub(crate) mod invitations;
pub(crate) mod searching;
pub(crate) mod series;
pub(crate) mod single;
pub(crate) mod tasks;

use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use toolcrib_desk::CalendarOwner;
use toolcrib_desk::backend::{
    BackendError, BackendErrorKind, CalendarBackend, CalendarEvent, EventQuery, EventSlot,
    NewEvent, TasksBackend,
};

/// Something to test: a keeper with nothing in it.
pub(crate) struct Subject {
    pub(crate) calendar: Arc<dyn CalendarBackend>,
    pub(crate) tasks: Arc<dyn TasksBackend>,
    /// What has to live as long.
    pub(crate) _guard: Option<Box<dyn std::any::Any + Send + Sync>>,
}

pub(crate) const OWNER: &str = "anna";
pub(crate) const OWN_ADDRESS: &str = "anna@example.org";

/// Makes a test of every case for one kind of subject; `$open` gives one, or nothing where it
/// cannot be had.
macro_rules! agenda_tests {
    ($open:path) => {
        agenda_tests!($open: single {
            an_event_is_added_found_moved_and_removed,
            an_event_keeps_all_that_was_said_of_it,
            a_change_touches_what_it_names_alone,
            an_event_of_whole_days_is_no_time_at_midnight,
            an_event_of_whole_days_may_become_one_of_hours,
            the_only_occurrence_of_an_event_is_the_event,
            what_is_not_there_is_told_as_such,
            what_ends_before_it_starts_is_refused,
            of_two_changes_at_once_none_is_lost,
        });
        agenda_tests!($open: series {
            one_occurrence_is_moved_and_one_removed,
            an_occurrence_moved_out_of_a_stretch_is_found_where_it_is,
            a_series_keeps_its_time_on_the_clock_over_a_change_of_clocks,
            a_series_of_days_has_days_for_occurrences,
            a_series_is_moved_with_its_exceptions,
            a_series_moved_to_another_day_takes_its_rule_along,
            a_rule_that_does_not_fall_on_its_start_is_refused,
            a_rule_is_set_and_taken_away,
            a_change_of_all_leaves_what_was_changed_by_itself,
            a_series_without_occurrences_is_gone,
            all_after_an_occurrence_go_on_by_themselves,
            all_after_an_occurrence_are_removed,
            what_was_changed_of_a_series_stays_when_it_is_parted,
            what_cannot_be_parted_is_told,
        });
        agenda_tests!($open: searching {
            words_are_found_wherever_they_stand,
            pages_go_on_where_the_one_before_ended,
            only_what_overlaps_is_in_a_stretch_of_time,
            a_stretch_may_be_all_of_time,
        });
        agenda_tests!($open: invitations {
            an_invitation_is_answered_once_and_for_all,
            one_occurrence_is_answered_by_itself,
            who_was_not_invited_cannot_answer,
            guests_who_stay_keep_their_answer,
        });
        agenda_tests!($open: tasks {
            a_task_is_added_completed_reopened_and_removed,
            tasks_stand_in_the_order_of_their_due_time,
            tasks_are_found_by_list_day_and_words,
            a_list_is_made_once,
            a_task_that_is_not_there_is_told_as_such,
        });
    };
    ($open:path: $module:ident { $($name:ident),* $(,)? }) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let Some(subject) = $open().await else { return };
                crate::agenda::$module::$name(&subject).await;
            }
        )*
    };
}
pub(crate) use agenda_tests;

pub(crate) fn home() -> CalendarOwner {
    let zone = TimeZone::get("Europe/Zurich").unwrap();
    CalendarOwner { addresses: vec![OWN_ADDRESS.to_owned()], ..CalendarOwner::new(zone) }
}

/// A time in Zurich: `2026-11-23 09:00`.
pub(crate) fn at(time: &str) -> Zoned {
    let time: jiff::civil::DateTime = time.parse().unwrap();
    time.in_tz("Europe/Zurich").unwrap()
}

pub(crate) fn timed(start: &str, end: &str) -> EventSlot {
    EventSlot::Timed { start: at(start), end: at(end) }
}

pub(crate) fn days(first: &str, last: &str) -> EventSlot {
    EventSlot::Days { first: first.parse().unwrap(), last: last.parse().unwrap() }
}

pub(crate) fn new(title: &str, slot: EventSlot) -> NewEvent {
    NewEvent {
        calendar: None,
        title: title.to_owned(),
        slot,
        description: None,
        location: None,
        guests: Vec::new(),
        rule: None,
        busy: true,
    }
}

pub(crate) fn repeated(title: &str, slot: EventSlot, rule: &str) -> NewEvent {
    NewEvent { rule: Some(rule.to_owned()), ..new(title, slot) }
}

pub(crate) fn query(from: &str, until: &str) -> EventQuery {
    let at = |time: &str| -> Timestamp { at(time).timestamp() };
    EventQuery {
        calendar: None,
        from: at(from),
        until: at(until),
        text: None,
        limit: 100,
        cursor: None,
    }
}

impl Subject {
    pub(crate) async fn add(&self, event: NewEvent) -> CalendarEvent {
        self.calendar.add(OWNER, event).await.unwrap()
    }

    /// The titles and slots in a stretch of time.
    pub(crate) async fn listed(&self, from: &str, until: &str) -> Vec<(String, EventSlot)> {
        let page = self.calendar.events(OWNER, query(from, until)).await.unwrap();
        page.items.into_iter().map(|event| (event.title, event.slot)).collect()
    }

    pub(crate) async fn event(&self, id: &str) -> CalendarEvent {
        self.calendar.event(OWNER, id).await.unwrap()
    }
}

pub(crate) fn kind<T: std::fmt::Debug>(result: Result<T, BackendError>) -> BackendErrorKind {
    result.expect_err("this should not have worked").kind
}
