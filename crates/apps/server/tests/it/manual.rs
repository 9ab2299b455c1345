//! The examples of the documents are run, and say what they are said to say.

use std::path::{Path, PathBuf};

use crate::peers::Peers;
use crate::process::{Folder, shell};

/// `[..]` in an expected line stands for anything.
fn matches(expected: &str, actual: &str) -> bool {
    let mut pieces = expected.split("[..]");
    let Some(mut rest) = actual.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let pieces: Vec<_> = pieces.collect();
    let Some((last, between)) = pieces.split_last() else { return rest.is_empty() };
    for piece in between {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// Runs every `console` block, those of one chapter in one folder: lines after `$ ` are commands,
/// which lines after `> ` continue, and the others are their output. `[..]` alone on a line stands
/// for any number of lines.
fn check(text: &str) -> usize {
    text.split("\n## ").map(chapter).sum()
}

/// A chapter that works with servers of others is left out where they are not installed.
fn chapter(text: &str) -> usize {
    let folder = Folder::new();
    if ["mcp-server-", "prism mock"].iter().any(|program| text.contains(program)) {
        let Some(peers) = Peers::find() else { return 0 };
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/openapi");
        let Ok(petstore) = std::fs::read_to_string(data.join("petstore3.yaml")) else { return 0 };
        folder.write("petstore3.yaml", &petstore);
        let _mock = text.contains("prism mock").then(|| peers.mock(&folder, "petstore3.yaml"));
        let _served = Served(&folder);
        return blocks(&folder, text);
    }
    blocks(&folder, text)
}

/// A server that a chapter starts ends with it, however that ends.
struct Served<'a>(&'a Folder);

impl Drop for Served<'_> {
    fn drop(&mut self) {
        shell(self.0, "test -e serve.pid && kill $(cat serve.pid)");
    }
}

fn blocks(folder: &Folder, text: &str) -> usize {
    let mut checked = 0;
    for block in text.split("```console\n").skip(1) {
        let block = block.split("\n```").next().unwrap();
        for example in format!("\n{block}").split("\n$ ").skip(1) {
            let mut lines = example.lines().peekable();
            let mut command = lines.next().unwrap_or_default().to_owned();
            while let Some(more) = lines.next_if(|line| *line == ">" || line.starts_with("> ")) {
                command += "\n";
                command += more.get(2..).unwrap_or_default();
            }
            let ran = shell(folder, &format!("exec 2>&1\n{command}"));
            compare(&command, &lines.collect::<Vec<_>>(), &ran.out);
            checked += 1;
        }
    }
    checked
}

fn compare(line: &str, expected: &[&str], actual: &str) {
    let mut actual_lines = actual.trim_end().lines();
    let mut expected_lines = expected.iter().copied().peekable();
    while let Some(wanted) = expected_lines.next() {
        if wanted == "[..]" {
            let Some(next) = expected_lines.peek() else { return };
            let found = actual_lines.clone().position(|line| matches(next, line));
            let found = found.unwrap_or_else(|| unreachable!("`{line}`: no `{next}` in\n{actual}"));
            actual_lines.by_ref().take(found).for_each(drop);
            continue;
        }
        let got = actual_lines.next().unwrap_or_default();
        assert!(matches(wanted, got), "`{line}`: expected `{wanted}`, got `{got}` in\n{actual}");
    }
    assert_eq!(actual_lines.next(), None, "`{line}` says more than is written:\n{actual}");
}

/// The README and every page of the book, by its path below the root.
fn pages() -> Vec<(String, String)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().find(|folder| folder.join("docs/SUMMARY.md").is_file()).unwrap();
    let mut paths = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let named = |path: &PathBuf| path.strip_prefix(root).unwrap().display().to_string();
    paths.iter().map(|path| (named(path), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_example_of_the_documents_runs_as_written() {
    let checked: Vec<(String, usize)> = pages()
        .into_iter()
        .filter(|(_, text)| text.contains("```console\n"))
        .map(|(page, text)| (page, check(&text)))
        .collect();
    let all: usize = checked.iter().map(|(_, checked)| checked).sum();
    assert!(all >= 60, "only {all} examples: {checked:?}");
}
