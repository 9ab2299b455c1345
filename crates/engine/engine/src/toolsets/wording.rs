//! What groups are called, and what is said of them, where nobody else says it.

use std::collections::BTreeMap;

use super::facts::ToolFacts;

/// Words of a kind that are told.
const MOST: usize = 4;

/// `issues: repos comments`.
pub(super) fn title(group: &str, slug: &str) -> String {
    let words: Vec<_> = slug.split('-').filter(|word| !word.is_empty()).collect();
    let words = words.join(" ");
    if group.is_empty() { words } else { format!("{group}: {words}") }
}

/// `get, list, create and delete: comment, issue` of the tools, the most frequent first.
pub(super) fn summary(facts: &[ToolFacts<'_>]) -> String {
    let verbs = frequent(facts.iter().filter_map(|facts| facts.verb.as_deref()));
    let things = frequent(facts.iter().filter_map(|facts| facts.resource.as_deref()));
    match (verbs.is_empty(), things.is_empty()) {
        (true, _) => things.join(", "),
        (false, true) => listed(&verbs),
        (false, false) => format!("{}: {}", listed(&verbs), things.join(", ")),
    }
}

fn listed(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

fn frequent<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let mut counted: Vec<_> = counts.into_iter().collect();
    counted.sort_by(|(one, often), (other, seldom)| seldom.cmp(often).then(one.cmp(other)));
    counted.into_iter().take(MOST).map(|(word, _)| word).collect()
}
