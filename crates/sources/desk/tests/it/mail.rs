//! Mail through its tools, over a mailbox with a week of letters in it.

use std::io::Cursor;

use serde_json::{Value, json};

use crate::room::{ANN, Room, column, nameless};

/// Letters of a week, each as who, when, subject, text and further headers.
const WEEK: [[&str; 5]; 5] = [
    [
        "Bob Low <bob@example.org>",
        "Mon, 16 Nov 2026 09:00:00 +0100",
        "Offer",
        "Here is our offer.",
        "Message-ID: <1@example.org>\nCc: joe@example.org\n",
    ],
    [
        "Eve <eve@example.org>",
        "Tue, 17 Nov 2026 10:00:00 +0100",
        "Re: Offer",
        "Too dear for us.",
        "Message-ID: <2@example.org>\nIn-Reply-To: <1@example.org>\nReferences: <1@example.org>\n",
    ],
    [
        "Bob Low <bob@example.org>",
        "Fri, 20 Nov 2026 18:30:00 +0100",
        "Lunch",
        "Shall we?",
        "Message-ID: <3@example.org>\nReply-To: bob@home.example\n",
    ],
    [
        "news@shop.example",
        "Sun, 22 Nov 2026 08:00:00 +0100",
        "Sale",
        "Everything must go.",
        "Message-ID: <4@example.org>\nStatus: RO\n",
    ],
    [
        "Old Friend <old@example.org>",
        "Sun, 1 Nov 2026 08:00:00 +0100",
        "Long ago",
        "Hello.",
        "Message-ID: <5@example.org>\n",
    ],
];

async fn week() -> Room {
    let room = Room::new();
    let letter = |[from, date, subject, text, headers]: [&str; 5]| {
        format!(
            "From x@example.org Mon Nov 16 09:00:00 2026\nFrom: {from}\n\
             To: Ann <{ANN}>, eve@example.org\nDate: {date}\nSubject: {subject}\n{headers}\
             Content-Type: text/plain\n\n{text}\n\n"
        )
    };
    let mbox: String = WEEK.into_iter().map(letter).collect();
    let imported = room.mailbox.import_mbox(ANN, Cursor::new(mbox.into_bytes()), "inbox").await;
    assert_eq!(imported.unwrap().added, 5);
    // What an mbox file says nothing of was read long ago.
    for subject in ["Offer", "Lunch"] {
        let id = id(&room, json!({"subject": subject})).await;
        room.done("mark_email_unread", json!({"email_id": id})).await;
    }
    room
}

async fn id(room: &Room, search: Value) -> String {
    let found = room.done("search_emails", search).await;
    let last = column(&found, "id").len() - 1;
    column(&found, "id")[last].to_owned()
}

#[tokio::test]
async fn the_newest_emails_are_listed_page_by_page() {
    let room = week().await;
    let first = room.done("read_emails", json!({"limit": 3})).await;
    assert_eq!(column(&first, "subject"), ["Sale", "Lunch", "Re: Offer"]);
    let rest = room.done("read_emails", json!({"limit": 3, "cursor": first["next"]})).await;
    assert_eq!(column(&rest, "subject"), ["Offer", "Long ago"]);
    assert_eq!(rest.get("next"), None);
    let lunch = json!({
        "id": "*", "thread": "*", "from": {"address": "bob@example.org", "name": "Bob Low"},
        "to": [{"address": ANN, "name": "Ann"}, {"address": "eve@example.org"}],
        "subject": "Lunch", "date": "2026-11-20T18:30:00+01:00", "when": "Fri 20 Nov 2026 18:30",
        "snippet": "Shall we?", "unread": true, "labels": ["inbox"], "has_attachments": false,
    });
    assert_eq!(nameless(first["data"][1].clone()), lunch);
    let unread = room.done("list_unread_emails", json!({})).await;
    assert_eq!(column(&unread, "subject"), ["Lunch", "Offer"]);
}

#[tokio::test]
async fn an_email_is_shown_whole_and_stays_unread() {
    let room = week().await;
    let id = id(&room, json!({"subject": "Lunch"})).await;
    let shown = room.done("get_email", json!({"email_id": id})).await;
    let whole = json!({
        "id": "*", "thread": "*", "from": {"address": "bob@example.org", "name": "Bob Low"},
        "to": [{"address": ANN, "name": "Ann"}, {"address": "eve@example.org"}],
        "subject": "Lunch", "date": "2026-11-20T18:30:00+01:00", "when": "Fri 20 Nov 2026 18:30",
        "snippet": "Shall we?", "unread": true, "labels": ["inbox"], "has_attachments": false,
        "reply_to": [{"address": "bob@home.example"}], "text": "Shall we?",
    });
    let mut shown = nameless(shown);
    shown["data"]["text"] = json!(shown["data"]["text"].as_str().unwrap().trim_end());
    assert_eq!(shown, json!({ "data": whole }));
    let unread = room.done("list_unread_emails", json!({"limit": 1})).await;
    assert_eq!(column(&unread, "subject"), ["Lunch"]);
}

