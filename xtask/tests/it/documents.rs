//! The documents: every path that they name exists, the book has every page, and its tables name
//! every route, problem and section.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use xtask::machine::root;

use crate::tree::{File, files, read_text};

const FILE_ENDINGS: [&str; 9] = ["html", "json", "md", "py", "rs", "sh", "toml", "ts", "txt"];

/// Words that the glossary has at the most.
const LONGEST_GLOSSARY: usize = 30;

/// Lines that the README has at the most: four minutes of reading.
const LONGEST_README: usize = 200;

/// Entries that a folder of the book has at the most.
const LARGEST_FOLDER: usize = 12;

/// The paths of the repository that a document names, in backticks or as the target of a link.
///
/// A word counts as a path if it starts with a folder of the root, ends like a file below a
/// folder, or is a document of the root; a route (`/v1/tools`) or a media type is none.
fn paths(text: &str) -> Vec<&str> {
    prose(text)
        .flat_map(|line| quoted(line).chain(links(line)))
        .filter(|word| is_path(word))
        .collect()
}

/// The lines outside of blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_block = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_block ^= is_fence;
        !is_block && !is_fence
    })
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
            // The folder of builds is here or elsewhere: a word must not be a path on one machine
            // only.
            Some((folder, _)) => {
                ends_like_file || folder == "target" || root().join(folder).is_dir()
            }
            None => ending == Some("md"),
        }
}

/// The documents of the root and of the book, each with its text.
fn documents() -> Vec<(String, String)> {
    files()
        .into_iter()
        .filter(|File { path, .. }| Path::new(path).extension().is_some_and(|it| it == "md"))
        .filter(|File { path, .. }| !path.contains('/') || path.starts_with("docs/"))
        .map(|File { path, text }| (path.clone(), text.expect(&path)))
        .collect()
}

/// What the list of the book links to, as paths below the root.
fn listed() -> Vec<String> {
    let summary = read_text("docs/SUMMARY.md");
    summary.lines().flat_map(links).map(|page| format!("docs/{page}")).collect()
}

