//! Guests and their answers.

use toolcrib_desk::backend::{
    BackendErrorKind, EventChange, EventGuest, InvitationReply, NewEvent, Person,
};

use super::{OWN_ADDRESS, OWNER, Subject, kind, new, repeated, timed};

fn person(address: &str) -> Person {
    Person { address: address.to_owned(), name: None }
}

fn invited(event: NewEvent) -> NewEvent {
    NewEvent { guests: vec![person("ben@example.org"), person("Anna@Example.org")], ..event }
}

pub(crate) async fn an_invitation_is_answered_once_and_for_all(it: &Subject) {
    let slot = timed("2026-11-23 09:00", "2026-11-23 10:00");
    let series = it.add(invited(repeated("Meeting", slot, "FREQ=WEEKLY;COUNT=2"))).await;
    assert_eq!(series.reply, Some(InvitationReply::Waiting));
    let comment = Some("I'll be \"late\";\nsorry".to_owned());
    let answered =
        it.calendar.respond(OWNER, &series.id, InvitationReply::Accepted, comment).await.unwrap();
    assert_eq!(answered.reply, Some(InvitationReply::Accepted));
    let guest = |address: &str, reply| EventGuest { person: person(address), reply };
    let expected = [
        guest("ben@example.org", InvitationReply::Waiting),
        guest("Anna@Example.org", InvitationReply::Accepted),
    ];
    assert_eq!(answered.guests, expected);
    let second = it.event(&format!("{}@20261130T080000Z", series.id)).await;
    assert_eq!(second.reply, Some(InvitationReply::Accepted));
    let again =
        it.calendar.respond(OWNER, &series.id, InvitationReply::Declined, None).await.unwrap();
    assert_eq!(again.reply, Some(InvitationReply::Declined));
}

pub(crate) async fn one_occurrence_is_answered_by_itself(it: &Subject) {
    let slot = timed("2026-11-23 09:00", "2026-11-23 10:00");
    let series = it.add(invited(repeated("Meeting", slot, "FREQ=WEEKLY;COUNT=2"))).await;
    let second = format!("{}@20261130T080000Z", series.id);
    let answered =
        it.calendar.respond(OWNER, &second, InvitationReply::Declined, None).await.unwrap();
    assert_eq!((&answered.id, answered.reply), (&second, Some(InvitationReply::Declined)));
    assert_eq!(it.event(&series.id).await.reply, Some(InvitationReply::Waiting));
}

pub(crate) async fn who_was_not_invited_cannot_answer(it: &Subject) {
    let slot = timed("2026-11-23 09:00", "2026-11-23 10:00");
    let event = NewEvent { guests: vec![person("ben@example.org")], ..new("Meeting", slot) };
    let added = it.add(event).await;
    assert_eq!(added.reply, None);
    let answered = it.calendar.respond(OWNER, &added.id, InvitationReply::Accepted, None).await;
    assert_eq!(kind(answered), BackendErrorKind::Invalid);
}

pub(crate) async fn guests_who_stay_keep_their_answer(it: &Subject) {
    let slot = timed("2026-11-23 09:00", "2026-11-23 10:00");
    let added = it.add(invited(new("Meeting", slot.clone()))).await;
    it.calendar.respond(OWNER, &added.id, InvitationReply::Tentative, None).await.unwrap();
    let guests = vec![person(OWN_ADDRESS), person("carla@example.org")];
    let change = EventChange { guests: Some(guests), ..EventChange::default() };
    let changed = it.calendar.change(OWNER, &added.id, change).await.unwrap();
    let told: Vec<(String, InvitationReply)> =
        changed.guests.into_iter().map(|it| (it.person.address, it.reply)).collect();
    let expected = [
        ("Anna@Example.org".to_owned(), InvitationReply::Tentative),
        ("carla@example.org".to_owned(), InvitationReply::Waiting),
    ];
    assert_eq!(told, expected);
    let odd = NewEvent { guests: vec![person("nobody")], ..new("x", slot) };
    assert_eq!(kind(it.calendar.add(OWNER, odd).await), BackendErrorKind::Invalid);
}
