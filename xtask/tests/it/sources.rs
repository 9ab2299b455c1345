//! What is true of the Rust files: their size, and what the core never names.

use std::path::Path;

use crate::tree::files;

/// Code lines that one file may have.
const LONGEST_FILE: usize = 400;

/// Modules of the machine that the core never names.
const FAR_FROM_CORE: [&str; 5] = ["std::net", "std::fs", "std::env", "tokio::net", "tokio::fs"];

/// The lines that hold code: no blank ones, none that are only a comment.
fn code_lines(text: &str) -> Vec<&str> {
    let mut is_open = false;
    text.lines()
        .map(str::trim)
        .filter(|line| {
            let opens = line.starts_with("/*");
            let is_comment = is_open || opens || line.starts_with("//");
            is_open = (is_open || opens) && !line.contains("*/");
            !is_comment && !line.is_empty()
        })
        .collect()
}

fn is_rust_source(path: &str) -> bool {
    path.contains("/src/") && Path::new(path).extension().is_some_and(|ending| ending == "rs")
}

/// Which of the modules a text names, written out or in a group: `std::net`, `std::{fmt, net}`.
fn named<'a>(text: &str, modules: &[&'a str]) -> Vec<&'a str> {
    let code = code_lines(text).join(" ");
    let words = |text: &str| -> Vec<String> {
        let is_end = |c: char| !c.is_alphanumeric() && c != '_' && c != ':';
        text.split(is_end).map(str::to_owned).collect()
    };
    let is_within = |word: &str, module: &str| {
        word.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let names = |module: &str| {
        let (root, name) = module.split_once("::").unwrap_or(("", module));
        let group = format!("{root}::{{");
        let groups = code.split(&group).skip(1).filter_map(|rest| rest.split(';').next());
        words(&code).iter().any(|word| is_within(word, module))
            || groups.flat_map(words).any(|word| is_within(&word, name))
    };
    modules.iter().copied().filter(|module| names(module)).collect()
}

/// What belongs to a door, a source or a command, and not to the gate.
const OF_PROTOCOLS: [&str; 14] = [
    "tools/",
    "prompts/",
    "resources/",
    "completion/",
    "elicitation",
    "sampling/",
    "logging/",
    "notifications/",
    "\"_meta\"",
    "`_meta`",
    "-32",
    "/v1/",
    "`toolcrib ",
    "readOnlyHint",
];

#[test]
fn no_source_file_is_longer_than_400_code_lines() {
    let too_long: Vec<String> = files()
        .into_iter()
        .filter(|file| is_rust_source(&file.path))
        .filter_map(|file| {
            let count = code_lines(&file.text?).len();
            (count > LONGEST_FILE).then(|| format!("{}: {count} code lines", file.path))
        })
        .collect();
    assert_eq!(too_long, Vec::<String>::new());
}

#[test]
fn the_core_names_no_socket_no_file_and_no_environment() {
    let named: Vec<String> = files()
        .into_iter()
        .filter(|file| file.path.starts_with("crates/base/core/src/"))
        .flat_map(|file| {
            let text = file.text.unwrap_or_default();
            let found = named(&text, &FAR_FROM_CORE);
            found.iter().map(|module| format!("{}: `{module}`", file.path)).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(named, Vec::<String>::new());
}

#[test]
fn the_core_names_no_method_no_code_and_no_command() {
    let found: Vec<String> = files()
        .into_iter()
        .filter(|file| file.path.starts_with("crates/base/core/src/"))
        .flat_map(|file| {
            let text = file.text.unwrap_or_default();
            let words = OF_PROTOCOLS.iter().filter(|word| text.contains(**word));
            words.map(|word| format!("{}: `{word}`", file.path)).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn comments_and_blank_lines_are_no_code() {
    let text = "//! A page.\n\n/* two\nlines */\nfn one() {\n    // why\n    two(); // what\n}\n";
    assert_eq!(code_lines(text), ["fn one() {", "two(); // what", "}"]);
}

#[test]
fn a_module_is_found_however_it_is_imported() {
    let text = "// std::env is not named here\n\
        use std::{\n    collections::{BTreeMap, BTreeSet},\n    net::IpAddr,\n    fmt,\n};\n\
        use tokio::fs;\n\
        fn f(_: std::network::Thing) {}\n";
    assert_eq!(named(text, &FAR_FROM_CORE), ["std::net", "tokio::fs"]);
}
