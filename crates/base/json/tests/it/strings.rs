//! Strings that nobody may write and some do.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_json::broken_strings::mended;

/// What a text is read as once its strings are mended.
fn read(text: &[u8]) -> Value {
    let mended = mended(text);
    serde_json::from_slice(mended.as_deref().unwrap_or(text)).unwrap()
}

#[test]
fn a_bad_piece_of_a_string_costs_itself_alone() {
    for (bad, good) in [
        (r#""x\ud83dy""#, "x\u{fffd}y"),
        (r#""\udc00\ud83d\ude00\ud83d""#, "\u{fffd}\u{1f600}\u{fffd}"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
        (r#""\uD83D\n""#, "\u{fffd}\n"),
        (r#""a\x41\'b""#, "a\u{fffd}x41\u{fffd}'b"),
        (r#""\u12""#, "\u{fffd}u12"),
        ("\"a\tb\u{0}\"", "a\tb\u{0}"),
    ] {
        assert_eq!(read(bad.as_bytes()), json!(good), "{bad}");
    }
    assert_eq!(
        read(b"[\"\xff\xfe\", {\"\xc3(\": 1}]"),
        json!(["\u{fffd}\u{fffd}", {"\u{fffd}(": 1}])
    );
    assert_eq!(read(b"\"\xed\xa0\x80\\\xff\""), json!("\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}"));
}

#[test]
fn what_can_be_read_stays_as_it_is() {
    for good in [r#"{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é"}"#, "[1, null]\n", r#""[{\\""#, ""]
    {
        assert_eq!(mended(good.as_bytes()), None, "{good}");
    }
}

const PIECES: [&[u8]; 14] = [
    b"a",
    b"\\ud83d",
    b"\\udc00",
    b"\\u",
    b"\\u00",
    b"\\x",
    b"\\\\",
    b"\\\"",
    b"\xff",
    b"\xf0\x9f",
    b"\n",
    b"\0",
    "é".as_bytes(),
    b"\\u0041",
];

proptest! {
    #[test]
    fn whatever_a_string_holds_it_is_read_and_its_neighbours_are_whole(
        pieces in prop::collection::vec(0..PIECES.len(), 0..8),
    ) {
        let inner: Vec<u8> = pieces.into_iter().flat_map(|piece| PIECES[piece].to_vec()).collect();
        let text = [b"{\"left\":\"l\",\"bad\":\"".as_slice(), &inner, b"\",\"right\":[1]}"].concat();
        let value = read(&text);
        prop_assert!(value["bad"].is_string());
        prop_assert_eq!((&value["left"], &value["right"]), (&json!("l"), &json!([1])));
        let before: Result<Value, _> = serde_json::from_slice(&text);
        prop_assert!(before.is_err() || before.unwrap() == value);
    }
}
