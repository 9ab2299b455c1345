//! Whoever listens is told when other tools may be seen, whatever it was that changed.

use std::io::Read as _;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::places::{OLD, begun, listen_at, open, session};
use super::support::{Serving, eventually};
use super::wire::{message, modern};
use crate::process::Folder;

const FILE: &str = r#"
[[source]]
id = "basics"
prefix = ""
basics = true

[[source]]
id = "more"
basics = true

[profile.some]
"#;

/// What comes within a moment.
fn heard(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut seen = Vec::new();
    // It goes on when the moment is over.
    let _ = stream.read_to_end(&mut seen);
    String::from_utf8_lossy(&seen).into_owned()
}

fn tools(serving: &Serving, path: &str) -> Vec<String> {
    let answer = message(&modern(serving, &serving.token, path, ("tools/list", json!({}))));
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn clients_of_both_revisions_are_told_of_a_change_of_rules_alone() {
    let folder = Folder::new();
    let write = |folder: &Folder, first: &str, last: &str| {
        folder.write("crib.toml", &format!("{first}{FILE}{last}"));
    };
    write(&folder, "allow = [\"*\"]\n", "");
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`more`: 11 tools");
    let (token, folder) = (&serving.token, &serving.folder);
    let session = session(&serving, token);
    let old = open(&serving, token, ("GET", "/mcp", &[OLD, &session]), &Value::Null);
    let mut streams = [old, listen_at(&serving, token, "/mcp/some")];
    for stream in &mut streams {
        assert_eq!(begun(stream).0, 200);
        heard(stream);
    }
    let all = tools(&serving, "/mcp/some").len();
    for (first, last, left) in [
        ("allow = [\"*\"]\ndeny = [\"hash_text\"]\n", "", all - 1),
        ("allow = [\"*\"]\n", "allow = [\"*\"]\ndeny = [\"*_now\"]\n", all - 2),
        ("allow = [\"*\"]\n", "sources = [\"more\"]\n", all / 2),
        ("allow = [\"*\"]\n", "", all),
    ] {
        write(folder, first, last);
        for (place, stream) in streams.iter_mut().enumerate() {
            let mut told = String::new();
            let is_told = eventually(|| {
                told.push_str(&heard(stream));
                told.contains("notifications/tools/list_changed")
            });
            assert!(is_told, "{place} {first}{last}: {told}");
        }
        assert_eq!(tools(&serving, "/mcp/some").len(), left, "{first}{last}");
    }
}
