//! Mail: read, found, marked, drafted, sent, answered.

use toolcrib_desk::backend::{
    Attachment, BackendErrorKind, MailBackend, MailLabel, MailQuery, MessageHead, MessageMarks,
    NewMessage, Person, ReplyContext,
};

use super::{Account, OWNER, kind, person};
use crate::mailbox::{listed, odd_files};

const PLAIN: &str = "From: =?utf-8?Q?J=C3=BCrg?= <juerg@example.org>\n\
To: Anna <anna@example.org>, bob@example.org\n\
Subject: =?utf-8?B?UGxhbiBmw7xyIERpZW5zdGFn?=\n\
Date: Mon, 23 Nov 2026 09:00:00 +0100\n\
Message-ID: <one@example.org>\n\
Content-Type: text/plain; charset=utf-8\n\
\n\
Tom & Jerry's plan: a < b\n";

const MIXED: &str = "From: shop@example.com\n\
To: anna@example.org\n\
Subject: Your invoice\n\
Date: Tue, 24 Nov 2026 09:00:00 +0100\n\
Message-ID: <two@example.com>\n\
MIME-Version: 1.0\n\
Content-Type: multipart/mixed; boundary=xyz\n\
\n\
--xyz\n\
Content-Type: text/html; charset=utf-8\n\
\n\
<p>See <b>attached</b></p>\n\
--xyz\n\
Content-Type: application/pdf; name=\"invoice.pdf\"\n\
Content-Disposition: attachment; filename=\"invoice.pdf\"\n\
Content-Transfer-Encoding: base64\n\
\n\
JVBERi0xLjQ=\n\
--xyz--\n";

fn under(label: &str) -> MailQuery {
    MailQuery { label: Some(label.to_owned()), limit: 50, ..MailQuery::default() }
}

fn marks(add: &[&str], remove: &[&str]) -> MessageMarks {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    MessageMarks { add: owned(add), remove: owned(remove), unread: None }
}

async fn list(account: &Account, query: MailQuery) -> Vec<MessageHead> {
    account.google.messages("", query).await.unwrap().items
}

async fn mark(account: &Account, id: &str, marks: MessageMarks) -> MessageHead {
    account.google.mark("", id, marks).await.unwrap()
}

fn letter(to: &str, subject: &str, text: &str) -> NewMessage {
    NewMessage {
        to: vec![person(to)],
        subject: subject.to_owned(),
        text: text.to_owned(),
        ..NewMessage::default()
    }
}

#[tokio::test]
async fn a_message_is_read_as_it_was_written() {
    let account = Account::open();
    assert_eq!(account.google.address("").await.unwrap(), person(OWNER));
    let plain = account.server.deliver(PLAIN);
    let mixed = account.server.deliver(MIXED);
    let heads = list(&account, under("inbox")).await;
    let expected = MessageHead {
        id: plain.clone(),
        thread: Some(plain.clone()),
        from: Some(Person {
            address: "juerg@example.org".to_owned(),
            name: Some("Jürg".to_owned()),
        }),
        to: vec![
            Person { address: OWNER.to_owned(), name: Some("Anna".to_owned()) },
            person("bob@example.org"),
        ],
        subject: "Plan für Dienstag".to_owned(),
        date: "2026-11-23T08:00:00Z".parse().unwrap(),
        snippet: "Tom & Jerry's plan: a < b".to_owned(),
        unread: true,
        labels: vec!["inbox".to_owned()],
        has_attachments: false,
    };
    assert_eq!(heads.len(), 2);
    assert_eq!((&heads[0].id, heads[0].has_attachments), (&mixed, true));
    assert_eq!(heads[1], expected);
    let message = account.google.message("", &plain).await.unwrap();
    assert_eq!(message.head, expected, "reading leaves it unread");
    assert_eq!(message.text, "Tom & Jerry's plan: a < b");
    assert_eq!(message.message_id.as_deref(), Some("one@example.org"));
    let message = account.google.message("", &mixed).await.unwrap();
    assert_eq!(message.head, heads[0]);
    assert_eq!(message.text, "See attached");
    let media = "application/pdf".to_owned();
    let invoice = Attachment { name: "invoice.pdf".to_owned(), media, size: 8 };
    assert_eq!(message.attachments, [invoice]);
    for id in ["nothing", "", "../x"] {
        assert_eq!(kind(account.google.message("", id).await), BackendErrorKind::NotFound, "{id}");
    }
    account.close();
}

