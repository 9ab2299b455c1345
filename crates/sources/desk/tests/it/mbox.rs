//! Files of mbox in the local mailbox.

use std::io::{self, Read};

use toolcrib_desk::backend::{BackendErrorKind, MailBackend, MailQuery};
use toolcrib_desk::embedded::{MailImportReport, SkippedMessage};

use crate::local_mail::mailbox;
use crate::mailbox::{Box, under};

const FILE: &str = "\
From anna@example.org Tue Nov 24 14:00:00 2026
From: Anna <anna@example.org>
To: local@localhost
Subject: First
Message-ID: <one@example.org>
Date: Tue, 24 Nov 2026 15:00:00 +0100
Status: RO

>From here it goes on.
From there too, as no empty line is before it.

>>From twice.

From MAILER-DAEMON Tue Nov 24 16:30:00 2026
Subject: =?utf-8?Q?Zweite_Sch=C3=B6ne?=
X-Gmail-Labels: Inbox,Unread,Reisen
In-Reply-To: <one@example.org>
Content-Type: multipart/mixed; boundary=xx

--xx
Content-Type: text/html

<p>Hello <b>you</b></p>
--xx
Content-Type: application/pdf; name=\"a.pdf\"
Content-Transfer-Encoding: base64

aGVsbG8=
--xx--

From nobody Tue Nov 24 17:00:00 2026

no header at all
From x

From a@b Tue Nov 24 18:00:00 2026
Subject: Last
Status: O

end";

fn imported(added: u64, known: u64) -> MailImportReport {
    let reasons =
        vec![SkippedMessage { position: 3, reason: "it has no header of a message".to_owned() }];
    MailImportReport { added, known, skipped: 1, reasons }
}

#[tokio::test]
async fn a_file_is_imported_once_and_damage_is_told() {
    let mail = mailbox();
    let mailbox = Box { mail: &mail, owner: "local" };
    let import = || mail.import_mbox("local", FILE.as_bytes(), "archive");
    assert_eq!(import().await.unwrap(), imported(3, 0));
    assert_eq!(import().await.unwrap(), imported(0, 3));
    // Lines of other systems are the same message where it has a name.
    let other = mail.import_mbox("local", io::Cursor::new(FILE.replace('\n', "\r\n")), "archive");
    assert_eq!(other.await.unwrap().added, 2);
    let found = mailbox.list(MailQuery { subject: Some("first".into()), ..under("archive") }).await;
    let first = mail.message("local", &found[0].id).await.unwrap();
    let text = "From here it goes on.\nFrom there too, as no empty line is before it.\n\n\
                >From twice.";
    assert_eq!((&*first.text, first.head.unread), (text, false));
    assert_eq!(first.head.date.to_string(), "2026-11-24T14:00:00Z");
    let found = mailbox.list(under("Reisen")).await;
    let second = &found[0];
    assert_eq!((&*second.subject, &*second.snippet), ("Zweite Schöne", "Hello you"));
    assert_eq!((second.unread, second.has_attachments), (true, true));
    assert_eq!((&second.thread, second.labels.len()), (&first.head.thread, 2));
    assert_eq!(second.date.to_string(), "2026-11-24T16:30:00Z");
    let with = MailQuery { text: Some("anna".to_owned()), ..under("archive") };
    assert_eq!(mailbox.list(with).await.len(), 1);
}

#[tokio::test]
async fn what_is_no_mbox_is_refused() {
    let mail = mailbox();
    for (file, label) in [("PK\x03\x04zip", "archive"), ("From x", "sent"), ("From x", "")] {
        let refused = mail.import_mbox("local", file.as_bytes(), label).await.unwrap_err();
        assert_eq!(refused.kind, BackendErrorKind::Invalid, "{file:?} {label}");
    }
    let empty = mail.import_mbox("local", "\n\n".as_bytes(), "archive").await.unwrap();
    assert_eq!(empty, MailImportReport::default());
}

#[tokio::test]
async fn a_message_that_is_too_large_is_skipped_without_being_held() {
    let mail = mailbox();
    let large = io::repeat(b'x').take(40 << 20);
    let before = &b"From a\nSubject: large\n\n"[..];
    let after = &b"\n\nFrom b\nSubject: small\n\nx\n"[..];
    let file = before.chain(large).chain(after);
    let imported = mail.import_mbox("local", file, "archive").await.unwrap();
    assert_eq!((imported.added, imported.skipped), (1, 1), "{imported:?}");
}
