//! Words that mean the same in the language of tools, or nearly.

use std::sync::OnceLock;

use foldhash::{HashMap, HashMapExt as _};

use super::abbreviations::short;
use super::words::stems;

/// Groups of words, one a line; they were written down from what tools in general do, and of no
/// catalog.
const WORDS: &str = include_str!("synonyms/words.txt");

/// What a word of the same meaning counts for, where the word itself counts 1.
pub(crate) const ALIKE: f32 = 0.4;

/// What a short form counts for in a question of a few words, and what it stands for: they are the
/// same word. In a long one both tell less, and count as words of the same meaning.
pub(crate) const SHORT: f32 = 0.9;

/// The stems that a stem leads to, and what each counts for.
type Synonyms = HashMap<String, Vec<(String, f32)>>;

/// Every stem of the tables, with the stems that it leads to, in the order of the tables.
pub(crate) fn bridge() -> &'static Synonyms {
    static BRIDGE: OnceLock<Synonyms> = OnceLock::new();
    BRIDGE.get_or_init(|| {
        let mut bridge = Synonyms::new();
        for (from, to) in &short().pairs {
            bridge.entry(from.clone()).or_default().push((to.clone(), SHORT));
        }
        for line in WORDS.lines().filter(|line| !line.starts_with('#')) {
            let mut group: Vec<String> = Vec::new();
            stems(line, |_, stem| group.push(stem.to_owned()));
            for from in &group {
                let known = bridge.entry(from.clone()).or_default();
                for to in group.iter().filter(|to| *to != from) {
                    if !known.iter().any(|(other, _)| other == to) {
                        known.push((to.clone(), ALIKE));
                    }
                }
            }
        }
        bridge
    })
}
