//! What nobody sees is written out for whoever decides, and the rest is left as it is.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_json::invisible::{exact, exact_json, is_unseen, prose};

/// Signs that begin a number in some scripts: formats by name, and seen.
const SIGNS: [u32; 13] =
    [0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x110bd, 0x110cd];

/// Whether the standard library takes a letter for one that has a shape, behind another one.
fn has_shape(letter: char) -> bool {
    format!("a{letter}").escape_debug().count() == 2
}

/// The text that a writing out stands for.
fn read_back(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some(place) = rest.find('\\') {
        text.push_str(&rest[..place]);
        let (letter, length) = match &rest[place + 1..] {
            after if after.starts_with("u{") => {
                let end = after.find('}').unwrap();
                (u32::from_str_radix(&after[2..end], 16).ok().and_then(char::from_u32), end + 1)
            }
            after if after.starts_with('n') => (Some('\n'), 1),
            after if after.starts_with('r') => (Some('\r'), 1),
            after if after.starts_with('t') => (Some('\t'), 1),
            other => panic!("{other:?}"),
        };
        text.push(letter.unwrap());
        rest = &rest[place + 1 + length..];
    }
    text + rest
}

#[test]
fn of_all_letters_none_without_a_shape_passes() {
    for letter in '\u{0}'..=char::MAX {
        // Behind the last letter of a script nothing has one, but for the formats of plane 14.
        let is_far = letter > '\u{323af}' && !('\u{e0000}'..='\u{e0fff}').contains(&letter);
        if matches!(letter, '"' | '\'' | '\\') || (is_far && u32::from(letter) % 1024 > 0) {
            continue;
        }
        let text = format!("e{letter}z");
        let is_seen = (has_shape(letter) || SIGNS.contains(&letter.into())) && !is_unseen(letter);
        assert_eq!(exact(&text) == text, is_seen, "{letter:?}");
        if is_seen && u32::from(letter) % 64 > 0 {
            // Of those that pass, a few stand for all.
            continue;
        }
        assert_eq!(read_back(&exact(&text)), text, "{letter:?}");
        let value = json!({ text.as_str(): text });
        let written = value.to_string();
        let shown = exact_json(&written).into_owned();
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value, "{letter:?}");
        let is_shown = shown == written;
        assert_eq!(is_shown, is_seen || letter < ' ', "{letter:?}");
        if is_unseen(letter) && !matches!(letter, '\n' | '\t') {
            assert!(!prose(&text).contains(letter), "{letter:?}");
        }
    }
}

#[test]
fn what_is_seen_stays_and_what_hides_behind_it_does_not() {
    let stays = [
        "plain",
        "Grüße",
        "日本語",
        "\u{26a0}\u{fe0f} careful",
        "1\u{fe0f}\u{20e3}",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
        "e\u{301}",
        "\u{645}\u{64f}",
    ];
    for text in stays {
        assert_eq!((&*exact(text), &*prose(text)), (text, text));
    }
    let hides = [
        ("e\u{202e}\u{200b}z", "e\\u{202e}\\u{200b}z"),
        ("\u{26a0}\u{fe0f}\u{fe0f}", "\u{26a0}\u{fe0f}\\u{fe0f}"),
        ("\u{301}a", "\\u{301}a"),
        ("(\u{338})", "(\\u{338})"),
        ("a\u{2800}\u{3164}\u{ffa0}b", "a\\u{2800}\\u{3164}\\u{ffa0}b"),
        ("a\u{e0041}\u{e0100}", "a\\u{e0041}\\u{e0100}"),
        ("a\u{2028}b\u{85}c", "a\\u{2028}b\\u{85}c"),
    ];
    for (text, shown) in hides {
        assert_eq!((&*exact(text), &*prose(text)), (shown, shown));
    }
    assert_eq!(exact("\u{2764}\u{200d}a"), "\u{2764}\\u{200d}a");
    // Where something runs as it is shown, a space of another width is another text.
    let text = "two\nlines\u{a0}\u{3000}of \u{645}\u{200c}\u{62e}";
    assert_eq!(prose(text), text);
    assert_eq!(exact(text), "two\\nlines\\u{a0}\\u{3000}of \u{645}\\u{200c}\u{62e}");
    assert_eq!(exact_json("\"\u{e0041}\""), "\"\\udb40\\udc41\"");
}

proptest! {
    #[test]
    fn a_text_is_shown_so_that_it_can_be_read_back(text in "[^\\\\]{0,40}") {
        let shown = exact(&text);
        prop_assert_eq!(read_back(&shown), text.clone());
        let joiners = ['\u{200d}', '\u{fe0e}', '\u{fe0f}'];
        let is_told = !shown.contains(is_unseen) || text.contains(joiners);
        prop_assert!(is_told, "{:?}", shown);
        // What was written out once stays as it is.
        let once = shown.into_owned();
        prop_assert_eq!(exact(&once), once.as_str());
        let once = prose(&text).into_owned();
        prop_assert_eq!(prose(&once), once.as_str());
    }
}
