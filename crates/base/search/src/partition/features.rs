//! What tools have in common, as numbers.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};

use crate::document::ToolDocument;
use crate::number_cast::{place, real, small};
use crate::text::stop_words;
use crate::text::words::stems;

/// What it counts that two tools share it: their source, a label, a word of the name, of the
/// arguments and results, of the texts.
const SOURCE: f32 = 1.0;
const LABEL: f32 = 2.5;
const NAME: f32 = 2.0;
const FIELD: f32 = 0.8;
const TEXT: f32 = 0.4;

/// Words of the descriptions of one tool that are read.
const MOST_WORDS: usize = 64;

/// What tools do to things, whatever the things are.
const DEEDS: [&str; 58] = [
    "add", "append", "apply", "approve", "archive", "cancel", "change", "check", "clear", "close",
    "convert", "copy", "count", "create", "delete", "describe", "disable", "download", "edit",
    "enable", "execute", "fetch", "find", "generate", "get", "insert", "list", "lookup", "make",
    "move", "open", "publish", "put", "query", "read", "remove", "rename", "replace", "reset",
    "resolve", "run", "save", "search", "select", "send", "set", "show", "start", "stop", "submit",
    "toggle", "undo", "update", "upload", "upsert", "validate", "view", "write",
];

/// What a deed counts for where a thing counts 1: that two tools create something says little of
/// what.
const DEED: f32 = 0.2;

/// The last word of an argument that names one of many things.
const MARKS: [&str; 4] = ["id", "key", "slug", "uuid"];

/// Features with their weights, by number.
pub(super) type SparseVector = Vec<(u32, f32)>;

/// The tools in the order of their names, as points at distance 1 from nothing.
pub(super) struct ToolFeatures {
    /// For each tool its place among the documents.
    pub(super) documents: Vec<usize>,
    pub(super) vectors: Vec<SparseVector>,
    pub(super) writes: Vec<bool>,
    /// What a tool needs of others: the things whose ids it takes.
    pub(super) needs: Vec<BTreeSet<u32>>,
    /// What it yields: the things that it is about, if it reads and does not need them.
    pub(super) yields: Vec<BTreeSet<u32>>,
    names: FeatureNames,
    /// How much a feature says: the more, the fewer tools have it.
    rarity: Vec<f32>,
}

impl ToolFeatures {
    pub(super) fn of(documents: &[ToolDocument<'_>]) -> Self {
        let mut order: Vec<usize> = (0..documents.len()).collect();
        let key =
            |at: &usize| documents.get(*at).map(|document| (&document.name, &document.source));
        order.sort_by(|one, other| key(one).cmp(&key(other)).then(one.cmp(other)));
        let sorted: Vec<_> = order.iter().filter_map(|at| documents.get(*at)).collect();
        // Numbers follow from the order of names, so nothing depends on the order of documents.
        let mut names = FeatureNames::default();
        let raw: Vec<SparseVector> =
            sorted.iter().map(|document| names.weights(document)).collect();
        let mut counts = vec![0_usize; names.count()];
        for (number, _) in raw.iter().flatten() {
            if let Some(count) = counts.get_mut(place(*number)) {
                *count += 1;
            }
        }
        let all = real(sorted.len());
        // What every tool has says nothing of any.
        let rarity: Vec<f32> =
            counts.iter().map(|count| (1.0 + all / real(*count)).ln() - 2.0_f32.ln()).collect();
        let vector = |weights: &SparseVector| {
            let own = weights.iter().map(|(number, weight)| {
                (*number, weight * rarity.get(place(*number)).copied().unwrap_or_default())
            });
            unit(own.filter(|(_, weight)| *weight > 0.0).collect())
        };
        let vectors = raw.iter().map(vector).collect();
        let needed = |document: &&ToolDocument<'_>| -> BTreeSet<u32> {
            let required = document.arguments.iter().filter(|argument| argument.required);
            let things = required.filter_map(|argument| thing(&argument.name));
            things.filter_map(|thing| names.words.get(&thing).copied()).collect()
        };
        let needs: Vec<BTreeSet<u32>> = sorted.iter().map(needed).collect();
        let yields = sorted.iter().zip(&needs).map(|(document, needs)| {
            let mut about = BTreeSet::new();
            if !document.writes {
                stems(&document.name, |_, stem| about.extend(names.words.get(stem)));
            }
            about.retain(|thing| !needs.contains(thing));
            about
        });
        Self {
            documents: order.clone(),
            vectors,
            writes: sorted.iter().map(|document| document.writes).collect(),
            yields: yields.collect(),
            needs,
            names,
            rarity,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.vectors.len()
    }

    /// How many features there are.
    pub(super) fn width(&self) -> usize {
        self.rarity.len()
    }

    /// A role as a point among the tools; empty if no tool has a word of it.
    pub(super) fn role(&self, text: &str) -> SparseVector {
        let mut own: BTreeMap<u32, f32> = BTreeMap::new();
        stems(text, |_, stem| {
            for names in [&self.names.words, &self.names.labels] {
                if let Some(number) = names.get(stem) {
                    let rarity = self.rarity.get(place(*number)).copied().unwrap_or_default();
                    own.insert(*number, NAME * stop_words::weight(stem) * rarity);
                }
            }
        });
        unit(own.into_iter().filter(|(_, weight)| *weight > 0.0).collect())
    }

    /// What each tool has in common with all of them: what is in the midst of something has more.
    pub(super) fn density(&self) -> Vec<f32> {
        let mut whole = vec![0.0_f32; self.width()];
        for (feature, weight) in self.vectors.iter().flatten() {
            if let Some(sum) = whole.get_mut(place(*feature)) {
                *sum += weight;
            }
        }
        let of = |feature: u32| whole.get(place(feature)).copied().unwrap_or_default();
        let dense = |vector: &SparseVector| {
            vector.iter().map(|(feature, weight)| weight * of(*feature)).sum()
        };
        self.vectors.iter().map(dense).collect()
    }

    pub(super) fn vector(&self, tool: usize) -> &[(u32, f32)] {
        self.vectors.get(tool).map_or(&[], Vec::as_slice)
    }

    pub(super) fn writes(&self, tool: usize) -> bool {
        self.writes.get(tool).copied().unwrap_or(true)
    }
}

/// What two points have in common, from 0 to 1.
pub(super) fn common(one: &[(u32, f32)], other: &[(u32, f32)]) -> f32 {
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    let mut sum = 0.0;
    while let (Some((a, weight)), Some((b, other))) = (left.peek(), right.peek()) {
        match a.cmp(b) {
            Ordering::Less => left.next(),
            Ordering::Greater => right.next(),
            Ordering::Equal => {
                sum += weight * other;
                left.next();
                right.next()
            }
        };
    }
    sum
}

/// The features by their names, each with its number.
#[derive(Default)]
struct FeatureNames {
    words: HashMap<String, u32>,
    labels: HashMap<String, u32>,
    sources: HashMap<String, u32>,
}

impl FeatureNames {
    fn count(&self) -> usize {
        self.words.len() + self.labels.len() + self.sources.len()
    }

