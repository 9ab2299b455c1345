//! Forwarding through its tool, over each of the mailboxes.

use std::io::Cursor;

use serde_json::{Value, json};
use toolcrib_desk::backend::{MailBackend, NewMessage};

use crate::dovecot::Dovecot;
use crate::google::Account;
use crate::imap_mail::{at, mailbox};
use crate::mailbox::{Box, odd_files};
use crate::room::{ANN, Room};
use crate::sink::{Odd, Sink};

/// A letter with a file, as it may come.
const OFFER: &str = "From: =?utf-8?Q?J=C3=BCrg?= <juerg@example.org>\n\
To: Ann <ann@example.org>, eve@example.org\n\
Cc: joe@example.org\n\
Subject: FW: Offer\n\
Date: Mon, 16 Nov 2026 09:00:00 +0100\n\
Message-ID: <one@example.org>\n\
MIME-Version: 1.0\n\
Content-Type: multipart/mixed; boundary=xyz\n\
\n\
--xyz\n\
Content-Type: text/plain; charset=utf-8\n\
\n\
Here is our offer: 100 \u{20ac}.\n\
--xyz\n\
Content-Type: application/pdf\n\
Content-Disposition: attachment; filename=\"offer.pdf\"\n\
Content-Transfer-Encoding: base64\n\
\n\
JVBERi0xLjQ=\n\
--xyz--\n";

const QUOTED: &str = "---------- Forwarded message ----------\n\
From: J\u{fc}rg <juerg@example.org>\n\
Date: Mon, 16 Nov 2026 09:00 +0100\n\
Subject: FW: Offer\n\
To: Ann <ann@example.org>, eve@example.org\n\
Cc: joe@example.org\n\
\n\
Here is our offer: 100 \u{20ac}.";

const SENDS: &str = "\u{2014} what is sent cannot be taken back";

async fn room_with(letter: &str) -> (Room, String) {
    let room = Room::new();
    let mbox = format!("From x@example.org Mon Nov 16 09:00:00 2026\n{letter}\n");
    let imported = room.mailbox.import_mbox(ANN, Cursor::new(mbox.into_bytes()), "inbox").await;
    assert_eq!(imported.unwrap().added, 1);
    let found = room.done("read_emails", json!({})).await;
    (room, found["data"][0]["id"].as_str().unwrap().to_owned())
}

async fn shown(room: &Room, id: &Value) -> Value {
    room.done("get_email", json!({"email_id": id})).await["data"].take()
}

#[tokio::test]
async fn a_letter_goes_on_with_who_wrote_it_and_its_files() {
    let (room, id) = room_with(OFFER).await;
    let arguments = json!({
        "email_id": id, "to": ["eve@example.org"], "cc": ["EVE@example.org", "zoe@example.org"],
        "body": "What do you think?\n", "attachments": [{"name": "n.txt", "text": "x"}],
    });
    let (_, asked) = room.asked("forward_email", arguments.clone()).await;
    let words = "Forward *FW: Offer* from juerg@example.org to eve@example.org, zoe@example.org, \
                 with *offer.pdf* (8 bytes), *n.txt* (1 byte): \u{201c}What do you think?\u{201d}";
    assert_eq!(asked, format!("{words} {SENDS}"));
    let sent = room.done("forward_email", arguments).await;
    assert!(sent["notes"][0].as_str().unwrap().starts_with("no mail server"), "{sent}");
    let data = shown(&room, &sent["data"]["id"]).await;
    assert_eq!(data["subject"], json!("FW: Offer"));
    assert_eq!(data["text"], json!(format!("What do you think?\n\n{QUOTED}")));
    let files = json!([
        {"name": "offer.pdf", "media": "application/pdf", "size": 8},
        {"name": "n.txt", "media": "text/plain", "size": 1},
    ]);
    assert_eq!(data["attachments"], files);
    let kept = room.backends.mail.as_ref().unwrap();
    let kept = kept.message(ANN, data["id"].as_str().unwrap()).await.unwrap();
    assert_eq!(kept.references, [""; 0], "it begins a conversation of its own");
}