#[tokio::test]
async fn messages_are_found_by_what_is_asked_and_by_nothing_else() {
    let account = Account::open();
    account.server.deliver(PLAIN);
    account.server.deliver(MIXED);
    let some = |text: &str| Some(text.to_owned());
    let none = || MailQuery { limit: 10, ..MailQuery::default() };
    let date = |text: &str| Some(text.parse().unwrap());
    let (plain, mixed) = ("Plan für Dienstag", "Your invoice");
    for (query, found) in [
        (none(), vec![mixed, plain]),
        (MailQuery { text: some("JERRY tom"), ..none() }, vec![plain]),
        (MailQuery { text: some("jerry nowhere"), ..none() }, vec![]),
        (MailQuery { text: some("für dienstag"), ..none() }, vec![plain]),
        (MailQuery { subject: some("DIENSTAG"), ..none() }, vec![plain]),
        (MailQuery { text: some("zzz\" OR from:\"shop"), ..none() }, vec![]),
        (MailQuery { text: some("in:anywhere"), ..none() }, vec![]),
        (MailQuery { text: some("-jerry"), ..none() }, vec![]),
        (MailQuery { from: some("shop@example.com"), ..none() }, vec![mixed]),
        (MailQuery { to: some("bob"), ..none() }, vec![plain]),
        (MailQuery { subject: some("INVOICE your"), ..none() }, vec![mixed]),
        (MailQuery { unread: Some(true), ..none() }, vec![mixed, plain]),
        (MailQuery { unread: Some(false), ..none() }, vec![]),
        (MailQuery { has_attachments: Some(true), ..none() }, vec![mixed]),
        (MailQuery { has_attachments: Some(false), ..none() }, vec![plain]),
        (MailQuery { after: date("2026-11-23T08:00:00Z"), ..none() }, vec![mixed, plain]),
        (MailQuery { after: date("2026-11-23T08:00:00.001Z"), ..none() }, vec![mixed]),
        (MailQuery { before: date("2026-11-23T08:00:00Z"), ..none() }, vec![]),
        (MailQuery { before: date("2026-11-24T08:00:00Z"), ..none() }, vec![plain]),
        (under("archive"), vec![]),
        (under("INBOX"), vec![mixed, plain]),
    ] {
        let titles: Vec<String> =
            list(&account, query.clone()).await.into_iter().map(|head| head.subject).collect();
        assert_eq!(titles, found, "{query:?}");
    }
    assert_eq!(kind(account.google.messages("", under("none")).await), BackendErrorKind::NotFound);
    let wrong = MailQuery { cursor: some("nonsense"), ..none() };
    assert_eq!(kind(account.google.messages("", wrong).await), BackendErrorKind::Invalid);
    account.close();
}

#[tokio::test]
async fn pages_of_messages_follow_one_another() {
    let account = Account::open();
    for number in 1..=5 {
        let date = format!("Date: Mon, 23 Nov 2026 09:0{number}:00 +0100\n");
        let text = format!("From: a@example.org\nSubject: {number}\n{date}\nText\n");
        account.server.deliver(&text);
    }
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let query = MailQuery { limit: 2, cursor, ..MailQuery::default() };
        let page = account.google.messages("", query).await.unwrap();
        assert!(page.items.len() <= 2);
        seen.extend(page.items.into_iter().map(|head| head.subject));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["5", "4", "3", "2", "1"]);
    account.close();
}

#[tokio::test]
async fn marks_are_labels() {
    let account = Account::open();
    let id = account.server.deliver(PLAIN);
    let head = list(&account, under("inbox")).await.remove(0);
    let read =
        mark(&account, &id, MessageMarks { unread: Some(false), ..MessageMarks::default() }).await;
    assert_eq!(read, MessageHead { unread: false, ..head });
    let labelled = mark(&account, &id, marks(&["Projects/Desk", "starred"], &[])).await;
    assert_eq!(labelled.labels, ["inbox", "starred", "Projects/Desk"]);
    assert_eq!(list(&account, under("projects/desk")).await, std::slice::from_ref(&labelled));
    let labels = account.google.labels("").await.unwrap();
    let own = MailLabel { name: "Projects/Desk".to_owned(), total: Some(1), unread: Some(0) };
    assert!(labels.contains(&own), "{labels:?}");
    for name in ["inbox", "sent", "drafts", "trash", "spam", "archive"] {
        assert!(labels.iter().any(|label| label.name == name), "{name}");
    }
    let again = mark(&account, &id, marks(&["Projects/Desk"], &["starred", "unknown"])).await;
    assert_eq!(again.labels, ["inbox", "Projects/Desk"]);
    let archived = mark(&account, &id, marks(&[], &["inbox", "Projects/Desk"])).await;
    assert_eq!(archived.labels, ["archive"]);
    assert_eq!(list(&account, under("archive")).await, std::slice::from_ref(&archived));
    let trashed = mark(&account, &id, marks(&["trash"], &[])).await;
    assert_eq!(trashed.labels, ["trash"]);
    assert_eq!(list(&account, under("trash")).await, [trashed]);
    assert_eq!(list(&account, MailQuery { limit: 5, ..MailQuery::default() }).await, []);
    let back = mark(&account, &id, marks(&["inbox"], &["trash"])).await;
    assert_eq!(back.labels, ["inbox"]);
    for wrong in ["", "a\r\nb", "sent", "drafts"] {
        let marked = account.google.mark("", &id, marks(&[wrong], &[])).await;
        assert_eq!(kind(marked), BackendErrorKind::Invalid, "{wrong:?}");
    }
    let nothing = account.google.mark("", "nothing", marks(&["inbox"], &[])).await;
    assert_eq!(kind(nothing), BackendErrorKind::NotFound);
    account.close();
}

