//! What the search is compared with: BM25 over one bag of words a tool.

use foldhash::{HashMap, HashMapExt as _};

use crate::labelled_set::LabelledTool;

/// How the bag is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bm25Kind {
    /// Runs of letters, digits and underscores, of name and description.
    Plain,
    /// Identifiers split at case and underscore, words of grammar left out, plurals as singulars,
    /// and the names and descriptions of arguments added.
    Strong,
}

/// Okapi BM25 with its usual numbers, k1 = 1.5 and b = 0.75.
#[derive(Debug)]
pub struct Bm25 {
    kind: Bm25Kind,
    postings: HashMap<String, Vec<(usize, f32)>>,
    tools: usize,
}

impl Bm25 {
    pub fn new(kind: Bm25Kind, tools: &[LabelledTool]) -> Self {
        let mut counts: Vec<HashMap<String, f32>> = Vec::new();
        for tool in tools {
            let mut bag = HashMap::new();
            let mut add = |text: &str| {
                for word in words(kind, text) {
                    *bag.entry(word).or_default() += 1.0;
                }
            };
            add(&tool.name);
            add(&tool.description);
            if kind == Bm25Kind::Strong {
                tool.arguments.iter().for_each(|argument| {
                    add(&argument.name);
                    add(&argument.description);
                });
            }
            counts.push(bag);
        }
        let lengths: Vec<f32> = counts.iter().map(|bag| bag.values().sum()).collect();
        let count = real(tools.len());
        let mean = lengths.iter().sum::<f32>() / count.max(1.0);
        let mut postings: HashMap<String, Vec<(usize, f32)>> = HashMap::new();
        for (at, (bag, length)) in counts.into_iter().zip(lengths).enumerate() {
            for (word, times) in bag {
                let gain = times * 2.5 / (times + 1.5 * (0.25 + 0.75 * length / mean));
                postings.entry(word).or_default().push((at, gain));
            }
        }
        for own in postings.values_mut() {
            let holders = real(own.len());
            let rarity = (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln();
            for (_, gain) in own {
                *gain *= rarity;
            }
        }
        Self { kind, postings, tools: tools.len() }
    }

    /// The best ten.
    pub fn search(&self, text: &str) -> Vec<usize> {
        let mut scores = vec![0.0_f32; self.tools];
        for own in words(self.kind, text).iter().filter_map(|word| self.postings.get(word)) {
            for (tool, gain) in own {
                if let Some(score) = scores.get_mut(*tool) {
                    *score += gain;
                }
            }
        }
        let mut ranked: Vec<(usize, f32)> =
            scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
        ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        ranked.into_iter().take(10).map(|(tool, _)| tool).collect()
    }
}

fn words(kind: Bm25Kind, text: &str) -> Vec<String> {
    if kind == Bm25Kind::Plain {
        let is_end = |letter: char| !letter.is_alphanumeric() && letter != '_';
        let words = text.split(is_end).filter(|word| !word.is_empty());
        return words.map(str::to_lowercase).collect();
    }
    let mut words = Vec::new();
    toolcrib_search::words(text, |word, _| {
        let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
        words.push(word.strip_suffix('s').filter(|_| is_plural).unwrap_or(word).to_owned());
    });
    words
}

#[expect(clippy::cast_precision_loss, reason = "a score needs no more")]
pub(crate) fn real(number: usize) -> f32 {
    number as f32
}
