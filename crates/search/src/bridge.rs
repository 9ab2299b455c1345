//! Words that mean the same in the language of tools, or nearly.

use std::sync::OnceLock;

use foldhash::{HashMap, HashMapExt as _};

use crate::words::stems;

/// Groups of words, one a line; they were written down from what tools in general do, and of no
/// catalog.
const WORDS: &str = include_str!("bridge/words.txt");

/// Every stem of the table, with the stems that it leads to, in the order of the table.
pub(crate) fn bridge() -> &'static HashMap<String, Vec<String>> {
    static BRIDGE: OnceLock<HashMap<String, Vec<String>>> = OnceLock::new();
    BRIDGE.get_or_init(|| {
        let mut bridge: HashMap<String, Vec<String>> = HashMap::new();
        for line in WORDS.lines().filter(|line| !line.starts_with('#')) {
            let mut group: Vec<String> = Vec::new();
            stems(line, |_, stem| group.push(stem.to_owned()));
            for from in &group {
                let known = bridge.entry(from.clone()).or_default();
                for to in group.iter().filter(|to| *to != from) {
                    if !known.contains(to) {
                        known.push(to.clone());
                    }
                }
            }
        }
        bridge
    })
}
