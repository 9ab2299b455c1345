//! The text of messages as people read it, whatever their parts are and however they travelled.

use std::io::Cursor;

use proptest::prelude::*;
use serde_json::json;
use toolcrib_desk::mime::{files, read};

use crate::room::{ANN, Room};

fn mail(rest: &str) -> Vec<u8> {
    format!("From: Bob <bob@example.org>\nSubject: x\nMIME-Version: 1.0\n{rest}").into_bytes()
}

fn text(rest: &str) -> String {
    read(&mail(rest)).unwrap().text
}

/// Parts around which a boundary stands.
fn parts(kind: &str, boundary: &str, parts: &[String]) -> String {
    let parts = parts.iter().map(|part| format!("--{boundary}\n{part}\n"));
    let parts = parts.collect::<Vec<_>>().concat();
    format!("Content-Type: multipart/{kind}; boundary={boundary}\n\n{parts}--{boundary}--\n")
}

fn plain(text: &str) -> String {
    format!("Content-Type: text/plain\n\n{text}")
}

fn html(text: &str) -> String {
    format!("Content-Type: text/html\n\n{text}")
}

fn picture() -> String {
    "Content-Type: image/png\nContent-Transfer-Encoding: base64\n\naGVsbG8=".to_owned()
}

#[test]
fn the_text_is_what_a_person_would_read_whatever_the_structure() {
    let page = || html("<p>Your balance is 5</p>");
    let blank = " \n\t\u{200b}\n";
    let rows = [
        ("blank plain", parts("alternative", "a", &[plain(blank), page()])),
        ("empty plain", parts("alternative", "a", &[plain(""), page()])),
        ("blank page", parts("alternative", "a", &[
            plain("Your balance is 5"),
            html("<p>&nbsp;</p>"),
        ])),
        ("page alone", page()),
        ("page in related", parts("related", "a", &[page(), picture()])),
        ("page in related beside blank", parts("alternative", "a", &[
            plain(blank),
            parts("related", "b", &[page(), picture()]),
        ])),
        ("alternatives in mixed", parts("mixed", "a", &[
            parts("alternative", "b", &[plain(blank), page()]),
            picture(),
        ])),
        ("alternatives in related in mixed", parts("mixed", "a", &[
            parts("related", "b", &[
                parts("alternative", "c", &[plain(blank), page()]),
                picture(),
            ]),
            picture(),
        ])),
        ("mixed in alternatives", parts("alternative", "a", &[
            plain(blank),
            parts("mixed", "b", &[page(), picture()]),
        ])),
        ("signed", parts("signed", "a", &[
            plain("Your balance is 5"),
            "Content-Type: application/pgp-signature; name=s.asc\n\nxyz".to_owned(),
        ])),
        ("report", parts("report; report-type=delivery-status", "a", &[
            plain("Your balance is 5"),
            "Content-Type: message/delivery-status\n\nAction: failed".to_owned(),
        ])),
        ("a file that is text", parts("mixed", "a", &[
            plain("Your balance is 5"),
            "Content-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\nno"
                .to_owned(),
        ])),
        ("an alternative that is a calendar", parts("alternative", "a", &[
            plain("Your balance is 5"),
            "Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR".to_owned(),
        ])),
        ("a picture with words", html("<img src=x alt=\"Your balance is 5\"><img alt=''>")),
        ("a text said to be a file", "Content-Type: text/plain\nContent-Disposition: attachment; \
            filename=x.txt\n\nYour balance is 5".to_owned()),
    ];
    for (name, rest) in rows {
        assert_eq!(text(&rest), "Your balance is 5", "{name}");
    }
}

#[test]
fn a_message_that_only_carries_another_shows_it_with_its_writer() {
    let rest = parts(
        "mixed",
        "a",
        &[
            plain(" "),
            "Content-Type: message/rfc822\n\nFrom: Ann <ann@example.org>\nSubject: Old\n\nHello"
                .to_owned(),
        ],
    );
    assert_eq!(text(&rest), "[attached message from ann@example.org: Old]\nHello");
}