    fn word(&mut self, stem: &str) -> u32 {
        let next = self.count();
        number(&mut self.words, stem, next)
    }

    fn label(&mut self, stem: &str) -> u32 {
        let next = self.count();
        number(&mut self.labels, stem, next)
    }

    fn source(&mut self, source: &str) -> u32 {
        let next = self.count();
        number(&mut self.sources, source, next)
    }

    /// The features of a tool, by number.
    fn weights(&mut self, document: &ToolDocument<'_>) -> SparseVector {
        let mut own = SparseVector::new();
        if !document.source.is_empty() {
            own.push((self.source(&document.source.to_lowercase()), SOURCE));
        }
        for text in document.tags.iter().chain(&document.category) {
            stems(text, |_, stem| own.push((self.label(stem), LABEL)));
        }
        let mut actions = BTreeSet::new();
        for action in &document.actions {
            stems(action, |_, stem| {
                actions.insert(stem.to_owned());
            });
        }
        let of_word = |stem: &str| {
            if actions.contains(stem) || deeds().contains(stem) {
                DEED
            } else {
                stop_words::weight(stem)
            }
        };
        let mut words = |text: &str, weight: f32| {
            let mut left = MOST_WORDS;
            stems(text, |_, stem| {
                if left > 0 {
                    left -= 1;
                    own.push((self.word(stem), weight * of_word(stem)));
                }
            });
        };
        words(&document.name, NAME);
        for argument in &document.arguments {
            words(&argument.name, FIELD);
        }
        for result in &document.results {
            words(result, FIELD);
        }
        words(&document.summary, TEXT);
        words(&document.description, TEXT);
        // Of what is there more than once, the most counts.
        own.sort_unstable_by(|(one, weight), (other, than)| {
            one.cmp(other).then(than.total_cmp(weight))
        });
        own.dedup_by_key(|(number, _)| *number);
        own
    }
}

/// The number of a name; a new one has the next.
fn number(names: &mut HashMap<String, u32>, name: &str, next: usize) -> u32 {
    if let Some(known) = names.get(name) {
        return *known;
    }
    names.insert(name.to_owned(), small(next));
    small(next)
}

/// The stems of what tools do.
fn deeds() -> &'static HashSet<String> {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let mut found = HashSet::default();
        for deed in DEEDS {
            stems(deed, |_, stem| {
                found.insert(stem.to_owned());
            });
        }
        found
    });
    &STEMS
}

/// The thing whose id an argument takes: `order` for `order_id`.
fn thing(argument: &str) -> Option<String> {
    let mut words = Vec::new();
    stems(argument, |written, stem| words.push((written.to_owned(), stem.to_owned())));
    let ((mark, _), [.., (_, thing)]) = words.split_last()? else { return None };
    MARKS.contains(&mark.as_str()).then(|| thing.clone())
}

fn unit(mut vector: SparseVector) -> SparseVector {
    let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
    if length > 0.0 {
        for (_, weight) in &mut vector {
            *weight /= length;
        }
    }
    vector
}
