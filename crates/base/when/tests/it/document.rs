//! The phrases of the document mean what it says.

use toolcrib_when::{duration, read, say};

use crate::phrases::frame;

const DOCUMENT: &str = include_str!("../../../../../docs/reference/times.md");

#[test]
fn every_phrase_of_the_document_is_what_it_says() {
    let frame = frame("2026-11-20T10:30[Europe/Zurich]");
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut heading = "";
    for line in DOCUMENT.lines() {
        heading = line.strip_prefix("## ").unwrap_or(heading);
        let Some(row) = line.strip_prefix("| `").and_then(|row| row.strip_suffix(" |")) else {
            continue;
        };
        let (phrase, expected) = row.split_once("` | ").unwrap();
        let found = if heading == "Durations" {
            duration(phrase).map(|span| span.to_string())
        } else {
            read(phrase, &frame).map(|reading| say(&reading.when, &frame))
        };
        let found = found.unwrap_or_else(|error| error.to_string());
        count += 1;
        if found != expected {
            wrong.push(format!("{phrase}: {found}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(count > 70, "only {count} rows were found");
}