#[test]
fn flowed_text_is_joined() {
    let flowed = |text: &str| {
        self::text(&format!("Content-Type: text/plain; charset=utf-8; format=flowed\n\n{text}"))
    };
    let rows = [
        ("one \ntwo\nthree", "one two\nthree"),
        ("one \n\ntwo", "one\n\ntwo"),
        ("> a \n> b\n> c\nd", "> a b\n> c\nd"),
        (">> a \n> b \nc", ">> a\n> b\nc"),
        (" >no quote\n From x", ">no quote\nFrom x"),
        ("text \n-- \nAnn", "text\n-- \nAnn"),
        ("> text\n> -- \n> Ann \n> Lee", "> text\n> -- \n> Ann Lee"),
        ("end ", "end"),
        ("a \r\nb\r\n", "a b"),
        ("  one \n two", " one two"),
    ];
    for (given, expected) in rows {
        assert_eq!(flowed(given), expected, "{given:?}");
    }
    let address = "Content-Type: text/plain; Format=Flowed; DelSp=\"YES\"\n\n\
        Go to https://example.org/very/lo \nng/path now";
    assert_eq!(text(address), "Go to https://example.org/very/long/path now");
    assert_eq!(text("Content-Type: text/plain\n\none \ntwo"), "one \ntwo");
}

#[test]
fn what_stands_behind_encoded_text_is_none_of_it() {
    let base64 = |body: &str| {
        let head = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64";
        text(&format!("{head}\n\n{body}"))
    };
    let greeting = "Grüße an die Liste.";
    for body in [
        "R3LDvMOfZSBhbiBkaWUgTGlzdGUu\n",
        "R3LDvMOfZSBhbiBkaWUgTGlzdGUu\n\n____________\nusers mailing list\n",
        "R3LDvMOfZSBhbiBkaWUgTGlzdGUu\n____________\nusers mailing list\n",
        "R3LDvMOfZSBhbiBk\naWUgTGlzdGUu\n\n-- \nusers@example.org\n",
        "R3LDvMOfZSBhbiBk!\n*aWUgTGlz-dGUu\n",
        "R3LDvMOfZSBhbiBkaWUgTGlzdGUu\n\nUnsubscribe\n",
        "R3LDvMOfZSBhbiBk\n\naWUgTGlzdGUu\n\nTo unsubscribe write to us\n",
    ] {
        assert_eq!(base64(body), greeting, "{body:?}");
    }
    assert_eq!(base64("SGVsbG8=\n\nusers\n"), "Hello");
    assert_eq!(base64("SGVsbG8=\n"), "Hello");
    let quoted = |body: &str| {
        let head = "Content-Type: text/plain; charset=utf-8\n\
                    Content-Transfer-Encoding: quoted-printable";
        text(&format!("{head}\n\n{body}"))
    };
    assert_eq!(quoted("Gr=C3=BC=\n=C3=9Fe  \n=====\na = b\n=ZZ"), "Grüße\n=====\na = b\n=ZZ");
}

#[test]
fn a_file_with_foreign_letters_behind_it_is_read() {
    let rest = parts(
        "mixed",
        "a",
        &[
            plain("See it."),
            "Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\n\
         aGVs\nbG8=\n\n____________\nusers mailing list"
                .to_owned(),
        ],
    );
    let raw = mail(&rest);
    let found = files(&raw).unwrap();
    assert_eq!((&*found[0].name, &*found[0].bytes), ("a.pdf", &b"hello"[..]));
    let letter = read(&raw).unwrap();
    assert_eq!((&*letter.text, letter.attachments[0].size), ("See it.", 5));
}

#[test]
fn a_part_of_several_is_read_around_its_footer() {
    let rest = parts(
        "mixed",
        "a",
        &[
            "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n\
         R3LDvMOfZQ==\n\n____________\nusers mailing list"
                .to_owned(),
            picture(),
        ],
    );
    let letter = read(&mail(&rest)).unwrap();
    assert_eq!((&*letter.text, letter.attachments.len()), ("Grüße", 1));
}

