//! Depth, length, work and what a message shows.

use std::time::{Duration, Instant};

use toolcrib_json::repair::{MAX_BYTES, read};

use super::told;

#[test]
fn depth_and_length_are_bounded_on_both_paths() {
    let nested =
        |depth: usize, inside: &str| format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&nested(64, "1")).is_ok_and(|read| read.repairs.is_empty()));
    assert!(read(&nested(64, "1,")).is_ok_and(|read| !read.repairs.is_empty()));
    let too_deep = |column: usize| {
        format!(
            "refused: nested deeper than 64 levels at 1:{column}: write a flatter JSON document"
        )
    };
    assert_eq!(told(read(&nested(65, "1"))), too_deep(65));
    assert_eq!(told(read(&nested(65, "1,"))), too_deep(65));
    assert_eq!(told(read(&format!("(1, {}", nested(64, "")))), too_deep(68));
    // Several documents become an array, which is a level of its own.
    assert_eq!(told(read(&format!("{} [2]", nested(64, "1")))), too_deep(1));
    assert!(read(&format!("{} [2]", nested(63, "1"))).is_ok());

    let longest = format!("\"{}\"", "x".repeat(MAX_BYTES - 2));
    assert!(read(&longest).is_ok());
    assert_eq!(
        told(read(&format!("{longest} "))),
        "refused: the text has 4194305 bytes, 4194304 are read: write a shorter text"
    );
}

#[test]
fn a_refusal_quotes_little_and_on_one_line() {
    let long = "no\nJSON \u{1b}[31m\u{202e} ".repeat(1000);
    let escaped = r"no\nJSON \u001b".repeat(1000);
    for text in [
        long.clone(),
        format!("{{\"a\": 1, {{{long}"),
        format!("{{\"{escaped}\": 1, \"{escaped}\": 2}}"),
    ] {
        let refusal = read(&text).unwrap_err().to_string();
        assert!(refusal.len() < 200 && !refusal.contains(char::is_control), "{refusal}");
        let quoted = refusal.split('`').nth(1).unwrap();
        assert!((8..=40).contains(&quoted.chars().count()), "{refusal}");
    }
}

#[test]
fn a_megabyte_of_anything_takes_linear_time() {
    const MEGABYTE: usize = 1 << 20;
    let pieces = [
        "[",
        "\"",
        "{\"a\":",
        ",",
        "\\",
        "x\"y ",
        "a \"b\" c ",
        "\",\" ",
        "\"    ",
        "it's ",
        "{'",
        "{\"k\": ",
        "\"/*",
        "/*",
        "#",
        "`",
        "```json {",
        "{}",
        "{\"a\":1} ",
        "\"a b, ",
        "1 ",
        "b, c d \"e ",
        "\"a\":",
        "}, {\"a\": ",
        "\\\"",
        "say {\"a\" ",
        "{\"a\": \"x}, ",
        "...",
        ", 'aaaaaaaaaaaaaaaaaaaaaaa\"",
        "{\\\"",
        "“",
        "\n",
    ];
    let mut slowest = (Duration::ZERO, String::new());
    for piece in pieces {
        let whole = ["", "{\"a\": \""].map(|before| (before, MEGABYTE));
        let part = ["{\"", "[", "{a: ", "[{'a': 'x "].map(|before| (before, MEGABYTE / 16));
        for (before, size) in whole.into_iter().chain(part) {
            let text = format!("{before}{}", piece.repeat(size / piece.len()));
            let start = Instant::now();
            let _outcome = read(&text);
            slowest = slowest.max((start.elapsed(), format!("{before}{piece}")));
        }
    }
    // A rescan of the rest at each piece would take hours.
    assert!(slowest.0 < Duration::from_secs(20), "{slowest:?}");
}

#[test]
fn a_text_whose_strings_all_seem_to_reach_its_end_is_refused() {
    let text = |lines: usize| format!("{{{}}}", "\"a: 1,\n".repeat(lines));
    assert_eq!(
        told(read(&text(3))),
        r#"{"a":1} | closed an open string at 1:4 and 2 more; removed a trailing comma at 3:6"#
    );
    assert_eq!(
        told(read(&text(100_000))),
        "refused: too damaged to repair: write the whole document again as strict JSON"
    );
}
