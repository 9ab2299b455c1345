//! Mail written and read.

use jiff::Timestamp;
use proptest::prelude::*;
use toolcrib_desk::backend::{Attachment, MailFile, NewMessage, Person, ReplyContext};
use toolcrib_desk::mime::{
    self, BccHandling, MessageStamp, MimeReadError, for_sending, read, write,
};

use crate::mailbox::person;

fn stamp() -> MessageStamp {
    MessageStamp {
        from: Person { address: "me@example.org".to_owned(), name: Some("Ünna \"Q\"".to_owned()) },
        date: Timestamp::from_second(1_795_528_800).unwrap(),
        message_id: "new@example.org".to_owned(),
    }
}

#[test]
fn a_plain_message_is_written_to_the_letter() {
    let message = NewMessage {
        to: vec![Person { name: Some("Doe, John".to_owned()), ..person("john@example.org") }],
        bcc: vec![person("hidden@example.org")],
        subject: "Lunch".to_owned(),
        text: "At noon?\n".to_owned(),
        answers: Some(ReplyContext {
            message_id: Some("b@example.org".to_owned()),
            references: vec!["a@example.org".to_owned(), "no id\r\nX: y".to_owned()],
            thread: None,
        }),
        ..NewMessage::default()
    };
    let written = write(&message, &stamp(), BccHandling::Left).unwrap();
    let expected = "Date: Tue, 24 Nov 2026 14:00:00 +0000\r\n\
        From: =?utf-8?B?w5xubmEgIlEi?= <me@example.org>\r\n\
        To: \"Doe, John\" <john@example.org>\r\n\
        Subject: Lunch\r\n\
        Message-ID: <new@example.org>\r\n\
        In-Reply-To: <b@example.org>\r\n\
        References: <a@example.org> <b@example.org>\r\n\
        MIME-Version: 1.0\r\n\
        Content-Type: text/plain; charset=\"utf-8\"\r\n\
        Content-Transfer-Encoding: 7bit\r\n\
        \r\n\
        At noon?\r\n";
    assert_eq!(String::from_utf8(written).unwrap(), expected);
    let kept = write(&message, &stamp(), BccHandling::Kept).unwrap();
    assert_eq!(read(&kept).unwrap().bcc, message.bcc);
}

fn file(name: &str, media: &str, bytes: &[u8]) -> MailFile {
    MailFile { name: name.to_owned(), media: media.to_owned(), bytes: bytes.to_vec() }
}

#[test]
fn files_stand_beside_the_text() {
    let message = NewMessage {
        to: vec![person("john@example.org")],
        subject: "Budget".to_owned(),
        text: "See the files.\n".to_owned(),
        files: vec![
            file("budget 2027.pdf", "application/pdf", &[0xff; 60]),
            file("Größe.csv", "text/csv", "ä;b\n".as_bytes()),
        ],
        ..NewMessage::default()
    };
    let written = String::from_utf8(write(&message, &stamp(), BccHandling::Left).unwrap()).unwrap();
    let (_, body) = written.split_once("MIME-Version: 1.0\r\n").unwrap();
    let start = "Content-Type: multipart/mixed;\r\n boundary=\"";
    let boundary = body.strip_prefix(start).unwrap().split('"').next().unwrap();
    let expected = format!(
        "{start}{boundary}\"\r\n\r\n\
        --{boundary}\r\nContent-Type: text/plain; charset=\"utf-8\"\r\n\
        Content-Transfer-Encoding: 7bit\r\n\r\nSee the files.\r\n\r\n\
        --{boundary}\r\nContent-Type: application/pdf\r\n\
        Content-Disposition: attachment; filename=\"budget 2027.pdf\"\r\n\
        Content-Transfer-Encoding: base64\r\n\r\n{}\r\n////\r\n\r\n\
        --{boundary}\r\nContent-Type: text/csv; charset=utf-8\r\n\
        Content-Disposition: attachment; filename*=UTF-8''Gr%C3%B6%C3%9Fe.csv\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nw6Q7Ygo=\r\n\r\n--{boundary}--\r\n",
        "/".repeat(76)
    );
    assert_eq!(body, expected);
    // A text that says where the files begin does not end before them.
    let evil = format!("--{boundary}--\n--{boundary}\n\nx");
    let message = NewMessage { text: evil.clone(), ..message };
    let written = write(&message, &stamp(), BccHandling::Left).unwrap();
    assert_eq!(read(&written).unwrap().text, evil);
    assert_eq!(mime::files(&written).unwrap(), message.files);
}

