//! A mailbox behind IMAP and SMTP: a real Dovecot, and a server that lies.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use toolcrib_desk::backend::{BackendErrorKind, MailBackend, MailQuery, NewMessage, Person};
use toolcrib_desk::imap::{ImapMail, ImapSettings};
use toolcrib_desk::{MailLogin, MailServer};
use toolcrib_egress::{Egress, EgressScope, Network};
use url::Url;

use crate::dovecot::{Dovecot, command};
use crate::mailbox::{Box, behaves, person, under};
use crate::sink::{Odd, Sink};

/// A mailbox of `user` at two servers of this machine.
pub(crate) fn mailbox(imap: &str, smtp: &str, plain: bool) -> ImapMail {
    let server = |url: &str| MailServer {
        url: Url::parse(url).unwrap(),
        login: Some(MailLogin { user: "user".to_owned(), password: "sec ret\"".to_owned() }),
        plain,
    };
    let (imap, smtp) = (server(imap), server(smtp));
    let lookup = |_: &str| Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    let named = [imap.url.clone(), smtp.url.clone()];
    let egress =
        Egress::with_lookup(EgressScope::Named, named, Network::default(), lookup).unwrap();
    let from = Person { name: Some("Üser".to_owned()), ..person("user@mail.test") };
    ImapMail::new(egress, ImapSettings { imap, smtp, from }).unwrap()
}

pub(crate) fn at(scheme: &str, port: u16) -> String {
    format!("{scheme}://mail.test:{port}")
}

/// A Dovecot whose maildir is there, and a server that puts mail into it.
async fn servers(name: &str) -> Option<(Dovecot, Sink)> {
    let dovecot = Dovecot::start(name)?;
    let sink =
        Sink::start(Odd::Not, Some(dovecot.maildir("user")), Some(dovecot.folder.clone())).await;
    Some((dovecot, sink))
}

#[tokio::test]
async fn it_does_what_every_mailbox_does() {
    let Some((dovecot, sink)) = servers("all").await else { return };
    let mail = mailbox(&at("imap", dovecot.port), &at("smtp", sink.port), true);
    behaves(&mail, "anybody").await;
    assert!(!sink.heard().iter().any(|line| line == "STARTTLS"));
}

#[tokio::test]
async fn a_server_without_extensions_does_as_well() {
    let Some(dovecot) = Dovecot::start_bare("bare") else { return };
    let sink = Sink::start(Odd::Not, Some(dovecot.maildir("user")), None).await;
    let mail = mailbox(&at("imap", dovecot.port), &at("smtp", sink.port), true);
    behaves(&mail, "anybody").await;
}

#[tokio::test]
async fn drafts_are_sent_whole_and_without_who_is_hidden() {
    let Some((dovecot, sink)) = servers("hidden").await else { return };
    let mail = mailbox(&at("imap", dovecot.port), &at("smtp", sink.port), true);
    let message = NewMessage {
        to: vec![person("other@example.org")],
        bcc: vec![person("hidden@example.org")],
        subject: "Hello".to_owned(),
        text: ".\nline\n..\n".to_owned(),
        ..NewMessage::default()
    };
    let mailbox = Box { mail: &mail, owner: "" };
    let draft = mail.draft("", message.clone()).await.unwrap();
    for head in
        [mail.send_draft("", &draft.id).await.unwrap(), mail.send("", message).await.unwrap()]
    {
        let kept = mail.message("", &head.id).await.unwrap();
        assert_eq!((&*kept.text, &*kept.bcc), (".\nline\n..", &[person("hidden@example.org")][..]));
        assert_eq!(kept.head.labels, ["sent"]);
    }
    assert_eq!(mailbox.list(under("drafts")).await, []);
    let no_draft = mailbox.list(under("sent")).await.remove(0);
    let refused = mail.send_draft("", &no_draft.id).await.unwrap_err();
    assert_eq!(refused.kind, BackendErrorKind::Invalid);
    let taken = sink.taken();
    assert_eq!(taken.len(), 2);
    for (to, message) in taken {
        assert_eq!(to, ["hidden@example.org", "other@example.org"]);
        assert!(!message.contains("hidden") && message.contains("\r\n.\r\nline\r\n"), "{message}");
    }
}

