//! No file names the machine it was written on, or where that machine gets its packages.

use crate::tree::files;

/// Split here, so that this file does not name them either.
const UNWANTED: [&str; 10] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("py", "pi.org"),
    concat!("python", "hosted.org"),
    concat!("registry.", "npmjs.org"),
    concat!("--index", "-url"),
    concat!("--extra-index", "-url"),
    concat!("--find", "-links"),
];

/// The unwanted words of a text; a path in the middle of a longer one is another path.
fn unwanted(text: &str) -> Vec<&'static str> {
    let goes_on = |before: char| before.is_alphanumeric() || "_-.*".contains(before);
    let is_meant =
        |(at, word): (usize, &str)| !word.starts_with('/') || !text[..at].ends_with(goes_on);
    UNWANTED.into_iter().filter(|word| text.match_indices(word).any(is_meant)).collect()
}

#[test]
fn no_file_names_a_machine_path_or_a_package_host() {
    let found: Vec<String> = files()
        .iter()
        .filter_map(|file| Some((&file.path, unwanted(file.text.as_deref()?))))
        .filter(|(_, words)| !words.is_empty())
        .map(|(path, words)| format!("{path}: {}", words.join(", ")))
        .collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn every_locked_crate_comes_from_the_public_registry() {
    let public = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    let strangers: Vec<String> = files()
        .into_iter()
        .filter(|file| file.path.ends_with("Cargo.lock"))
        .filter_map(|file| file.text)
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| line.starts_with("source = ") && line != public)
        .collect();
    assert_eq!(strangers, Vec::<String>::new());
}

#[test]
fn an_unwanted_word_is_found_and_a_longer_path_is_not() {
    let machine = concat!("see /wo", "rk/notes, https://files.python", "hosted.org/x");
    assert_eq!(unwanted(machine), [UNWANTED[0], UNWANTED[5]]);
    assert_eq!(unwanted(concat!("crates/net", "/wo", "rk/file.rs")), Vec::<&str>::new());
}