#[test]
fn a_charset_that_lies_is_not_believed() {
    let with = |charset: &str, body: &[u8]| {
        let mut raw = mail(&format!("Content-Type: text/plain{charset}\n\n"));
        raw.extend(body);
        read(&raw).unwrap().text
    };
    for charset in ["", "; charset=utf-8", "; charset=us-ascii", "; charset=iso-8859-1"] {
        assert_eq!(with(charset, b"caf\xe9"), "café", "{charset}");
        assert_eq!(with(charset, "café".as_bytes()), "café", "{charset}");
    }
    assert_eq!(with("; charset=utf-8", b"\xef\xbb\xbfcaf\xc3\xa9"), "café");
    assert_eq!(with("; charset=koi8-r", b"\xf0\xd2\xc9"), "При");
    assert_eq!(with("; charset=nonsense", "café".as_bytes()), "café");
}

#[tokio::test]
async fn lists_searches_answers_and_forwards_have_the_same_text() {
    let room = Room::new();
    let body = parts("alternative", "a", &[plain(" "), html("<p>Your balance is 5</p>")]);
    let head = "From: Bob <bob@example.org>\nTo: ann@example.org\nMessage-ID: <s@example.org>\n\
                Date: Sun, 22 Nov 2026 14:00:00 +0100\nSubject: Statement\nMIME-Version: 1.0";
    let file = format!("From bob@example.org Sun Nov 22 14:00:00 2026\n{head}\n{body}\n");
    room.mailbox.import_mbox(ANN, Cursor::new(file), "inbox").await.unwrap();
    let listed = room.done("read_emails", json!({})).await;
    assert_eq!(listed["data"][0]["snippet"], json!("Your balance is 5"));
    let id = listed["data"][0]["id"].clone();
    let found = room.done("search_emails", json!({"query": "balance"})).await;
    assert_eq!(found["data"][0]["id"], id);
    let whole = room.done("get_email", json!({"email_id": id})).await;
    assert_eq!(whole["data"]["text"], json!("Your balance is 5"));
    let arguments = json!({"email_id": id, "to": ["carl@example.org"]});
    let sent = room.done("forward_email", arguments).await;
    let sent = room.done("get_email", json!({"email_id": sent["data"]["id"]})).await;
    let text = sent["data"]["text"].as_str().unwrap();
    assert!(text.ends_with("Your balance is 5"), "{text}");
}

proptest! {
    #[test]
    fn what_is_broken_to_flow_is_read_as_it_was(
        paragraphs in prop::collection::vec("[a-z>][a-zA-Zäß,.>-]{0,9}( [a-z>][a-z>-]{0,7}){0,12}", 1..6),
        width in 1_usize..30,
        del_sp in any::<bool>(),
    ) {
        let mut wire = String::new();
        for paragraph in &paragraphs {
            let mut line = String::new();
            let mut lines = Vec::new();
            for word in paragraph.split_inclusive(' ') {
                if line.len() + word.len() > width && !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                }
                line.push_str(word);
            }
            lines.push(line);
            let break_of = if del_sp { " \r\n" } else { "\r\n" };
            let stuffed = lines.iter().map(|line| {
                let is_odd = line.starts_with(['>', ' ', '-']);
                format!("{}{line}", if is_odd { " " } else { "" })
            });
            wire.push_str(&stuffed.collect::<Vec<_>>().join(break_of));
            wire.push_str("\r\n");
        }
        let del_sp = if del_sp { "; delsp=yes" } else { "" };
        let head = format!("Content-Type: text/plain; charset=utf-8; format=flowed{del_sp}\n\n");
        prop_assert_eq!(text(&format!("{head}{wire}")), paragraphs.join("\n"));
    }

    #[test]
    fn base64_is_read_as_it_was_whatever_its_lines_are(
        words in "[a-zäöüß ]{0,80}[a-z]",
        width in 1_usize..20,
        with_footer in any::<bool>(),
    ) {
        use base64::Engine as _;
        let encoded = base64::prelude::BASE64_STANDARD.encode(&words);
        let lines: Vec<String> = encoded
            .as_bytes()
            .chunks(width * 4)
            .map(|line| String::from_utf8(line.to_vec()).unwrap())
            .collect();
        let footer = if with_footer { "\n____________\nusers mailing list\n" } else { "" };
        let head = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64";
        let body = format!("{head}\n\n{}\n{footer}", lines.join("\n"));
        prop_assert_eq!(text(&body), words.trim_end());
    }
}