#[tokio::test]
async fn wrong_passwords_and_dead_connections_are_told_apart() {
    let Some((dovecot, sink)) = servers("dead").await else { return };
    let mail = mailbox(&at("imap", dovecot.port), &at("smtp", sink.port), true);
    mail.labels("").await.unwrap();
    // Every connection ends, as a restart of the server does it.
    dovecot.drop_connections();
    // Their ends come over sockets, and nothing tells of them before the next request.
    tokio::time::sleep(Duration::from_millis(500)).await;
    mail.labels("").await.unwrap();
    let wrong = MailServer {
        url: Url::parse(&at("imap", dovecot.port)).unwrap(),
        login: Some(MailLogin { user: "user".to_owned(), password: "wrong".to_owned() }),
        plain: true,
    };
    assert!(!format!("{wrong:?}").contains("wrong"), "{wrong:?}");
    let lookup = |_: &str| Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    let egress =
        Egress::with_lookup(EgressScope::Named, [wrong.url.clone()], Network::default(), lookup)
            .unwrap();
    let account = ImapSettings { imap: wrong.clone(), smtp: wrong, from: person("user@mail.test") };
    let mail = ImapMail::new(egress, account).unwrap();
    assert_eq!(mail.labels("").await.unwrap_err().kind, BackendErrorKind::Refused);
}

#[tokio::test]
async fn no_password_goes_out_without_tls_that_is_trusted() {
    let Some((dovecot, sink)) = servers("tls").await else { return };
    for (imap, port) in [("imap", dovecot.port), ("imaps", dovecot.tls_port)] {
        let mail = mailbox(&at(imap, port), &at("smtp", sink.port), false);
        assert_eq!(
            mail.labels("").await.unwrap_err().kind,
            BackendErrorKind::Unreachable,
            "{imap}"
        );
        let message = Box { mail: &mail, owner: "" }.letter("x", "x").await;
        assert_eq!(mail.send("", message).await.unwrap_err().kind, BackendErrorKind::Unreachable);
    }
    assert!(!sink.heard().iter().any(|line| line.contains("AUTH")), "{:?}", sink.heard());
    // The roots are read once in a process, so another one trusts the certificate.
    let ports = format!("{} {} {}", dovecot.port, dovecot.tls_port, sink.port);
    let mut trusting = command(std::env::current_exe().unwrap());
    trusting
        .args(["imap_mail::a_trusted_server_is_spoken_to", "--exact", "--nocapture"])
        .env("SSL_CERT_FILE", dovecot.certificate())
        .env(TRUSTING, ports);
    // The servers are to go on meanwhile.
    let output = tokio::task::spawn_blocking(move || trusting.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{complained}");
    assert_eq!(sink.taken().len(), 2);
}

/// Says to a process that it was started to trust the certificate, and where the servers are.
const TRUSTING: &str = "TOOLCRIB_TEST_TRUSTING_MAIL";

/// Checks something only in the process that the test above starts.
#[tokio::test]
async fn a_trusted_server_is_spoken_to() {
    #[expect(clippy::disallowed_methods, reason = "the process is told what it is for")]
    let Ok(ports) = std::env::var(TRUSTING) else { return };
    let ports: Vec<u16> = ports.split(' ').map(|port| port.parse().unwrap()).collect();
    for (imap, port) in [("imap", ports[0]), ("imaps", ports[1])] {
        let mail = mailbox(&at(imap, port), &at("smtp", ports[2]), false);
        let mailbox = Box { mail: &mail, owner: "" };
        let subject = format!("Over {imap}");
        let message = mailbox.letter(&subject, "x").await;
        mail.send("", message).await.unwrap();
        mailbox.arrived(&subject).await;
    }
}

/// A server that greets, and then answers each line as it is told.
async fn liar(answer: impl Fn(&str) -> String + Send + Sync + Clone + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                stream.write_all(b"* OK here\r\n").await.ok()?;
                loop {
                    let mut line = String::new();
                    stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
                    let tag = line.split(' ').next().unwrap_or_default().to_owned();
                    let ok = format!("{tag} OK\r\n");
                    let said = if line.contains("CAPABILITY") {
                        format!("* CAPABILITY IMAP4rev1\r\n{ok}")
                    } else if line.contains("LOGIN") {
                        ok
                    } else {
                        answer(&line).replace("TAG", &tag)
                    };
                    stream.write_all(said.as_bytes()).await.ok()?;
                }
                #[expect(unreachable_code, reason = "what the question marks are of")]
                Some(())
            });
        }
    });
    port
}

