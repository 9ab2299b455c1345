//! The short forms that are known, as they are listed, and more than one of each.

use std::sync::OnceLock;

use foldhash::HashMap;

/// Forms that stand for each other, one group a line.
const WORDS: &str = include_str!("synonyms/short.txt");

pub(super) fn lines() -> impl Iterator<Item = &'static str> {
    WORDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// More than one of a short form, and the form, where no rule of endings leads back: `prs`, `pr`.
pub(super) fn several() -> &'static HashMap<String, &'static str> {
    static SEVERAL: OnceLock<HashMap<String, &'static str>> = OnceLock::new();
    SEVERAL.get_or_init(|| {
        let is_bare = |letter: u8| letter.is_ascii_lowercase() && !b"aeiouy".contains(&letter);
        let forms = lines().filter_map(|line| line.split(" = ").next());
        let bare = forms.filter(|form| form.bytes().all(is_bare));
        bare.map(|form| (format!("{form}s"), form)).collect()
    })
}