#[test]
fn every_path_in_the_documents_exists() {
    let mut missing = Vec::new();
    for (document, text) in documents() {
        let of_book = document.starts_with("docs/");
        for path in paths(&text) {
            // What chores build or install is there only afterwards; a link of a page leads on from
            // that page.
            let is_made = path.starts_with(".tools") || path == "target/book";
            let beside = Path::new(&document).parent().expect("it lies somewhere").join(path);
            let is_there = root().join(path).exists() || of_book && root().join(beside).exists();
            if !is_made && !is_there {
                missing.push(format!("{document}: `{path}`"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert!(documents().iter().any(|(path, _)| path == "ARCHITECTURE.md"));
}

#[test]
fn the_book_lists_every_page_once() {
    let mut listed = listed();
    listed.sort();
    let pages: Vec<String> = documents()
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path.starts_with("docs/") && path != "docs/SUMMARY.md")
        .collect();
    assert_eq!(listed, pages);
}

#[test]
fn every_hop_of_a_call_is_a_function_of_its_file_and_there_are_as_many_as_it_says() {
    let page = read_text("docs/design/hops.md");
    let tables = ["## Over MCP", "## Over REST"].map(|heading| first_row_cells(&page, heading));
    assert_eq!(missing_functions(tables.iter().flatten()), Vec::<String>::new());
    let [mcp, rest] = tables.map(|table| table.len());
    let told = format!("has {mcp} hops over MCP");
    assert!(
        page.contains(&told) && page.contains(&format!("and {rest} over REST")),
        "{mcp}, {rest}"
    );
}

#[test]
fn what_goes_wrong_with_agents_is_held_by_the_tests_that_are_named() {
    let rows = first_row_cells(&read_text("docs/design/agent-tests.md"), "## What holds");
    assert_eq!(missing_functions(rows.iter()), Vec::<String>::new());
    let numbers: BTreeSet<u32> = rows.iter().map(|[number, ..]| number.parse().unwrap()).collect();
    assert_eq!(numbers, (1..=25).collect());
}

/// The rows whose function is not in its file.
fn missing_functions<'a>(rows: impl Iterator<Item = &'a [String; 3]>) -> Vec<String> {
    let mut missing = Vec::new();
    for [number, place, function] in rows {
        let text = read_text(place.trim_matches('`'));
        let function = function.trim_matches('`');
        if !text.contains(&format!("fn {function}(")) && !text.contains(&format!("fn {function}<"))
        {
            missing.push(format!("{number}: `{function}` in {place}"));
        }
    }
    missing
}

/// The first three cells of the rows of the table under a heading.
fn first_row_cells(page: &str, heading: &str) -> Vec<[String; 3]> {
    let part = page.split_once(heading).map(|(_, part)| part).unwrap_or_default();
    let part = part.split("\n## ").next().unwrap_or_default();
    let rows = part.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| #"));
    let cells = rows.map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect());
    cells.filter_map(|cells: Vec<String>| cells.get(1..4)?.to_vec().try_into().ok()).collect()
}

/// A page is named by its title in italics, so that the name holds in a terminal too.
#[test]
fn a_page_that_is_named_by_its_title_is_there() {
    let summary = read_text("docs/SUMMARY.md");
    let mut missing = Vec::new();
    for (document, text) in documents().iter().filter(|(path, _)| path.starts_with("docs/")) {
        for line in prose(text) {
            let words = line.split("(*").skip(1).filter_map(|rest| rest.split("*)").next());
            missing.extend(
                words
                    .filter(|title| !summary.contains(&format!("[{title}]")))
                    .map(|title| format!("{document}: *{title}*")),
            );
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn every_page_has_one_title_and_what_it_includes_exists() {
    let mut wrong = Vec::new();
    for page in listed() {
        let text = read_text(&page);
        let folder = Path::new(&page).parent().expect("it lies somewhere");
        match text.trim().strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}")) {
            Some(path) if root().join(folder).join(path).is_file() => {}
            Some(path) => wrong.push(format!("{page} includes `{path}`")),
            None if prose(&text).filter(|line| line.starts_with("# ")).count() == 1 => {}
            None => wrong.push(format!("{page} has no title, or several")),
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_readme_is_short_and_the_folders_of_the_book_are_small() {
    assert!(read_text("README.md").lines().count() <= LONGEST_README);
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        let entries: Vec<_> = std::fs::read_dir(&folder)
            .expect("a folder can be read")
            .map(|entry| entry.expect("a folder can be read").path())
            .collect();
        assert!(entries.len() <= LARGEST_FOLDER, "{}: {}", folder.display(), entries.len());
        folders.extend(entries.into_iter().filter(|path| path.is_dir()));
    }
}

#[test]
fn the_glossary_is_short_and_in_order() {
    let text = read_text("ARCHITECTURE.md");
    let rows = text.lines().skip_while(|line| !line.starts_with("| Word |"));
    let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
    let words: Vec<&str> = rows.filter_map(|row| row.split('|').nth(1)).collect();
    assert!((1..=LONGEST_GLOSSARY).contains(&words.len()), "{}", words.len());
    assert!(words.is_sorted(), "{words:?}");
}

#[test]
fn the_reference_names_every_route_and_problem_and_no_other() {
    let document: Value =
        serde_json::from_str(&read_text("docs/openapi.json")).expect("it is JSON");
    let paths = document["paths"].as_object().expect("it has paths");
    let mut routes: Vec<String> = paths
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().expect("a path has methods").keys();
            methods.map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        .collect();
    routes.sort();
    assert_eq!(first_column("docs/reference/rest.md", "Route"), routes);
    let kinds = &document["components"]["schemas"]["Problem"]["properties"]["type"]["enum"];
    let mut problems: Vec<&str> = kinds
        .as_array()
        .expect("it has kinds")
        .iter()
        .filter_map(|kind| kind.as_str()?.strip_prefix("urn:toolcrib:problem:"))
        .collect();
    problems.sort_unstable();
    assert_eq!(first_column("docs/reference/errors.md", "NAME"), problems);
}

#[test]
fn the_reference_names_every_section_of_the_configuration() {
    let schema: Value =
        serde_json::from_str(&read_text("docs/crib.schema.json")).expect("it is JSON");
    let sections = schema["properties"].as_object().expect("it has sections").keys();
    let page = read_text("docs/reference/configuration.md");
    let rows: String = page.lines().filter(|line| line.starts_with("| `")).collect();
    let named = |section: &str| {
        let forms = ["`{}`", "`[{}]`", "`[[{}]]`", "`[{}.NAME]`"];
        forms.iter().any(|form| rows.contains(&form.replace("{}", section)))
    };
    let missing: Vec<&String> = sections.filter(|section| !named(section)).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

/// What stands in backticks first in each row of the table with this heading, sorted.
fn first_column(page: &str, heading: &str) -> Vec<String> {
    let text = read_text(page);
    let rows = text.lines().skip_while(|line| !line.starts_with(&format!("| {heading} |")));
    let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
    let mut words: Vec<String> =
        rows.map(|row| quoted(row).next().expect("a row names something").to_owned()).collect();
    words.sort();
    words
}

#[test]
fn a_path_is_told_from_other_words() {
    let text = "Read `crates/base/core`, `crates/gone/`, `old/notes.md`, `target/made` and [this](HOUSE.md#rooms).\n\
        `POST /v1/calls` answers `application/json`, `/v1/tools` too, `core::plan` is a module.\n\
        ```\nls `crates/hidden`\n```\n\
        `crib.toml` is the user's; `crates/*/src` is a pattern.\n";
    assert_eq!(
        paths(text),
        ["crates/base/core", "crates/gone/", "old/notes.md", "target/made", "HOUSE.md"]
    );
}