#[tokio::test]
async fn emails_are_found_by_whatever_is_known_of_them() {
    let room = week().await;
    let rows = [
        (json!({"query": "OFFER"}), vec!["Re: Offer", "Offer"]),
        (json!({"from": "bob"}), vec!["Lunch", "Offer"]),
        (json!({"from": "bob", "unread": false}), vec![]),
        (json!({"subject": "sale"}), vec!["Sale"]),
        (json!({"after": "2026-11-20"}), vec!["Sale", "Lunch"]),
        (json!({"after": "2026-11-16", "before": "2026-11-20"}), vec!["Re: Offer", "Offer"]),
        (json!({"after": "today"}), vec!["Sale"]),
        (json!({"label": "trash"}), vec![]),
        (json!({"has_attachments": true}), vec![]),
    ];
    for (arguments, subjects) in rows {
        let found = room.done("search_emails", arguments.clone()).await;
        assert_eq!(column(&found, "subject"), subjects, "{arguments}");
    }
    let arguments = json!({"after": "today", "before": "yesterday"});
    let wrong = room.outcome("search_emails", arguments).await;
    assert_eq!(wrong, json!({"tool": "`before` is not after `after`: turn them around"}));
}

#[tokio::test]
async fn a_draft_is_written_and_sent_once_a_person_said_yes() {
    let room = week().await;
    let arguments = json!({"to": [ANN], "subject": "Note to self", "body": "Buy milk."});
    let id = room.made("draft_email", arguments).await;
    let drafts = room.done("read_emails", json!({"label": "drafts"})).await;
    assert_eq!(column(&drafts, "subject"), ["Note to self"]);
    room.done("send_email", json!({"draft_id": id})).await;
    let drafts = room.done("read_emails", json!({"label": "drafts"})).await;
    assert_eq!(drafts, json!({ "data": [] }));
    let inbox = room.done("read_emails", json!({"limit": 1})).await;
    assert_eq!(column(&inbox, "subject"), ["Note to self"]);
}

#[tokio::test]
async fn what_cannot_go_out_is_told() {
    let room = week().await;
    let arguments = json!({"to": ["bob@example.org"], "subject": "Lunch", "body": "Yes."});
    let sent = room.done("send_email", arguments).await;
    let note = sent["notes"][0].as_str().unwrap();
    assert!(note.starts_with("no mail server is configured"), "{note}");
}

#[tokio::test]
async fn an_answer_goes_to_the_sender_or_to_everybody_but_oneself() {
    let room = week().await;
    let lunch = id(&room, json!({"subject": "Lunch"})).await;
    let offer = id(&room, json!({"subject": "Offer"})).await;
    let rows = [
        (
            json!({"email_id": lunch, "body": "Yes."}),
            "Answer *Lunch* to bob@home.example: \u{201c}Yes.\u{201d}",
        ),
        (
            json!({"email_id": offer, "body": "No."}),
            "Answer *Offer* to bob@example.org: \u{201c}No.\u{201d}",
        ),
        (
            json!({"email_id": offer, "body": "No.", "reply_all": true, "cc": ["zoe@example.org"]}),
            "Answer *Offer* to bob@example.org, eve@example.org, joe@example.org, zoe@example.org: \u{201c}No.\u{201d}",
        ),
    ];
    for (arguments, words) in rows {
        let (_, asked) = room.asked("reply_to_email", arguments.clone()).await;
        assert_eq!(asked, format!("{words} \u{2014} what is sent cannot be taken back"));
    }
    let arguments = json!({"email_id": offer, "body": "No.", "reply_all": true});
    let sent = room.done("reply_to_email", arguments).await;
    assert_eq!(sent["data"]["subject"], json!("Re: Offer"));
    let before = room.done("get_email", json!({"email_id": offer})).await;
    assert_eq!(sent["data"]["thread"], before["data"]["thread"]);
    let id = sent["data"]["id"].as_str().unwrap();
    let kept = room.backends.mail.as_ref().unwrap().message(ANN, id).await.unwrap();
    assert_eq!(kept.references, ["1@example.org"]);
}

