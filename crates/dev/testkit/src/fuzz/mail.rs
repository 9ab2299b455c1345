//! What strangers write to a mailbox, and what servers say of it.

use jiff::Timestamp;
use toolcrib_desk::backend::{NewMessage, Person, ReplyContext};
use toolcrib_desk::imap;
use toolcrib_desk::mime::{self, BccHandling, MessageStamp, is_address};

/// A kind on the first line and such bytes on the others: `message` or `imap`, an answer of a
/// server. Each is read within its bounds, and an answer to the message is a message that says
/// whom it answers and nothing else.
pub fn mail(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (kind, rest) = data.split_at_checked(at).unwrap_or((data, &[]));
    let rest = rest.get(1..).unwrap_or_default();
    match kind {
        b"message" => message(rest),
        b"imap" => drop(imap::read_response(rest)),
        _ => {}
    }
}

fn message(raw: &[u8]) {
    let Ok(letter) = mime::read(raw) else { return };
    assert!(letter.text.len() < 300_000, "more text than is shown");
    assert!(letter.snippet().chars().count() <= 150, "a long snippet");
    assert!(!letter.subject.contains(['\r', '\n']), "a subject is one line");
    let from = Person { address: "me@example.org".to_owned(), name: None };
    let stamp = MessageStamp {
        from,
        date: Timestamp::UNIX_EPOCH,
        message_id: "answer@example.org".to_owned(),
    };
    let sent = mime::for_sending(raw, &stamp).map(|sent| mime::read(&sent));
    let bcc = sent.ok().and_then(Result::ok).map_or(0, |sent| sent.bcc.len());
    assert_eq!(bcc, 0, "who is hidden is told");
    let to: Vec<Person> =
        letter.from.into_iter().filter(|person| is_address(&person.address)).collect();
    let answer = NewMessage {
        to: to.clone(),
        subject: letter.subject.clone(),
        text: letter.text,
        answers: Some(ReplyContext {
            thread: None,
            message_id: letter.message_id,
            references: letter.references,
        }),
        ..NewMessage::default()
    };
    // Names that are too long are refused.
    let Ok(written) = mime::write(&answer, &stamp, BccHandling::Kept) else { return };
    let read = mime::read(&written).unwrap_or_default();
    let addresses =
        |people: &[Person]| people.iter().map(|person| person.address.clone()).collect::<Vec<_>>();
    assert_eq!((addresses(&read.to), read.cc, read.bcc), (addresses(&to), vec![], vec![]));
    assert_eq!((read.subject, read.message_id), (letter.subject, Some(stamp.message_id)));
}
