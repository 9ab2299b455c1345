//! Depth, length, work and what a message shows.

use std::time::{Duration, Instant};

use toolcrib_json::repair::{RepairBounds, read};

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

    let longest = format!("\"{}\"", "x".repeat(RepairBounds::default().bytes - 2));
    assert!(read(&longest).is_ok());
    assert_eq!(
        told(read(&format!("{longest} "))),
        "refused: the text has 4194305 bytes, 4194304 are read: write a shorter text"
    );
}

#[test]
fn bounds_that_are_set_hold_on_both_paths_to_the_last_byte_level_and_value() {
    let bounds = RepairBounds { bytes: 40, depth: 3, values: 5 };
    let text = |bytes: usize, end: &str| format!("[\"{}\"{end}", "x".repeat(bytes - 3 - end.len()));
    // A comma too many, or an end that is not there, is repaired.
    for end in ["]", ",]"] {
        assert!(bounds.read(&text(39, end)).is_ok() && bounds.read(&text(40, end)).is_ok());
        let told = told(bounds.read(&text(41, end)));
        assert_eq!(told, "refused: the text has 41 bytes, 40 are read: write a shorter text");
    }
    for end in ["", ","] {
        let deep = |levels: usize| format!("{}1{end}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(bounds.read(&deep(2)).is_ok() && bounds.read(&deep(3)).is_ok());
        let told = told(bounds.read(&deep(4)));
        assert!(told.starts_with("refused: nested deeper than 3 levels at 1:4"), "{told}");
        // The list is a value too.
        let many = |values: usize| format!("[{}1{end}]", "1,".repeat(values - 2));
        assert!(bounds.read(&many(4)).is_ok() && bounds.read(&many(5)).is_ok());
        let told = self::told(bounds.read(&many(6)));
        assert!(told.starts_with("refused: more than 5 values"), "{told}");
    }
    assert_eq!(bounds.read_part("[[1]]", 1).ok(), Some(serde_json::json!([[1]])));
    assert!(bounds.read_part("[[1]]", 2).is_err());
    // What is behind a document and could not be read is no prose.
    assert!(bounds.read("{\"a\": 1,} {\"b\": 1, \"c\": 2,}").is_ok());
    let told = told(bounds.read("{\"a\": 1,} {\"b\": 1, \"c\": 2, \"d\": 3}"));
    assert!(told.starts_with("refused: more than 5 values"), "{told}");
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