#[tokio::test]
async fn a_letter_goes_on_without_words_and_without_its_files() {
    let (room, id) = room_with(&OFFER.replace("FW: Offer", "Offer")).await;
    let arguments = json!({"email_id": id, "to": ["eve@example.org"], "keep_attachments": false});
    let (_, asked) = room.asked("forward_email", arguments.clone()).await;
    assert_eq!(asked, format!("Forward *Offer* from juerg@example.org to eve@example.org {SENDS}"));
    let sent = room.done("forward_email", arguments).await;
    let data = shown(&room, &sent["data"]["id"]).await;
    assert_eq!(data["subject"], json!("Fwd: Offer"));
    assert_eq!(data["text"], json!(QUOTED.replace("FW: ", "")));
    assert_eq!(data.get("attachments"), None);
}

#[tokio::test]
async fn what_cannot_be_forwarded_is_told_and_asked_about_nobody() {
    let (room, id) = room_with(OFFER).await;
    let draft = json!({"to": [ANN], "subject": "Draft", "body": "x"});
    let draft = room.made("draft_email", draft).await;
    let files = vec![json!({"name": "x", "text": ""}); 20];
    for (arguments, message) in [
        (json!({"email_id": draft}), "this email is a draft: send it with `send_email`"),
        (
            json!({"email_id": id, "attachments": files}),
            "too much to attach (21 files, 8 bytes): an email takes 20 files of 20 MiB together: \
             forward it with `keep_attachments` false, or fewer files",
        ),
        (
            json!({"email_id": "none"}),
            "there is no message `none`: list or search to see which there are",
        ),
    ] {
        let mut arguments = arguments;
        arguments["to"] = json!(["eve@example.org"]);
        let refused = room.outcome("forward_email", arguments).await;
        assert_eq!(refused, json!({ "tool": message }));
    }
}

/// A letter of one's own to oneself, forwarded through the tool with its files.
async fn forwards(mail: impl MailBackend + Clone + 'static, inbox: bool) -> (Room, Value) {
    let box_of = Box { mail: &mail, owner: "" };
    let own = box_of.letter("Files", "See the files.").await;
    let sent = mail.send("", NewMessage { files: odd_files(), ..own }).await.unwrap();
    let id = if inbox { box_of.arrived("Files").await.id } else { sent.id };
    let room = Room::with_mail(mail.clone());
    let arguments = json!({"email_id": id, "to": ["eve@example.org"], "body": "Look."});
    let (_, asked) = room.asked("forward_email", arguments.clone()).await;
    assert!(asked.contains("to eve@example.org, with *budget.pdf* (4 KiB), "), "{asked}");
    let sent = room.done("forward_email", arguments).await;
    let id = sent["data"]["id"].as_str().unwrap();
    assert_eq!(mail.files("", id).await.unwrap(), odd_files());
    let data = shown(&room, &sent["data"]["id"]).await;
    assert_eq!(data["subject"], json!("Fwd: Files"));
    let text = data["text"].as_str().unwrap();
    assert!(text.starts_with("Look.\n\n---------- Forwarded message ----------\nFrom: "), "{text}");
    assert!(text.ends_with("\n\nSee the files."), "{text}");
    (room, data)
}

#[tokio::test]
async fn a_letter_of_an_account_of_imap_goes_on_over_smtp() {
    let Some(dovecot) = Dovecot::start("forward") else { return };
    let sink = Sink::start(Odd::Not, Some(dovecot.maildir("user")), None).await;
    let mail = mailbox(&at("imap", dovecot.port), &at("smtp", sink.port), true);
    forwards(mail, true).await;
    let (to, _) = sink.taken().pop().unwrap();
    assert_eq!(to, ["eve@example.org"]);
}

#[tokio::test]
async fn a_letter_of_an_account_of_google_goes_on() {
    let account = Account::open();
    forwards(account.google.clone(), false).await;
    assert_eq!(account.server.sent().len(), 2);
    account.close();
}