#[test]
fn no_file_can_become_a_header_and_too_much_is_refused() {
    let evil = "x\r\nBcc: evil@example.org\r\n\r\nbody";
    let with = |files: Vec<MailFile>| {
        let message = NewMessage { to: vec![person("a@example.org")], ..NewMessage::default() };
        write(&NewMessage { files, ..message }, &stamp(), BccHandling::Left)
    };
    for media in [evil, "multipart/mixed", "message/rfc822", "text", "", "a/b; name=x"] {
        let written = with(vec![file(evil, media, b"x")]).unwrap();
        let wire = String::from_utf8(written.clone()).unwrap();
        assert!(!wire.contains("\r\nBcc") && !wire.contains("\r\n\r\nbody"), "{wire}");
        let expected = file("x Bcc: evil@example.org body", "application/octet-stream", b"x");
        assert_eq!(mime::files(&written).unwrap(), [expected]);
    }
    assert!(with(vec![file("x", "text/plain", b""); 20]).is_ok());
    assert!(with(vec![file("x", "text/plain", b""); 21]).is_err());
    assert!(with(vec![file("x", "text/plain", &vec![b'x'; 6 << 20]); 3]).is_ok());
    assert!(with(vec![file("x", "text/plain", &vec![b'x'; 6 << 20]); 4]).is_err());
    assert!(with(vec![file(&"x".repeat(1001), "text/plain", b"")]).is_err());
}

#[test]
fn what_looks_encoded_is_read_as_it_was_written() {
    let encoded = "=?utf-8?B?Li4vZXZpbA==?=";
    let named = Person { name: Some(encoded.to_owned()), ..person("a@example.org") };
    let message = NewMessage {
        to: vec![named.clone(), person("b@example.org"), named],
        subject: format!("Re: {encoded} again"),
        text: format!("{encoded}\n"),
        files: vec![file(&format!("{encoded} {encoded} {encoded}.txt"), "text/plain", b"x")],
        ..NewMessage::default()
    };
    let written = write(&message, &stamp(), BccHandling::Left).unwrap();
    let letter = read(&written).unwrap();
    assert_eq!((&letter.to, &letter.subject), (&message.to, &message.subject));
    assert_eq!((&*letter.text, mime::files(&written).unwrap()), (encoded, message.files));
}

#[test]
fn no_line_of_a_text_ends_where_only_some_servers_see_it() {
    let message = NewMessage {
        to: vec![person("a@example.org")],
        text: "a\rb\n.\r\nc\u{b}d\u{c}e\u{0}f\u{85}g\th\n\n".to_owned(),
        ..NewMessage::default()
    };
    let written = String::from_utf8(write(&message, &stamp(), BccHandling::Left).unwrap()).unwrap();
    let (_, text) = written.split_once("\r\n\r\n").unwrap();
    assert_eq!(text, "a\r\nb\r\n.\r\ncdefg\th\r\n\r\n");
    // A file is no text: nothing of it is changed.
    let files = vec![file("a.txt", "text/plain", b"a\rb\n.\r\nc \n\x00")];
    let message = NewMessage { files: files.clone(), ..message };
    let written = write(&message, &stamp(), BccHandling::Left).unwrap();
    assert_eq!(mime::files(&written).unwrap(), files);
}