#[tokio::test]
async fn files_go_along_and_are_told_before_and_after() {
    let room = week().await;
    let attachments = json!([
        {"name": "budget.pdf", "base64": "JVBERi0x\nLjQ"},
        {"name": "Größe.csv", "text": "a;b\n".repeat(400)},
        {"name": "x", "text": "é", "mime_type": "text/x-note; charset=UTF-8"},
    ]);
    let listed = json!([
        {"name": "budget.pdf", "media": "application/pdf", "size": 8},
        {"name": "Größe.csv", "media": "text/csv", "size": 1600},
        {"name": "x", "media": "text/x-note", "size": 2},
    ]);
    let with = "with *budget.pdf* (8 bytes), *Größe.csv* (1 KiB), *x* (2 bytes)";
    let offer = id(&room, json!({"subject": "Offer"})).await;
    let new = json!({"to": [ANN], "subject": "Plan", "body": "See.", "attachments": attachments});
    let draft = room.made("draft_email", new.clone()).await;
    let drafted = room.done("get_email", json!({"email_id": draft})).await;
    assert_eq!(drafted["data"]["attachments"], listed);
    let answer = json!({"email_id": offer, "body": "See.", "attachments": attachments});
    let see = "\u{201c}See.\u{201d}";
    for (tool, arguments, words) in [
        ("send_email", new, format!("Send *Plan* to {ANN}, {with}: {see} \u{2014}")),
        (
            "send_email",
            json!({"draft_id": draft}),
            format!("Send *Plan* to {ANN}, {with}: {see} ("),
        ),
        ("reply_to_email", answer, format!("Answer *Offer* to bob@example.org, {with}: {see}")),
    ] {
        let (_, asked) = room.asked(tool, arguments.clone()).await;
        assert!(asked.starts_with(&words), "{asked}");
        let sent = room.made(tool, arguments).await;
        let shown = room.done("get_email", json!({"email_id": sent})).await;
        assert_eq!(shown["data"]["attachments"], listed);
        assert_eq!(shown["data"]["text"], json!("See."));
    }
    let found = room.done("search_emails", json!({"has_attachments": true})).await;
    assert_eq!(column(&found, "subject"), ["Re: Offer", "Plan", "Plan"]);
}

#[tokio::test]
async fn files_that_cannot_go_along_are_told() {
    let room = week().await;
    let many = vec![json!({"name": "x", "text": ""}); 21];
    let large = json!({"name": "x.txt", "text": "x".repeat(9 << 20)});
    let rows = [
        (json!([{"name": "a", "text": "", "base64": ""}]), "give either `text` or `base64` of `a`"),
        (json!([{"name": "a"}]), "give either `text` or `base64` of `a`"),
        (json!([{"name": "a", "base64": "!"}]), "`base64` of `a` is no base64: encode it again"),
        (
            json!([{"name": "../a", "text": ""}]),
            "`../a` is no name of a file: leave out its folder",
        ),
        (json!([{"name": "a\nb", "text": ""}]), "`name` must be one line, without line breaks"),
        (
            json!([{"name": "a", "text": "", "mime_type": "message/rfc822"}]),
            "`message/rfc822` is no media type of a file: write one like `application/pdf`, without parameters, or leave it out",
        ),
        (
            json!([large, large, large]),
            "too much to attach (3 files, 27 MiB): an email takes 20 files of 20 MiB together",
        ),
    ];
    for (attachments, message) in rows {
        let arguments = json!({"to": [ANN], "subject": "x", "attachments": attachments});
        let refused = room.outcome("send_email", arguments).await;
        assert_eq!(refused, json!({ "tool": message }));
    }
    let arguments = json!({"to": [ANN], "subject": "x", "attachments": many});
    let refused = room.response("send_email", &arguments).await;
    assert_eq!(refused.error().unwrap().kind.as_str(), "invalid_arguments");
}

