//! The mailbox in the desk's own file.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use toolcrib_desk::backend::{BackendErrorKind, MailBackend, MailQuery, NewMessage, Person};
use toolcrib_desk::embedded::{DeskDatabase, LocalMail};

use crate::mailbox::{Box, behaves, labels, person, under};

/// An empty mailbox whose clock goes on by a second whenever it is asked.
pub(crate) fn mailbox() -> LocalMail {
    let seconds = AtomicI64::new(1_795_000_000);
    let clock = move || Timestamp::from_second(seconds.fetch_add(1, Ordering::SeqCst)).unwrap();
    LocalMail::new(DeskDatabase::in_memory().unwrap()).with_clock(clock)
}

#[tokio::test]
async fn it_does_what_every_mailbox_does() {
    behaves(&mailbox(), "local").await;
}

#[tokio::test]
async fn addresses_are_made_of_names_or_given() {
    let given = Person { address: "anna@example.org".to_owned(), name: Some("Anna".to_owned()) };
    let people = BTreeMap::from([("team".to_owned(), given.clone())]);
    let mail = mailbox().with_people(people).unwrap();
    for (owner, address) in [
        ("team", given),
        ("local", person("local@localhost")),
        ("bob@example.org", person("bob@example.org")),
        ("a b\r\n@c", person("a-b---c@localhost")),
        ("", person("owner@localhost")),
    ] {
        assert_eq!(mail.address(owner).await.unwrap(), address, "{owner:?}");
    }
    let wrong = BTreeMap::from([("team".to_owned(), person("no address"))]);
    assert!(mailbox().with_people(wrong).is_err());
}

#[tokio::test]
async fn what_goes_to_others_waits_and_says_so() {
    let mail = mailbox();
    let message = NewMessage {
        to: vec![person("other@localhost")],
        bcc: vec![person("local@localhost")],
        subject: "Hello".to_owned(),
        ..NewMessage::default()
    };
    let head = mail.send("local", message).await.unwrap();
    assert_eq!(head.labels, ["inbox", "outbox"]);
    let note = mail.note(&head).unwrap();
    assert!(note.contains("no mail server is configured"), "{note}");
    let other = Box { mail: &mail, owner: "other" };
    assert_eq!(other.list(MailQuery { limit: 10, ..MailQuery::default() }).await, []);
    let nobody = mail.send("local", NewMessage::default()).await.unwrap_err();
    assert_eq!(nobody.kind, BackendErrorKind::Invalid);
    let draft = mail.draft("local", NewMessage::default()).await.unwrap();
    let nobody = mail.send_draft("local", &draft.id).await.unwrap_err();
    assert_eq!(nobody.kind, BackendErrorKind::Invalid);
    let no_draft = mail.send_draft("local", &head.id).await.unwrap_err();
    assert_eq!(no_draft.kind, BackendErrorKind::Invalid);
    let still = Box { mail: &mail, owner: "local" }.list(under("drafts")).await;
    assert_eq!(still, [draft], "what failed changed nothing");
}

#[tokio::test]
async fn nobody_sees_the_mail_of_others() {
    let mail = mailbox();
    let anna = Box { mail: &mail, owner: "anna" };
    let message = anna.letter("Secret", "plans").await;
    let head = mail.send("anna", message).await.unwrap();
    let bob = Box { mail: &mail, owner: "bob" };
    assert_eq!(bob.list(MailQuery { limit: 9, ..MailQuery::default() }).await, []);
    let words = MailQuery { text: Some("plans".to_owned()), limit: 9, ..MailQuery::default() };
    assert_eq!(bob.list(words.clone()).await, []);
    assert_eq!(anna.list(words).await, std::slice::from_ref(&head));
    assert_eq!(mail.message("bob", &head.id).await.unwrap_err().kind, BackendErrorKind::NotFound);
    let marked = mail.mark("bob", &head.id, labels(&["trash"], &[])).await;
    assert_eq!(marked.unwrap_err().kind, BackendErrorKind::NotFound);
    assert_eq!(
        mail.send_draft("bob", &head.id).await.unwrap_err().kind,
        BackendErrorKind::NotFound
    );
    mail.mark("anna", &head.id, labels(&["Hers"], &[])).await.unwrap();
    let names: Vec<_> =
        mail.labels("bob").await.unwrap().into_iter().map(|label| label.name).collect();
    assert!(!names.contains(&"Hers".to_owned()), "{names:?}");
}

#[tokio::test]
async fn an_answer_without_references_is_found_by_its_subject() {
    let mail = mailbox();
    let anna = Box { mail: &mail, owner: "anna" };
    let mut threads = Vec::new();
    for subject in ["Budget", "Re: budget", "AW: Re: Budget", "Budget", "Re: other"] {
        let message = anna.letter(subject, "").await;
        threads.push(mail.send("anna", message).await.unwrap().thread.unwrap());
    }
    assert_eq!((&threads[1], &threads[2]), (&threads[0], &threads[0]));
    assert_ne!((&threads[3], &threads[4]), (&threads[0], &threads[0]));
}
