//! Of what was found, the few that serve the whole question together.

use foldhash::{HashMap, HashMapExt as _};

use super::{Hit, SearchResults};

/// What a word of the question still counts for each time a chosen tool has answered it. The search
/// weighs the parts of a task itself, so this only decides between equals: with 0.9, whole sets of
/// the labelled collections are up to 8 points fewer.
const AGAIN: f32 = 0.98;

/// A tool that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub document: usize,
    /// What it adds to those chosen before, comparable within one choice; 0 for what another needs.
    pub gain: f32,
    /// The argument of a chosen tool that it yields, with the document of that tool, if it was
    /// chosen for that.
    pub needed_for: Option<(usize, String)>,
}

impl SearchResults {
    /// Chooses so many at the most: each time the one that adds most to the words of the question
    /// that are answered, and behind it what its arguments come from.
    ///
    /// Search for more than are to be chosen, four times as many at best.
    pub fn choose(&self, limit: usize) -> Vec<Choice> {
        let mut answered: HashMap<&str, f32> = HashMap::new();
        let mut open: Vec<&Hit> = self.hits.iter().collect();
        let mut chosen: Vec<Choice> = Vec::new();
        while chosen.len() < limit && !open.is_empty() {
            let mut found: Option<(f32, usize)> = None;
            for (at, hit) in open.iter().enumerate() {
                let gain = gain(hit, &answered);
                if found.is_none_or(|(best, _)| gain > best) {
                    found = Some((gain, at));
                }
            }
            let Some((gain, at)) = found else { break };
            let hit = open.remove(at);
            for met in &hit.matched {
                *answered.entry(&met.word).or_insert(1.0) *= AGAIN;
            }
            let document = hit.document;
            if chosen.iter().any(|chosen| chosen.document == document) {
                continue;
            }
            chosen.push(Choice { document, gain, needed_for: None });
            for need in self.needs.iter().filter(|need| need.document == document) {
                let is_there = chosen.iter().any(|chosen| chosen.document == need.from);
                if !is_there && chosen.len() < limit {
                    let needed_for = Some((document, need.argument.clone()));
                    chosen.push(Choice { document: need.from, gain: 0.0, needed_for });
                }
            }
        }
        chosen
    }
}

/// What a hit adds, words that were answered counting less.
fn gain(hit: &Hit, answered: &HashMap<&str, f32>) -> f32 {
    let lost = |(word, gain): (&str, f32)| gain * (1.0 - answered.get(word).unwrap_or(&1.0));
    let lost: f32 = hit.matched.iter().map(|met| lost((&met.word, met.gain))).sum();
    let all: f32 = hit.matched.iter().map(|met| met.gain).sum();
    if all <= 0.0 { hit.score } else { hit.score * (1.0 - lost / all) }
}
