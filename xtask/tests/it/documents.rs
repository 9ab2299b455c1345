//! Every path that the documents of the root name exists.

use std::path::Path;

use xtask::machine::root;

use crate::tree::{File, files};

const FILE_ENDINGS: [&str; 9] = ["html", "json", "md", "py", "rs", "sh", "toml", "ts", "txt"];

/// The paths of the repository that a document names, in backticks or as the target of a link.
///
/// A word counts as a path if it starts with a folder of the root, ends like a file below a
/// folder, or is a document of the root; a route (`/v1/tools`) or a media type is none.
fn paths(text: &str) -> Vec<&str> {
    let mut is_block = false;
    let prose = text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_block ^= is_fence;
        !is_block && !is_fence
    });
    prose.flat_map(|line| quoted(line).chain(links(line))).filter(|word| is_path(word)).collect()
}

fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next())
}

fn is_path(word: &str) -> bool {
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
    let ends_like_file = ending.is_some_and(|ending| FILE_ENDINGS.contains(&ending));
    is_plain
        && match word.split_once('/') {
            Some(("", _)) => false,
            // The folder of builds is here or elsewhere: a word must not be a path on one machine only.
            Some((folder, _)) => {
                ends_like_file || folder == "target" || root().join(folder).is_dir()
            }
            None => ending == Some("md"),
        }
}

#[test]
fn every_path_in_the_documents_exists() {
    let is_document = |file: &File| is_path(&file.path) && !file.path.contains('/');
    let documents: Vec<File> = files().into_iter().filter(is_document).collect();
    let mut missing = Vec::new();
    for File { path: document, text } in &documents {
        for path in paths(text.as_deref().expect(document)) {
            // What `cargo xtask test` installs is there only afterwards.
            if !path.starts_with(".tools") && !root().join(path).exists() {
                missing.push(format!("{document}: `{path}`"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert!(documents.iter().any(|document| document.path == "ARCHITECTURE.md"));
}

#[test]
fn a_path_is_told_from_other_words() {
    let text = "Read `crates/core`, `crates/gone/`, `old/notes.md`, `target/made` and [this](HOUSE.md#rooms).\n\
        `POST /v1/calls` answers `application/json`, `/v1/tools` too, `core::plan` is a module.\n\
        ```\nls `crates/hidden`\n```\n\
        `crib.toml` is the user's; `crates/*/src` is a pattern.\n";
    assert_eq!(
        paths(text),
        ["crates/core", "crates/gone/", "old/notes.md", "target/made", "HOUSE.md"]
    );
}
