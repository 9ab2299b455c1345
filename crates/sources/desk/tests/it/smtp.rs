//! Sending over SMTP: what may be sent again after a failure, and what may not.

use toolcrib_desk::backend::{BackendErrorKind, MailBackend, NewMessage};

use crate::dovecot::make_certificate;
use crate::imap_mail::mailbox;
use crate::mailbox::person;
use crate::sink::{Odd, Sink};

/// What comes of a message to two people, and what the server took.
async fn send(odd: Odd) -> (BackendErrorKind, usize, String) {
    let sink = Sink::start(odd, None, None).await;
    let address = format!("smtp://mail.test:{}", sink.port);
    let mail = mailbox(&address.replace("smtp", "imap"), &address, true);
    let message = NewMessage {
        to: vec![person("a@example.org"), person("b@example.org")],
        subject: "Hello".to_owned(),
        ..NewMessage::default()
    };
    let failed = mail.send("", message).await.unwrap_err();
    (failed.kind, sink.taken().len(), failed.message)
}

#[tokio::test]
async fn what_the_server_does_not_take_is_sent_to_nobody() {
    for (odd, kind) in [
        (Odd::Says("EHLO", "421 too busy\r\n"), BackendErrorKind::Busy),
        (Odd::Says("AUTH", "535 no\r\n"), BackendErrorKind::Refused),
        (Odd::Says("MAIL", "550 not you\r\n"), BackendErrorKind::Invalid),
        (Odd::Says("RCPT", "550 nobody here\r\n"), BackendErrorKind::Invalid),
        (Odd::Says("RCPT", "450 later\r\n"), BackendErrorKind::Busy),
        (Odd::Says("DATA", "554 no\r\n"), BackendErrorKind::Invalid),
        (Odd::Says("DATA", "nonsense\r\n"), BackendErrorKind::Unreachable),
        (Odd::BreaksAt("EHLO"), BackendErrorKind::Unreachable),
        (Odd::BreaksAt("RCPT"), BackendErrorKind::Unreachable),
        (Odd::BreaksAt("DATA"), BackendErrorKind::Unreachable),
        (Odd::NeverEnds, BackendErrorKind::Unreachable),
    ] {
        let (found, taken, message) = send(odd).await;
        assert_eq!((found, taken), (kind, 0), "{odd:?}: {message}");
        assert!(
            message.contains("nothing was sent") || kind == BackendErrorKind::Refused,
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_lost_answer_after_the_message_leaves_it_open() {
    let (found, _, message) = send(Odd::BreaksAt(".")).await;
    assert_eq!(found, BackendErrorKind::Unknown, "{message}");
    assert!(message.contains("may or may not"), "{message}");
}

#[tokio::test]
async fn nothing_is_said_to_a_server_without_tls_unless_that_is_wanted() {
    // The second says so, and then speaks on before TLS could begin.
    for (odd, kind) in
        [(Odd::Not, BackendErrorKind::Refused), (Odd::SpeaksBeforeTls, BackendErrorKind::Broken)]
    {
        let certificate = std::env::temp_dir().join(format!("smtp-{}", std::process::id()));
        std::fs::create_dir_all(&certificate).unwrap();
        make_certificate(&certificate);
        let tls = Some(certificate.clone()).filter(|_| odd == Odd::SpeaksBeforeTls);
        let sink = Sink::start(odd, None, tls).await;
        std::fs::remove_dir_all(certificate).unwrap();
        let address = format!("smtp://mail.test:{}", sink.port);
        let mail = mailbox(&address.replace("smtp", "imap"), &address, false);
        let message = NewMessage { to: vec![person("a@example.org")], ..NewMessage::default() };
        let refused = mail.send("", message).await.unwrap_err();
        assert_eq!(refused.kind, kind, "{refused:?}");
        assert!(sink.heard().iter().all(|line| !line.contains("AUTH")), "{:?}", sink.heard());
    }
}
