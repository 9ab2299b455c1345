//! A secret survives in none of the forms it may be written in.

use std::borrow::Cow;
use std::fmt::Write;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE};
use percent_encoding::{CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolcrib_core::{Content, ErrorKind, Part, Redactor, Reference, Secret, Secrets, ToolError};
use toolcrib_json::invisible::exact;

/// Letters that part a secret for whoever compares bytes alone.
const UNSEEN: [char; 12] = [
    '\u{200b}',
    '\u{200d}',
    '\u{ad}',
    '\u{202e}',
    '\u{2066}',
    '\u{feff}',
    '\u{fe0f}',
    '\u{e0041}',
    '\u{3164}',
    '\u{2800}',
    '\n',
    '\u{1b}',
];

fn redactor(secrets: &[&str]) -> Redactor {
    Redactor::new(secrets.iter().map(|secret| Secret::new(*secret)))
}

fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// As some writers of JSON do it: everything that is not ASCII as `\u`, and a slash escaped.
fn ascii_json(text: &str) -> String {
    text.encode_utf16().fold(String::new(), |mut written, unit| {
        let _ = match u8::try_from(unit).map(char::from) {
            Ok(slash @ ('/' | '"' | '\\')) => write!(written, "\\{slash}"),
            Ok(plain @ ' '..='~') => write!(written, "{plain}"),
            _ => write!(written, "\\u{unit:04x}"),
        };
        written
    })
}

fn json_text(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The forms that a secret has whatever stands beside it.
fn forms(secret: &str) -> Vec<String> {
    let once = json_text(secret);
    let lower = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string().to_lowercase();
    let mut forms = vec![
        secret.to_owned(),
        hex(secret),
        hex(secret).to_uppercase(),
        utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string(),
        utf8_percent_encode(secret, CONTROLS).to_string(),
        utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string().replace("%20", "+"),
        json_text(&once),
        once,
        ascii_json(secret),
        json_text(&ascii_json(secret)),
    ];
    // Lower case spoils the letters of the secret itself.
    if secret.to_lowercase() == secret {
        forms.push(lower);
    }
    forms
}

proptest! {
    #[test]
    fn no_secret_survives_whatever_it_is_written_as(
        secret in "[!-~é日🦀][ -~é日🦀]{4,30}[!-~é日🦀]",
        before in "[a-zß ]{0,8}",
        after in "[a-zß ]{0,8}",
    ) {
        let redactor = redactor(&[&secret]);
        for form in forms(&secret) {
            let text = format!("{before}\n{form}\n{after}");
            let masked = redactor.text(&text);
            prop_assert!(!masked.contains(&form), "{text:?} became {masked:?}");
            prop_assert!(masked.contains("[secret]"), "{text:?} became {masked:?}");
            let kept = masked.starts_with(&before) && masked.ends_with(&after);
            prop_assert!(kept, "{text:?} became {masked:?}");
        }
    }

    #[test]
    fn no_secret_survives_among_letters_that_nobody_sees(
        // What is an escape itself is another text once it is read back.
        secret in "[!-$&-Z^-~é日🦀][ -$&-Z^-~é日🦀]{4,30}[!-$&-Z^-~é日🦀]",
        hidden in prop::collection::vec((any::<prop::sample::Index>(), 0..UNSEEN.len()), 1..6),
        before in "[a-zß ]{0,8}",
        after in "[a-zß ]{0,8}",
    ) {
        let mut letters: Vec<char> = secret.chars().collect();
        for (place, letter) in &hidden {
            letters.insert(1 + place.index(letters.len() - 1), UNSEEN[*letter]);
        }
        let parted = String::from_iter(letters);
        let redactor = redactor(&[&secret]);
        let shown = exact(&parted).into_owned();
        for form in forms(&parted).into_iter().chain([shown]) {
            let text = format!("{before}\n{form}\n{after}");
            let masked = redactor.text(&text);
            let is_hex = form == hex(&parted) || form == hex(&parted).to_uppercase();
            let expected = format!("{before}\n[secret]\n{after}");
            prop_assert!(is_hex || masked == expected, "{text:?} became {masked:?}");
        }
    }

    #[test]
    fn in_base64_only_the_neighbours_stay(
        secret in "[!-~é日][ -~é日]{4,30}[!-~é日]",
        before in "[a-z]{0,7}",
        after in "[a-z]{0,7}",
    ) {
        let redactor = redactor(&[&secret]);
        let whole = format!("{before}{secret}{after}");
        for engine in [&BASE64_STANDARD, &BASE64_STANDARD_NO_PAD, &BASE64_URL_SAFE] {
            let text = engine.encode(&whole);
            let masked = redactor.text(&text);
            let rest = masked.replace("[secret]", "");
            let most = (before.len() * 8).div_ceil(6) + (after.len() * 8).div_ceil(6) + 2;
            prop_assert!(masked.len() != text.len() || rest != text, "{text} stayed");
            prop_assert!(rest.len() <= most, "{text} became {masked}");
        }
    }

    #[test]
    fn a_text_without_a_secret_stays_as_it_is(text in "\\PC{0,200}") {
        let redactor = redactor(&["0123456789abcdefghij"]);
        prop_assert!(matches!(redactor.text(&text), Cow::Borrowed(same) if same == text));
    }
}

#[test]
fn what_is_broken_into_lines_is_masked_with_its_line_breaks_and_no_others() {
    let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhki\nG9w0BAQEFAASCBKcw\n-----END KEY-----";
    let redactor = redactor(&[key]);
    for text in [key.to_owned(), key.replace('\n', "\r\n"), key.replace('\n', "")] {
        assert_eq!(redactor.text(&format!("a\n\n{text}\n\nb")), "a\n\n[secret]\n\nb");
    }
    let coded = BASE64_STANDARD_NO_PAD.encode(key);
    let lines: Vec<&str> =
        coded.as_bytes().chunks(20).map(|l| str::from_utf8(l).unwrap()).collect();
    let masked = redactor.text(&format!("a\n{}\n\nb", lines.join("\r\n"))).into_owned();
    assert_eq!(masked, "a\n[secret]\n\nb");
}

#[test]
fn every_place_of_a_result_is_searched() {
    let secret = "s3cr3t-token";
    let said = || format!("a {secret} b");
    let extra = || Map::from_iter([(said(), json!({"deep": [said()]}))]);
    let data = BASE64_STANDARD.encode(said());
    let mut content = Content {
        parts: vec![
            Part::Text { text: said(), extra: extra() },
            Part::Image { data: data.clone(), mime: "image/png".into(), extra: extra() },
            Part::File { data: "AAAA".into(), mime: said(), name: said(), extra: extra() },
            Part::File { data, mime: said(), name: said(), extra: extra() },
            Part::Link { uri: said(), mime: Some(said()), name: Some(said()), extra: extra() },
        ],
        structured: Some(json!([said(), {"a": said()}, 1, null])),
        references: vec![Reference { id: said(), title: said(), url: Some(said()), text: said() }],
        reminder: Some(said()),
        extra: extra(),
    };
    redactor(&[secret]).content(&mut content);
    let masked = || "a [secret] b".to_owned();
    let extra = || Map::from_iter([(masked(), json!({"deep": [masked()]}))]);
    let expected = Content {
        parts: vec![
            Part::Text { text: masked(), extra: extra() },
            Part::text("[secret]"),
            Part::File { data: "AAAA".into(), mime: masked(), name: masked(), extra: extra() },
            Part::text("[secret]"),
            Part::Link {
                uri: masked(),
                mime: Some(masked()),
                name: Some(masked()),
                extra: extra(),
            },
        ],
        structured: Some(json!([masked(), {"a": masked()}, 1, null])),
        references: vec![Reference {
            id: masked(),
            title: masked(),
            url: Some(masked()),
            text: masked(),
        }],
        reminder: Some(masked()),
        extra: extra(),
    };
    assert_eq!(content, expected);
}

#[test]
fn an_error_is_masked_with_its_causes() {
    let cause = std::io::Error::other("with key s3cr3t-token");
    let mut error = ToolError::new(ErrorKind::Tool, "no: s3cr3t-token").because(cause);
    error.content = Some(Box::new(Content::text("s3cr3t-token")));
    redactor(&["s3cr3t-token"]).error(&mut error);
    assert_eq!(format!("{error:?}"), "tool: no: [secret] (with key [secret])");
    assert_eq!(error.content, Some(Box::new(Content::text("[secret]"))));
}

#[test]
fn neighbours_overlaps_and_numbers_are_masked() {
    let redactor = redactor(&["abcdef", "defghi", "abcdefghijkl", "123456", " padded-one\n"]);
    assert_eq!(redactor.text("xabcdefghiy"), "x[secret]y");
    assert_eq!(redactor.text("abcdefabcdef"), "[secret][secret]");
    assert_eq!(redactor.text("abcdefghijkl."), "[secret].");
    assert_eq!(redactor.text("key=padded-one;"), "key=[secret];");
    let mut value = json!({"pin": 123_456, "n": 12});
    redactor.value(&mut value);
    assert_eq!(value, json!({"pin": "[secret]", "n": 12}));
}

#[test]
fn long_secrets_that_begin_alike_are_told_apart() {
    let beginning = "eyJhbGciOiJSUzI1NiJ9.".repeat(10);
    let [one, other] = ["one's end", "other's end"].map(|end| format!("{beginning}{end}"));
    let redactor = redactor(&[&one, &other]);
    assert_eq!(redactor.text(&format!("<{one}><{other}>")), "<[secret]><[secret]>");
    for text in [beginning.clone(), format!("{beginning}no end"), format!("{beginning}{beginning}")]
    {
        assert_eq!(redactor.text(&text), text);
    }
    for form in forms(&one) {
        assert_eq!(redactor.text(&format!("<{form}>")), "<[secret]>", "{form}");
    }
}

#[test]
fn what_is_learned_is_masked_within_bounds() {
    let secrets = Secrets::default();
    let early = secrets.redactor();
    let named = |number: usize| Secret::new(format!("token-{number}-of-somebody"));
    let shows = |number: usize| {
        let text = named(number).expose().to_owned();
        secrets.redactor().text(&text) == text
    };
    for number in 0..3 {
        assert!(shows(number));
        // Whoever has a clone knows it too.
        secrets.clone().learn([&named(number)]);
        assert!(!shows(number));
    }
    assert!(early.is_idle());
    let many: Vec<_> = (3..1_002).map(named).collect();
    secrets.learn(&many);
    assert_eq!([0, 1, 2, 1_001].map(shows), [true, true, false, false]);
    // A large one drives out many.
    let large = Secret::new("x".repeat(2 * 1024 * 1024 - 20_000));
    secrets.learn([&large, &Secret::new("short")]);
    assert_eq!([2, 1_001].map(shows), [true, false]);
    assert_eq!(secrets.redactor().text(large.expose()), "[secret]");
}

/// Has so many others learned, of which nobody keeps any.
fn crowd(secrets: &Secrets, name: &str, many: usize) {
    for begin in (0..many).step_by(250) {
        let batch = begin..many.min(begin + 250);
        let batch: Vec<_> =
            batch.map(|n| Secret::new(format!("{name}-{n}-of-the-crowd"))).collect();
        secrets.learn(&batch);
    }
}

#[test]
fn a_learned_secret_that_somebody_holds_stays() {
    let secrets = Secrets::default();
    let masks = |text: &str| secrets.redactor().text(text) == "[secret]";
    let (early, text) = (Secret::new("an early token in use"), "an early token in use");
    let left = "a token that was left";
    secrets.learn([&early, &Secret::new(left)]);
    crowd(&secrets, "first", 1_500);
    assert_eq!([masks(text), masks(left)], [true, false]);
    // The same token, as it is read from its file a second time; the first copy goes.
    let again = Secret::new(text);
    secrets.learn([&again]);
    drop(early);
    crowd(&secrets, "second", 1_500);
    assert!(masks(text));
    // Of two who hold it, one may go in either order; a clone holds it too.
    let (third, clone) = (Secret::new(text), again.clone());
    secrets.learn([&third]);
    drop((third, again));
    crowd(&secrets, "third", 1_500);
    assert!(masks(text));
    drop(clone);
    crowd(&secrets, "fourth", 1_500);
    assert!(!masks(text));
}

#[test]
fn a_secret_that_is_learned_again_is_the_newest() {
    let secrets = Secrets::default();
    let masks = |text: &str| secrets.redactor().text(text) == "[secret]";
    let learn = |text: &str| secrets.learn([&Secret::new(text)]);
    let (known, once) = ("learned twice", "learned once");
    learn(known);
    learn(once);
    crowd(&secrets, "first", 900);
    learn(known);
    crowd(&secrets, "second", 900);
    assert_eq!([masks(known), masks(once)], [true, false]);
}

#[test]
fn of_more_secrets_in_use_than_there_is_room_for_the_newest_stay() {
    let secrets = Secrets::default();
    let named = |number: usize| Secret::new(format!("token-{number}-in-use"));
    let mut held: Vec<_> = (0..1_000).map(named).collect();
    secrets.learn(&held);
    secrets.learn([&held[0]]);
    held.push(named(1_000));
    secrets.learn(&held[1_000..]);
    let masks = |number: usize| secrets.redactor().text(held[number].expose()) == "[secret]";
    assert_eq!([0, 1, 2, 999, 1_000].map(masks), [true, false, true, true, true]);
}

#[test]
fn short_secrets_and_no_secrets_mask_nothing() {
    for redactor in [redactor(&[]), redactor(&["short", "  a  "])] {
        assert!(redactor.is_idle());
        assert!(matches!(redactor.text("short a"), Cow::Borrowed("short a")));
    }
}
