//! The words of a catalog, and where a word of a question leads among them.

use foldhash::HashMap;

use crate::bridge::bridge;
use crate::nearest::Names;
use crate::number::{place, real, small};
use crate::query::Way;

/// What a word of the same meaning counts for, where the word itself counts 1.
const ALIKE: f32 = 0.4;

/// What a word that is spelt the same counts for.
const SPELT: f32 = 0.5;

/// How much of its letters must be the same.
const SPELT_LEAST: f32 = 0.6;

/// Shorter words are not taken for slips of the pen.
const SHORTEST_SLIP: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    entries: HashMap<Box<str>, Entry>,
    /// Words of the same meaning, as numbers.
    alike: Vec<u32>,
    /// How rare each word is: the logarithm of one in how many documents has it.
    rarities: Vec<f32>,
    stems: Names,
    /// A way in which each stem is written.
    written: Names,
    documents: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// The number of the word, if the catalog has it.
    term: Option<u32>,
    /// Where its words of the same meaning stand.
    from: u32,
    to: u32,
}

/// A word of the catalog to which one of the question leads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lead {
    pub(crate) term: u32,
    /// What the gain of the word is multiplied with.
    pub(crate) weight: f32,
    pub(crate) way: Way,
}

impl Lexicon {
    /// The number of a stem, which is new to the lexicon or not.
    pub(crate) fn number(&mut self, stem: &str, written: &str) -> u32 {
        if let Some(Entry { term: Some(term), .. }) = self.entries.get(stem) {
            return *term;
        }
        let term = small(self.stems.len());
        self.entries.insert(stem.into(), Entry { term: Some(term), ..Entry::default() });
        self.stems.push(stem);
        self.written.push(written);
        term
    }

    /// To be called when all words are in, with how many documents have each.
    pub(crate) fn finish(&mut self, holders: &[usize], documents: usize) {
        self.documents = documents;
        self.rarities = holders.iter().map(|holders| rarity(*holders, documents)).collect();
        self.stems.finish();
        for (stem, others) in bridge() {
            let from = small(self.alike.len());
            for other in others {
                let known = self.entries.get(other.as_str()).and_then(|entry| entry.term);
                self.alike.extend(known);
            }
            let to = small(self.alike.len());
            if from == to {
                continue;
            }
            let entry = self.entries.entry(stem.as_str().into()).or_default();
            (entry.from, entry.to) = (from, to);
        }
    }

    /// The number of a stem, if the catalog has it.
    pub(crate) fn known(&self, stem: &str) -> Option<u32> {
        self.entries.get(stem)?.term
    }

    /// How many documents there are.
    pub(crate) fn documents(&self) -> usize {
        self.documents
    }

    pub(crate) fn len(&self) -> usize {
        self.stems.len()
    }

    pub(crate) fn stem(&self, term: u32) -> &str {
        self.stems.get(place(term)).unwrap_or_default()
    }

    pub(crate) fn written(&self, term: u32) -> &str {
        self.written.get(place(term)).unwrap_or_default()
    }

    pub(crate) fn rarity(&self, term: u32) -> f32 {
        self.rarities.get(place(term)).copied().unwrap_or_default()
    }

    /// How rare a word is that no document has.
    fn rarest(&self) -> f32 {
        rarity(0, self.documents)
    }

    /// Where a stem leads: to itself first, then to what means the same; and how rare it is.
    ///
    /// A word that means the same is never taken to be rarer than the one that was asked for.
    pub(crate) fn leads(&self, stem: &str, leads: &mut Vec<Lead>) -> f32 {
        let Some(entry) = self.entries.get(stem) else { return self.rarest() };
        let own = entry.term.map(|term| Lead { term, weight: 1.0, way: Way::Same });
        let most = own.map(|own| self.rarity(own.term));
        leads.extend(own);
        let alike = self.alike.get(place(entry.from)..place(entry.to)).unwrap_or_default();
        leads.extend(alike.iter().map(|term| {
            let rarity = self.rarity(*term);
            let weight = ALIKE * most.map_or(1.0, |most| (most / rarity.max(0.01)).min(1.0));
            Lead { term: *term, weight, way: Way::Alike }
        }));
        most.unwrap_or_else(|| self.rarest())
    }

    /// Where a stem leads that the catalog has not: to those that are spelt nearly the same.
    pub(crate) fn slips(&self, stem: &str, leads: &mut Vec<Lead>) {
        let is_word = stem.len() >= SHORTEST_SLIP && stem.bytes().all(|b| b.is_ascii_lowercase());
        if is_word {
            let near = self.stems.nearest(stem, (3, SPELT_LEAST), &|_| true).into_iter();
            leads.extend(near.map(|(term, likeness)| Lead {
                term: small(term),
                weight: SPELT * likeness,
                way: Way::Spelling,
            }));
        }
    }
}

/// The logarithm of one in how many documents has a word, never below 0.
fn rarity(holders: usize, documents: usize) -> f32 {
    let (holders, documents) = (real(holders), real(documents));
    (1.0 + (documents - holders + 0.5) / (holders + 0.5)).ln()
}