#[test]
fn what_was_kept_is_sent_without_who_is_hidden() {
    let kept = "Subject: a\nBcc: x@example.org,\n y@example.org\nDate: old\n\rBcc : z@example.org\n\
                To: t@example.org\n \nBcc: w@example.org\n\n\
                Bcc: text\nend";
    let sent = String::from_utf8(for_sending(kept.as_bytes(), &stamp()).unwrap()).unwrap();
    let expected = "Date: Tue, 24 Nov 2026 14:00:00 +0000\r\n\
        From: =?utf-8?B?w5xubmEgIlEi?= <me@example.org>\r\n\
        Message-ID: <new@example.org>\r\n\
        Subject: a\r\nTo: t@example.org\r\n\r\nBcc: text\r\nend\r\n";
    assert_eq!(sent, expected);
}

#[test]
fn no_field_can_become_a_header() {
    let evil = "x\r\nBcc: evil@example.org\r\n\r\nbody";
    let named = |name: &str| Person { name: Some(name.to_owned()), ..person("a@example.org") };
    let message = NewMessage {
        to: vec![named(evil)],
        cc: vec![named(evil)],
        subject: evil.to_owned(),
        text: "text".to_owned(),
        answers: Some(ReplyContext {
            message_id: Some(evil.to_owned()),
            references: vec![evil.to_owned()],
            thread: Some(evil.to_owned()),
        }),
        ..NewMessage::default()
    };
    let evil_stamp = MessageStamp { from: named(evil), message_id: evil.to_owned(), ..stamp() };
    let letter = read(&write(&message, &evil_stamp, BccHandling::Kept).unwrap()).unwrap();
    assert_eq!((letter.bcc, &*letter.text, letter.message_id), (vec![], "text", None));
    assert_eq!(letter.subject, "x Bcc: evil@example.org body");
    for address in
        ["a@b\r\nBcc: c@d", "a b@c.org", "<a@b.org>", "a@b.org, c@d.org", "a", "@", "ü@b.org"]
    {
        for place in 0..3 {
            let mut message =
                NewMessage { to: vec![person("a@example.org")], ..NewMessage::default() };
            let people = [&mut message.to, &mut message.cc, &mut message.bcc];
            people.into_iter().nth(place).unwrap().push(person(address));
            assert!(write(&message, &stamp(), BccHandling::Left).is_err(), "{address:?} {place}");
        }
        let from = MessageStamp { from: person(address), ..stamp() };
        assert!(write(&NewMessage::default(), &from, BccHandling::Left).is_err(), "{address:?}");
    }
}

#[test]
fn html_becomes_text_that_a_person_can_read() {
    let html = "<html><head><title>no</title><style>p {}</style></head><body><h1>Offer</h1>\
        <p>Dear&nbsp;you &amp; me,</p><ul><li>one<li>two</li></ul>\
        <table><tr><td>A</td><td>B</td></tr><tr><td>C</td></tr></table>\
        <div>See <a href='https://example.org/x'>here</a> or <a href=\"javascript:x\">there</a></div>\
        <script>alert(1)</script><br><br><br>1 &lt; 2</body></html>";
    let mail = format!("Subject: x\r\nContent-Type: text/html\r\n\r\n{html}");
    let expected = "Offer\nDear you & me,\n\n- one\n- two\n\nA B\n\nC\n\n\
        See here <https://example.org/x> or there\n\n1 < 2";
    assert_eq!(read(mail.as_bytes()).unwrap().text.replace('\u{a0}', " "), expected);
}