#[tokio::test]
async fn emails_are_labelled_archived_marked_and_deleted() {
    let room = week().await;
    let id = id(&room, json!({"subject": "Sale"})).await;
    let one = json!({"email_id": id});
    let labels = async || {
        let shown = room.done("get_email", json!({"email_id": id})).await;
        shown["data"]["labels"].clone()
    };
    room.done("label_email", json!({"email_id": id, "add": ["Shops"]})).await;
    assert_eq!(labels().await, json!(["inbox", "Shops"]));
    let known = room.done("list_email_labels", json!({})).await;
    assert!(column(&known, "name").contains(&"Shops"), "{known}");
    room.done("archive_email", one.clone()).await;
    assert_eq!(labels().await, json!(["archive", "Shops"]));
    let marked = room.done("mark_email_unread", one.clone()).await;
    assert_eq!(marked["data"]["unread"], json!(true));
    let marked = room.done("mark_email_read", one.clone()).await;
    assert_eq!(marked["data"]["unread"], json!(false));
    let (ticket, words) = room.asked("delete_email", one).await;
    let asked = "Move *Sale* from news@shop.example, Sun 22 Nov 2026 08:00, to the trash \u{2014} it may destroy data";
    assert_eq!(words, asked);
    room.approve(&ticket).await.unwrap();
    assert_eq!(labels().await, json!(["Shops", "trash"]));
    room.done("label_email", json!({"email_id": id, "add": ["inbox"]})).await;
    assert_eq!(labels().await, json!(["inbox", "Shops"]));
}

#[tokio::test]
async fn no_email_is_deleted_or_sent_by_a_label() {
    let room = week().await;
    let id = id(&room, json!({"subject": "Sale"})).await;
    let rows = [
        (json!({"add": ["Trash"]}), "`trash` cannot be put on by hand: use `delete_email`"),
        (json!({"add": ["sent"]}), "`sent` cannot be put on by hand: use `send_email`"),
        (json!({"add": ["OutBox"]}), "`outbox` cannot be put on by hand: use `send_email`"),
        (json!({"add": ["drafts"]}), "`drafts` cannot be put on by hand: use `draft_email`"),
        (json!({}), "nothing would change: name labels to `add` or to `remove`"),
        (json!({"add": ["a"], "remove": ["a"]}), "`a` is both in `add` and in `remove`"),
    ];
    for (mut arguments, message) in rows {
        arguments["email_id"] = json!(id);
        let refused = room.outcome("label_email", arguments.clone()).await;
        assert_eq!(refused, json!({ "tool": message }), "{arguments}");
    }
}

#[tokio::test]
async fn a_week_is_summarized_with_today_in_it() {
    let room = week().await;
    let arguments = json!({"to": ["bob@example.org"], "subject": "Re: Lunch", "body": "Yes."});
    room.done("send_email", arguments).await;
    let summary = nameless(room.done("summarize_weekly_emails", json!({})).await);
    let day = |day: &str, weekday: &str, received: u32, sent: u32| json!({"day": day, "weekday": weekday, "received": received, "sent": sent});
    let data = &summary["data"];
    assert_eq!(
        data["by_day"],
        json!([
            day("2026-11-16", "Monday", 1, 0),
            day("2026-11-17", "Tuesday", 1, 0),
            day("2026-11-18", "Wednesday", 0, 0),
            day("2026-11-19", "Thursday", 0, 0),
            day("2026-11-20", "Friday", 1, 0),
            day("2026-11-21", "Saturday", 0, 0),
            day("2026-11-22", "Sunday", 1, 1),
        ])
    );
    let counts = json!([data["received"], data["unread"], data["sent"], data["thread_count"]]);
    assert_eq!(counts[0], json!(4));
    assert_eq!(counts[1], json!(2));
    assert_eq!(counts[2], json!(1));
    assert_eq!(
        data["by_sender"],
        json!([
            {"address": "bob@example.org", "name": "Bob Low", "received": 2, "unread": 2},
            {"address": "eve@example.org", "name": "Eve", "received": 1, "unread": 0},
            {"address": "news@shop.example", "received": 1, "unread": 0},
        ])
    );
    assert_eq!(data["by_label"], json!([{"label": "inbox", "received": 4, "unread": 2}]));
    let offer = json!({
        "subject": "Re: Offer", "emails": 2, "unread": 1,
        "people": ["eve@example.org", "bob@example.org"],
        "latest": "2026-11-17T10:00:00+01:00", "latest_id": "*", "snippet": "Too dear for us.",
    });
    assert!(data["threads"].as_array().unwrap().contains(&offer), "{data}");
    let month = room.done("summarize_weekly_emails", json!({"days": 30, "limit": 1})).await;
    assert_eq!(month["data"]["received"], json!(5));
    assert_eq!(month["data"]["threads"].as_array().unwrap().len(), 1);
    let today = room.done("summarize_weekly_emails", json!({"days": 1})).await;
    assert_eq!(today["data"]["received"], json!(1));
}
