//! What the door cannot show: how far a restart looks back.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::file::AuditFile;

/// A folder of its own, which goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("toolcrib-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("audit.jsonl")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn decision(call: &str) -> Value {
    json!({
        "record": "decision", "call": call, "tenant": "local", "subject": "local",
        "ruling": "allow", "effect": "read",
    })
}

fn outcome(call: &str) -> Value {
    json!({ "record": "outcome", "call": call, "outcome": "done" })
}

fn write(book: &mut AuditFile, records: &[Value], hurries: bool) {
    let count = book.write(records.iter(), hurries).unwrap();
    assert!(count >= u64::try_from(records.len()).unwrap());
}

/// As much as is looked at where nobody has named how far to look back, twice over.
fn busy(book: &mut AuditFile) {
    for n in 0..100 {
        let call = format!("busy-{n}");
        write(book, &[decision(&call), outcome(&call)], n % 10 == 0);
    }
}

/// What a restart finds without an end.
fn left(scratch: &Scratch, rotate: Option<u64>) -> (AuditFile, Vec<String>) {
    let (book, left) = AuditFile::open(&scratch.file(), rotate).unwrap();
    (book, left.into_iter().map(|left| left.call).collect())
}

#[test]
fn a_decision_without_an_end_is_found_however_much_was_written_since() {
    for rotate in [None, Some(3_000)] {
        let scratch = Scratch::new(&format!("left-{}", rotate.is_some()));
        let (mut book, none) = left(&scratch, rotate);
        assert_eq!(none, [""; 0]);
        busy(&mut book);
        write(&mut book, &[decision("early"), decision("ended")], true);
        busy(&mut book);
        write(&mut book, &[outcome("ended"), decision("late")], false);
        // It was killed before that was named.
        drop(book);
        let (mut book, found) = left(&scratch, rotate);
        assert_eq!(found, ["early", "late"], "{rotate:?}");
        // So was the next, before it had recorded their ends.
        busy(&mut book);
        drop(book);
        let (mut book, found) = left(&scratch, rotate);
        assert_eq!(found, ["early", "late"], "{rotate:?}");
        write(&mut book, &[outcome("early"), outcome("late")], true);
        drop(book);
        assert_eq!(left(&scratch, rotate).1, [""; 0], "{rotate:?}");
    }
}

#[test]
fn what_a_release_before_named_is_looked_at_from_the_end() {
    let scratch = Scratch::new("before");
    let (mut book, _) = left(&scratch, None);
    write(&mut book, &[decision("early")], true);
    busy(&mut book);
    write(&mut book, &[decision("late")], true);
    drop(book);
    let named = scratch.0.join("audit.jsonl.head");
    let mut head: Value = serde_json::from_str(&std::fs::read_to_string(&named).unwrap()).unwrap();
    assert!(head.as_object_mut().unwrap().remove("from").is_some());
    std::fs::write(&named, head.to_string()).unwrap();
    assert_eq!(left(&scratch, None).1, ["late"]);
}