#[tokio::test]
async fn a_server_that_lies_neither_hangs_nor_exhausts() {
    for (said, kind) in [
        ("* LIST () \"/\" {99999999999}\r\n", BackendErrorKind::Interrupted),
        ("* LIST () \"/\" {999999999}\r\nx", BackendErrorKind::Interrupted),
        ("garbage\r\n", BackendErrorKind::Interrupted),
        ("* BYE go away\r\n", BackendErrorKind::Interrupted),
        ("TAG NO not you\r\n", BackendErrorKind::Invalid),
        ("TAG NO [LIMIT] later\r\n", BackendErrorKind::Busy),
    ] {
        let port = liar(move |_| said.to_owned()).await;
        let mail = mailbox(&at("imap", port), &at("smtp", port), true);
        let began = Instant::now();
        let query = MailQuery { limit: 10, ..MailQuery::default() };
        let failed = mail.messages("", query).await.unwrap_err();
        assert_eq!(failed.kind, kind, "{said}: {failed:?}");
        assert!(began.elapsed() < Duration::from_secs(10));
    }
    let deep = |before: &str| format!("* {before}{}\r\nTAG OK\r\n", "(".repeat(100_000));
    for said in [
        deep("LIST "),
        deep("1 FETCH (BODYSTRUCTURE "),
        "* 1 FETCH (FLAGS ())\r\n".repeat(60_000),
        // One line, as long as a message may be and longer.
        format!("* SEARCH{}\r\nTAG OK\r\n", " 1234567".repeat(7 << 20)),
    ] {
        let port = liar(move |_| said.clone()).await;
        let mail = mailbox(&at("imap", port), &at("smtp", port), true);
        assert_eq!(mail.labels("").await.unwrap_err().kind, BackendErrorKind::Interrupted);
    }
}

#[tokio::test]
async fn what_a_server_says_of_its_own_is_passed_over() {
    let own = "* X-OWN (1 \"a\" {3}\r\n)\"( data) more\r\n* ESEARCH (TAG \"x\") UID ALL 1:3\r\n\
               * OK [X-CODE (a \"b\") 1] hello\r\n";
    let port = liar(move |line| {
        let said = if line.contains("LIST") {
            "* LIST (\\X-Own \\HasNoChildren) \"/\" INBOX (X-MORE (1 2))\r\n"
        } else if line.contains("STATUS") {
            "* STATUS INBOX (MESSAGES 2 X-OWN (7 8) UNSEEN 1)\r\n"
        } else if line.contains("EXAMINE") {
            "* FLAGS (\\Seen \\X-Own project)\r\n"
        } else {
            ""
        };
        format!("{own}{said}{own}TAG OK [X-CODE] done\r\n")
    })
    .await;
    let mail = mailbox(&at("imap", port), &at("smtp", port), true);
    let labels = mail.labels("").await.unwrap();
    let found = |name: &str| labels.iter().find(|label| label.name == name).cloned();
    let inbox = found("inbox").unwrap();
    assert_eq!((inbox.total, inbox.unread), (Some(2), Some(1)));
    assert_eq!(found("project").map(|label| label.total), Some(None), "{labels:?}");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let (heard, mut asked) = tokio::sync::mpsc::unbounded_channel();
    let port = liar(move |_| {
        let _ = heard.send(());
        String::new()
    })
    .await;
    let mail = mailbox(&at("imap", port), &at("smtp", port), true);
    let asking = tokio::spawn(async move { mail.labels("").await.unwrap_err().kind });
    asked.recv().await.unwrap();
    assert!(!asking.is_finished());
    tokio::time::pause();
    tokio::time::advance(Duration::from_mins(2)).await;
    assert_eq!(asking.await.unwrap(), BackendErrorKind::Interrupted);
}

#[tokio::test]
async fn what_cannot_be_kept_was_still_sent() {
    let sink = Sink::start(Odd::Not, None, None).await;
    let port = liar(|_| "TAG NO the disk is full\r\n".to_owned()).await;
    let mail = mailbox(&at("imap", port), &at("smtp", sink.port), true);
    let message = Box { mail: &mail, owner: "" }.letter("Out", "x").await;
    let head = mail.send("", message).await.unwrap();
    assert_eq!((&*head.subject, head.labels.len(), sink.taken().len()), ("Out", 0, 1));
    assert!(mail.note(&head).unwrap().contains("do not send it again"));
}
