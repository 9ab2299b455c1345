//! What every mailbox does, whoever keeps it: one suite over the trait.

use std::time::Duration;

use toolcrib_desk::backend::{
    Attachment, BackendErrorKind, MailBackend, MailFile, MailMessage, MailQuery, MessageHead,
    MessageMarks, NewMessage, Person, ReplyContext,
};

/// A query for what has a label.
pub(crate) fn under(label: &str) -> MailQuery {
    MailQuery { label: Some(label.to_owned()), limit: 50, ..MailQuery::default() }
}

pub(crate) fn labels(add: &[&str], remove: &[&str]) -> MessageMarks {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    MessageMarks { add: owned(add), remove: owned(remove), unread: None }
}

/// The owner of the mailbox, and what is done with it.
pub(crate) struct Box<'a> {
    pub(crate) mail: &'a dyn MailBackend,
    pub(crate) owner: &'a str,
}

impl Box<'_> {
    pub(crate) async fn list(&self, query: MailQuery) -> Vec<MessageHead> {
        self.mail.messages(self.owner, query).await.unwrap().items
    }

    async fn subjects(&self, query: MailQuery) -> Vec<String> {
        self.list(query).await.into_iter().map(|head| head.subject).collect()
    }

    /// A message to the owner.
    pub(crate) async fn letter(&self, subject: &str, text: &str) -> NewMessage {
        NewMessage {
            to: vec![self.mail.address(self.owner).await.unwrap()],
            subject: subject.to_owned(),
            text: text.to_owned(),
            ..NewMessage::default()
        }
    }

    /// The message in the inbox of a subject, when it has come.
    pub(crate) async fn arrived(&self, subject: &str) -> MessageHead {
        for _ in 0..100 {
            let found = self.list(under("inbox")).await;
            if let Some(head) = found.into_iter().find(|head| head.subject == subject) {
                return head;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("`{subject}` did not arrive");
    }

    async fn read(&self, id: &str) -> MailMessage {
        self.mail.message(self.owner, id).await.unwrap()
    }

    async fn mark(&self, id: &str, marks: MessageMarks) -> MessageHead {
        self.mail.mark(self.owner, id, marks).await.unwrap()
    }

    async fn kind_of_failure(&self, id: &str) -> BackendErrorKind {
        self.mail.message(self.owner, id).await.unwrap_err().kind
    }
}

/// All of it, in a mailbox that is empty.
pub(crate) async fn behaves(mail: &dyn MailBackend, owner: &str) {
    let mailbox = Box { mail, owner };
    let first = drafts_and_sends(&mailbox).await;
    finds(&mailbox, &first).await;
    let first = marks(&mailbox, &first).await;
    let reply = replies(&mailbox, &first).await;
    moves(&mailbox, &first, &reply).await;
    files(&mailbox).await;
    pages(&mailbox).await;
}

async fn drafts_and_sends(mailbox: &Box<'_>) -> MessageHead {
    let Box { mail, owner } = mailbox;
    let known: Vec<String> =
        mail.labels(owner).await.unwrap().into_iter().map(|label| label.name).collect();
    for label in ["inbox", "sent", "drafts", "trash", "spam", "archive"] {
        assert!(known.iter().any(|known| known == label), "`{label}` is none of {known:?}");
    }
    let own = mail.address(owner).await.unwrap();
    let text = "Grüße aus Köln.\n.\n.two dots\nFrom here on.\n> quoted = 100 %\n\nLast line ✓";
    let message = mailbox.letter("Plan für Dienstag\r\nBcc: injected@example.org", text).await;
    let draft = mail.draft(owner, message).await.unwrap();
    assert_eq!((&*draft.labels, draft.unread), (&["drafts".to_owned()][..], false));
    assert_eq!(mailbox.list(under("inbox")).await, []);
    assert_eq!(mailbox.list(under("drafts")).await, std::slice::from_ref(&draft));
    let sent = mail.send_draft(owner, &draft.id).await.unwrap();
    assert!(sent.labels.iter().any(|label| label == "sent"), "{:?}", sent.labels);
    assert_eq!(mail.note(&sent), None);
    assert_eq!(mailbox.list(under("drafts")).await, []);
    let subject = "Plan für Dienstag Bcc: injected@example.org";
    let head = mailbox.arrived(subject).await;
    assert_eq!((head.unread, head.has_attachments), (true, false));
    assert_eq!((&head.from, &head.to), (&Some(own.clone()), &vec![own]));
    assert_eq!(head.snippet, "Grüße aus Köln. . .two dots From here on. Last line ✓");
    let message = mailbox.read(&head.id).await;
    assert_eq!(message.head, head, "reading leaves it unread");
    assert_eq!((&*message.text, message.bcc, message.attachments), (text, vec![], vec![]));
    assert!(message.message_id.is_some());
    head
}

async fn finds(mailbox: &Box<'_>, first: &MessageHead) {
    let in_inbox = |query: MailQuery| MailQuery { label: Some("inbox".into()), ..query };
    let none = || MailQuery { limit: 10, ..under("inbox") };
    let from = first.from.as_ref().unwrap().address.clone();
    let some = |text: &str| Some(text.to_owned());
    for (query, is_found) in [
        (MailQuery { text: some("köln DIENSTAG"), ..none() }, true),
        (MailQuery { text: some("Köln nowhere"), ..none() }, false),
        (MailQuery { text: some("\"quoted\""), ..none() }, true),
        (MailQuery { text: some("zzz\" OR \"Köln"), ..none() }, false),
        (MailQuery { text: some("*) subject:x"), ..none() }, false),
        (MailQuery { subject: some("dienstag"), ..none() }, true),
        (MailQuery { subject: some("Köln"), ..none() }, false),
        (MailQuery { from: some(&from), to: some(&from), ..none() }, true),
        (MailQuery { from: some("somebody@example.net"), ..none() }, false),
        (MailQuery { unread: Some(true), ..none() }, true),
        (MailQuery { unread: Some(false), ..none() }, false),
        (MailQuery { has_attachments: Some(false), ..none() }, true),
        (MailQuery { has_attachments: Some(true), ..none() }, false),
        (MailQuery { after: Some(first.date), ..none() }, true),
        (MailQuery { before: Some(first.date), ..none() }, false),
    ] {
        let found = mailbox.list(in_inbox(query.clone())).await;
        let expected = if is_found { vec![first.clone()] } else { vec![] };
        assert_eq!(found, expected, "{query:?}");
    }
    for id in ["999999", "nothing", "INBOX:1:1", ""] {
        assert_eq!(mailbox.kind_of_failure(id).await, BackendErrorKind::NotFound, "{id}");
    }
}

async fn marks(mailbox: &Box<'_>, first: &MessageHead) -> MessageHead {
    let read = mailbox
        .mark(&first.id, MessageMarks { unread: Some(false), ..MessageMarks::default() })
        .await;
    assert_eq!(read, MessageHead { unread: false, ..first.clone() });
    assert_eq!(mailbox.list(MailQuery { unread: Some(true), ..under("inbox") }).await, []);
    let labelled = mailbox.mark(&first.id, labels(&["Projects"], &[])).await;
    assert!(labelled.labels.contains(&"Projects".to_owned()), "{:?}", labelled.labels);
    assert_eq!(mailbox.list(under("Projects")).await, std::slice::from_ref(&labelled));
    let known = mailbox.mail.labels(mailbox.owner).await.unwrap();
    assert!(known.iter().any(|label| label.name == "Projects"), "{known:?}");
    let bare = mailbox.mark(&labelled.id, labels(&[], &["Projects"])).await;
    assert_eq!(bare, read);
    assert_eq!(mailbox.list(under("Projects")).await, []);
    for wrong in ["", "a\r\nb", "sent", "drafts"] {
        let marked = mailbox.mail.mark(mailbox.owner, &first.id, labels(&[wrong], &[])).await;
        assert_eq!(marked.unwrap_err().kind, BackendErrorKind::Invalid, "{wrong:?}");
    }
    bare
}

async fn replies(mailbox: &Box<'_>, first: &MessageHead) -> MessageHead {
    let before = mailbox.read(&first.id).await;
    let answers = ReplyContext {
        thread: before.head.thread.clone(),
        message_id: before.message_id.clone(),
        references: before.references.clone(),
    };
    let message = mailbox.letter("Re: an answer", "Yes.").await;
    let message = NewMessage { answers: Some(answers), ..message };
    mailbox.mail.send(mailbox.owner, message).await.unwrap();
    let head = mailbox.arrived("Re: an answer").await;
    assert_eq!(head.thread, before.head.thread);
    let reply = mailbox.read(&head.id).await;
    assert_eq!(reply.references, Vec::from_iter(before.message_id));
    head
}

async fn moves(mailbox: &Box<'_>, first: &MessageHead, reply: &MessageHead) {
    let archived = mailbox.mark(&first.id, labels(&[], &["inbox"])).await;
    assert_eq!(mailbox.subjects(under("inbox")).await, [&*reply.subject]);
    let found = mailbox.list(under("archive")).await;
    assert_eq!(found.len(), usize::from(archived.labels.contains(&"archive".to_owned())));
    let again = mailbox.mark(&archived.id, labels(&["inbox"], &[])).await;
    assert_eq!(mailbox.subjects(under("inbox")).await, [&*reply.subject, &*first.subject]);
    let trashed = mailbox.mark(&again.id, labels(&["trash"], &[])).await;
    assert_eq!(trashed.labels, ["trash"]);
    assert_eq!(mailbox.list(under("trash")).await, std::slice::from_ref(&trashed));
    let everywhere = mailbox.list(MailQuery { limit: 50, ..MailQuery::default() }).await;
    assert!(everywhere.iter().all(|head| head.id != trashed.id));
    let back = mailbox.mark(&trashed.id, labels(&["inbox"], &["trash"])).await;
    assert_eq!(mailbox.list(under("trash")).await, []);
    assert_eq!((&back.subject, &*back.labels), (&first.subject, &["inbox".to_owned()][..]));
    for id in [&back.id, &reply.id] {
        mailbox.mark(id, labels(&["trash"], &[])).await;
    }
}

/// Files with names that are hard to write.
pub(crate) fn odd_files() -> Vec<MailFile> {
    let file = |name: &str, media: &str, bytes: &[u8]| MailFile {
        name: name.to_owned(),
        media: media.to_owned(),
        bytes: bytes.to_vec(),
    };
    let all: Vec<u8> = (0..=u8::MAX).cycle().take(5000).collect();
    let long = format!("{}.csv", "Größe – 価格 ".repeat(12).trim_end());
    vec![
        file("budget.pdf", "application/pdf", &all),
        file("a \"b\"; c%.txt", "text/plain", "Grüße\r\n--x\n".as_bytes()),
        file(&long, "text/csv", "a;b\n1;2\n".as_bytes()),
        file("empty", "application/octet-stream", b""),
    ]
}

/// What is told of files.
pub(crate) fn listed(files: &[MailFile]) -> Vec<Attachment> {
    let one = |file: &MailFile| Attachment {
        name: file.name.clone(),
        media: file.media.clone(),
        size: u64::try_from(file.bytes.len()).unwrap(),
    };
    files.iter().map(one).collect()
}

async fn files(mailbox: &Box<'_>) {
    let Box { mail, owner } = mailbox;
    let text = "See the files.\n--=_\n";
    for is_draft in [false, true] {
        let subject = format!("Files {is_draft}");
        let message = mailbox.letter(&subject, text).await;
        let message = NewMessage { files: odd_files(), ..message };
        let sent = if is_draft {
            let draft = mail.draft(owner, message).await.unwrap();
            assert!(draft.has_attachments);
            mail.send_draft(owner, &draft.id).await.unwrap()
        } else {
            mail.send(owner, message).await.unwrap()
        };
        let head = mailbox.arrived(&subject).await;
        assert!(sent.has_attachments && head.has_attachments);
        let read = mailbox.read(&head.id).await;
        assert_eq!((&*read.text, read.attachments), (text.trim_end(), listed(&odd_files())));
        assert_eq!(mail.files(owner, &head.id).await.unwrap(), odd_files());
        mailbox.mark(&head.id, labels(&["trash"], &[])).await;
    }
}

async fn pages(mailbox: &Box<'_>) {
    for number in 1..=5 {
        let message = mailbox.letter(&format!("Page {number}"), "One of many.").await;
        mailbox.mail.send(mailbox.owner, message).await.unwrap();
        mailbox.arrived(&format!("Page {number}")).await;
    }
    let mut query = MailQuery { limit: 2, ..under("inbox") };
    let mut seen = Vec::new();
    loop {
        let page = mailbox.mail.messages(mailbox.owner, query.clone()).await.unwrap();
        assert!(page.items.len() <= 2);
        seen.extend(page.items.into_iter().map(|head| head.subject));
        // What comes meanwhile shifts nothing.
        let late = mailbox.letter(&format!("Late {}", seen.len()), "").await;
        mailbox.mail.send(mailbox.owner, late).await.unwrap();
        query.cursor = page.next;
        if query.cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["Page 5", "Page 4", "Page 3", "Page 2", "Page 1"]);
    let wrong = MailQuery { cursor: Some("nonsense".to_owned()), ..under("inbox") };
    let refused = mailbox.mail.messages(mailbox.owner, wrong).await.unwrap_err();
    assert_eq!(refused.kind, BackendErrorKind::Invalid);
}

/// Somebody without a name.
pub(crate) fn person(address: &str) -> Person {
    Person { address: address.to_owned(), name: None }
}
