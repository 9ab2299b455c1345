//! The page: nothing in it makes HTML of strings or asks other servers, and what the binary embeds
//! is small and what its list says.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::tree::{files, read_text};

/// What the policy of the page forbids, or what would be asked of others.
const FORBIDDEN: [&str; 8] = [
    "{@html",
    "innerHTML",
    "insertAdjacentHTML",
    " style=\"",
    "eval(",
    "new Function",
    "http://",
    "https://",
];
/// Bytes of all files as they are sent.
const LARGEST: u64 = 200 * 1024;

#[test]
fn the_page_makes_no_html_of_strings_and_names_no_other_server() {
    let mut found = Vec::new();
    let mut count = 0;
    for file in files().into_iter().filter(|file| file.path.starts_with("web/src/")) {
        let ending = Path::new(&file.path).extension().and_then(|ending| ending.to_str());
        if !matches!(ending, Some("svelte" | "ts" | "css")) {
            continue;
        }
        count += 1;
        let text = file.text.unwrap_or_default();
        let words = FORBIDDEN.iter().filter(|word| text.contains(**word));
        found.extend(words.map(|word| format!("{}: `{word}`", file.path)));
    }
    assert_eq!(found, Vec::<String>::new());
    assert!(count > 10);
}

#[test]
fn what_is_embedded_is_small_and_is_what_its_list_says() {
    let manifest: Value = serde_json::from_str(&read_text("crates/apps/server/page/manifest.json"))
        .expect("the list is JSON");
    let sent = manifest.get("sent").and_then(Value::as_u64).expect("the list tells a sum");
    assert!(sent < LARGEST, "{sent}");
    let named = manifest.get("files").and_then(Value::as_object).expect("the list has files");
    let named: BTreeSet<_> =
        named.keys().map(|name| format!("crates/apps/server/page/{name}")).collect();
    let ours = |path: &str| {
        let is_made = ["manifest.json", "files.rs", "third-party.txt"];
        path.starts_with("crates/apps/server/page/")
            && Path::new(path).extension().is_none_or(|ending| ending != "br")
            && !is_made.iter().any(|name| path.ends_with(&format!("page/{name}")))
    };
    let there: BTreeSet<_> =
        files().into_iter().map(|file| file.path).filter(|path| ours(path)).collect();
    assert_eq!(there, named);
}