#[test]
fn parts_are_told_apart() {
    let mail = "Subject: x\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n\
        --o\r\nContent-Type: multipart/alternative; boundary=i\r\n\r\n\
        --i\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\ncaf\u{e9}\r\n\
        --i\r\nContent-Type: text/html\r\n\r\n<p>no</p>\r\n--i--\r\n\
        --o\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment;\r\n \
        filename*=utf-8''%e2%82%ac.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n\
        --o\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\ninner\r\n--o--\r\n";
    let bytes: Vec<u8> = mail.chars().map(|one| u8::try_from(u32::from(one)).unwrap()).collect();
    let letter = read(&bytes).unwrap();
    assert_eq!(letter.text, "café");
    let attachment = |name: &str, media: &str, size| Attachment {
        name: name.to_owned(),
        media: media.to_owned(),
        size,
    };
    assert_eq!(letter.attachments[0], attachment("€.pdf", "application/pdf", 5));
    assert_eq!(letter.attachments[1].media, "message/rfc822");
}

#[test]
fn what_exhausts_is_refused() {
    let nested = "Content-Type: message/rfc822\r\n\r\n".repeat(200_000);
    assert_eq!(read(nested.as_bytes()), Err(MimeReadError::TooDeep));
    let part = "Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n";
    let parts = part.repeat(200_000);
    assert_eq!(read(parts.as_bytes()), Err(MimeReadError::TooDeep));
    assert_eq!(read(&vec![b'x'; mime::MAX_MESSAGE + 1]), Err(MimeReadError::TooLarge));
    assert_eq!(read(b""), Err(MimeReadError::NoHeader));
    let many = format!(
        "Subject: x\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n{}",
        "--a\r\n\r\nx\r\n".repeat(300_000)
    );
    let began = std::time::Instant::now();
    let letter = read(many.as_bytes()).unwrap();
    assert!(letter.text.len() < 300_000 && letter.attachments.len() <= 200);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    let long = format!("Subject: {}\r\n\r\n{}", "x".repeat(100_000), "y".repeat(1 << 20));
    let letter = read(long.as_bytes()).unwrap();
    assert_eq!(letter.subject.len(), 1000);
    assert!(letter.text.ends_with("[the rest of this message is not shown]"));
}

proptest! {
    #[test]
    fn files_are_read_as_they_were_written(
        name in "[ -~äß–✓\u{1F600}\r\n\t]{0,200}",
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        text in "(?s)[ -~\n\tü=_.-]{0,300}",
    ) {
        let message = NewMessage {
            to: vec![person("a@example.org")],
            text: text.clone(),
            files: vec![file(&name, "image/png", &bytes)],
            ..NewMessage::default()
        };
        let written = write(&message, &stamp(), BccHandling::Left).unwrap();
        let wire = String::from_utf8(written.clone()).unwrap();
        prop_assert!(wire.is_ascii());
        for line in wire.split("\r\n") {
            prop_assert!(line.len() <= 78 && !line.contains(['\r', '\n']), "{line:?}");
        }
        let words = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = if words.is_empty() { "unnamed" } else { &words };
        prop_assert_eq!(mime::files(&written).unwrap(), [file(expected, "image/png", &bytes)]);
        prop_assert_eq!(read(&written).unwrap().text, text.trim_end());
    }

    #[test]
    fn what_is_written_is_read_again(
        subject in "[ -~äß✓\u{1F600}\r\n=?]{0,200}",
        name in "[ -~éñ日本\"\\\\]{0,60}",
        text in "(?s)[ -~\n\tü=.]{0,500}",
    ) {
        let message = NewMessage {
            to: vec![Person { name: Some(name.clone()), ..person("a@example.org") }],
            subject: subject.clone(),
            text: text.clone(),
            ..NewMessage::default()
        };
        let written = write(&message, &stamp(), BccHandling::Left).unwrap();
        let wire = String::from_utf8(written.clone()).unwrap();
        prop_assert!(wire.is_ascii());
        for line in wire.split("\r\n") {
            prop_assert!(line.len() <= 78 && !line.contains(['\r', '\n']), "{line:?}");
        }
        let letter = read(&written).unwrap();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert_eq!(letter.subject, words(&subject));
        prop_assert_eq!(letter.to[0].name.clone().unwrap_or_default(), words(&name));
        prop_assert_eq!(letter.text, text.trim_end());
    }
}