#[tokio::test]
async fn a_draft_waits_until_it_is_sent() {
    let account = Account::open();
    for other in ["One", "Two", "Three"] {
        let other = letter("ben@example.org", other, "Another");
        account.google.draft("", other).await.unwrap();
    }
    account.server.small_pages(2);
    let text = "Grüße\n.\nFrom here on\n";
    let message = NewMessage {
        bcc: vec![person("carol@example.org")],
        ..letter("ben@example.org", "Plan für Dienstag\r\nBcc: x@example.org", text)
    };
    let draft = account.google.draft("", message).await.unwrap();
    assert_eq!((&*draft.labels, draft.unread), (&["drafts".to_owned()][..], false));
    let newest = MailQuery { limit: 1, ..under("drafts") };
    assert_eq!(list(&account, newest).await, std::slice::from_ref(&draft));
    assert_eq!(account.server.sent(), [""; 0]);
    let sent = account.google.send_draft("", &draft.id).await.unwrap();
    assert_eq!(sent.labels, ["sent"]);
    assert_eq!(sent.subject, "Plan für Dienstag Bcc: x@example.org");
    assert_eq!(list(&account, under("sent")).await, std::slice::from_ref(&sent));
    assert_eq!(sent.snippet, "Grüße . From here on");
    let found = MailQuery { text: Some("grüße".to_owned()), ..under("sent") };
    assert_eq!(list(&account, found).await, std::slice::from_ref(&sent));
    let read = account.google.message("", &sent.id).await.unwrap();
    assert_eq!(
        (read.text.as_str(), read.bcc),
        (text.trim_end(), vec![person("carol@example.org")])
    );
    assert_eq!(kind(account.google.message("", &draft.id).await), BackendErrorKind::NotFound);
    for id in [draft.id.as_str(), sent.id.as_str(), "nothing"] {
        assert_eq!(
            kind(account.google.send_draft("", id).await),
            BackendErrorKind::NotFound,
            "{id}"
        );
    }
    account.close();
}

#[tokio::test]
async fn files_go_along_whole() {
    let account = Account::open();
    let message = letter("ben@example.org", "Files", "See the files.");
    let message = NewMessage { files: odd_files(), ..message };
    let draft = account.google.draft("", message.clone()).await.unwrap();
    let drafted = account.google.send_draft("", &draft.id).await.unwrap();
    let sent = account.google.send("", message).await.unwrap();
    for head in [drafted, sent] {
        let read = account.google.message("", &head.id).await.unwrap();
        assert_eq!((&*read.text, read.attachments), ("See the files.", listed(&odd_files())));
        assert_eq!(account.google.files("", &head.id).await.unwrap(), odd_files());
    }
    let none = account.google.files("", "nothing").await;
    assert_eq!(kind(none), BackendErrorKind::NotFound);
    account.close();
}

#[tokio::test]
async fn a_reply_stays_in_its_conversation() {
    let account = Account::open();
    let id = account.server.deliver(PLAIN);
    let before = account.google.message("", &id).await.unwrap();
    let answers = ReplyContext {
        thread: before.head.thread.clone(),
        message_id: before.message_id.clone(),
        references: before.references.clone(),
    };
    let reply = letter("juerg@example.org", "Re: Plan für Dienstag", "Yes.");
    let reply = NewMessage { answers: Some(answers.clone()), ..reply };
    let sent = account.google.send("", reply.clone()).await.unwrap();
    assert_eq!((&sent.thread, &*sent.labels), (&before.head.thread, &["sent".to_owned()][..]));
    let read = account.google.message("", &sent.id).await.unwrap();
    assert_eq!(read.references, ["one@example.org"]);
    assert_eq!(read.head.from, Some(person(OWNER)));
    let answers = Some(ReplyContext { thread: Some("none".to_owned()), ..answers });
    let lost = NewMessage { answers, ..reply };
    assert_eq!(kind(account.google.send("", lost).await), BackendErrorKind::NotFound);
    let nobody = NewMessage { to: Vec::new(), ..letter("x@example.org", "x", "x") };
    assert_eq!(kind(account.google.send("", nobody).await), BackendErrorKind::Invalid);
    let odd = letter("x@example.org\r\nBcc: y@example.org", "x", "x");
    assert_eq!(kind(account.google.send("", odd).await), BackendErrorKind::Invalid);
    assert_eq!(account.server.sent().len(), 1);
    account.close();
}
