//! The words of a catalog, and where a word of a question leads among them.

use foldhash::HashMap;

use super::trigrams::TrigramNames;
use crate::number_cast::{place, real, small};
use crate::query::MatchKind;
use crate::text::abbreviations::short;
use crate::text::stop_words::is_silent;
use crate::text::synonyms::{ALIKE, SHORT, bridge};
use crate::text::words::stem_of;

/// What a word that is spelt the same counts for.
const SPELT: f32 = 0.5;

/// How much of its letters must be the same.
const SPELT_LEAST: f32 = 0.6;

/// Shorter words are not taken for slips of the pen.
const SHORTEST_SLIP: usize = 5;

/// A word that may be several without what parts them, in letters, and a part of it that is no
/// short form.
const SHORTEST_RUN: usize = 5;
const LONGEST_RUN: usize = 64;
const SHORTEST_PART: usize = 3;

#[derive(Debug, Default)]
pub(crate) struct CatalogLexicon {
    entries: HashMap<Box<str>, LexiconEntry>,
    /// Words of the same meaning, as numbers, and what they count for.
    alike: Vec<(u32, f32)>,
    /// How rare each word is: the logarithm of one in how many documents has it.
    rarities: Vec<f32>,
    stems: TrigramNames,
    /// A way in which each stem is written.
    written: TrigramNames,
    documents: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct LexiconEntry {
    /// The number of the word, if the catalog has it.
    term: Option<u32>,
    /// Where its words of the same meaning stand.
    from: u32,
    to: u32,
}

/// A word of the catalog to which one of the question leads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpandedTerm {
    pub(crate) term: u32,
    /// What the gain of the word is multiplied with.
    pub(crate) weight: f32,
    pub(crate) way: MatchKind,
}

impl CatalogLexicon {
    /// The number of a stem, which is new to the lexicon or not.
    pub(crate) fn number(&mut self, stem: &str, written: &str) -> u32 {
        if let Some(LexiconEntry { term: Some(term), .. }) = self.entries.get(stem) {
            return *term;
        }
        let term = small(self.stems.len());
        self.entries
            .insert(stem.into(), LexiconEntry { term: Some(term), ..LexiconEntry::default() });
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
            for (other, weight) in others {
                let known = self.entries.get(other.as_str()).and_then(|entry| entry.term);
                self.alike.extend(known.map(|term| (term, *weight)));
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
    /// `is_brief`: the question has a few words alone.
    pub(crate) fn leads(&self, stem: &str, is_brief: bool, leads: &mut Vec<ExpandedTerm>) -> f32 {
        let Some(entry) = self.entries.get(stem) else { return self.rarest() };
        let own = entry.term.map(|term| ExpandedTerm { term, weight: 1.0, way: MatchKind::Same });
        let most = own.map(|own| self.rarity(own.term));
        leads.extend(own);
        let alike = self.alike.get(place(entry.from)..place(entry.to)).unwrap_or_default();
        leads.extend(alike.iter().map(|(term, weight)| {
            let rarity = self.rarity(*term);
            let weight = if is_brief { *weight } else { ALIKE };
            let weight = weight * most.map_or(1.0, |most| (most / rarity.max(0.01)).min(1.0));
            ExpandedTerm { term: *term, weight, way: MatchKind::Alike }
        }));
        // A short form is as rare as what it stands for.
        let same = alike.iter().filter(|(_, weight)| is_brief && *weight >= SHORT);
        let same = same.map(|(term, _)| self.rarity(*term)).reduce(f32::min);
        most.or(same).unwrap_or_else(|| self.rarest())
    }

    /// Whether a stem leads anywhere.
    pub(crate) fn knows(&self, stem: &str) -> bool {
        self.entries.contains_key(stem)
    }

    /// The words that a word consists of which was written without what parts them: of
    /// `getpodlogs` those of `get pod logs`. None, if the catalog has not all of them.
    pub(crate) fn parts<'w>(&self, word: &'w str) -> Vec<&'w str> {
        let is_word = word.bytes().all(|letter| letter.is_ascii_lowercase());
        if !is_word || word.len() < SHORTEST_RUN || word.len() > LONGEST_RUN {
            return Vec::new();
        }
        // For each place the fewest parts that lead there, and where the last of them begins.
        let mut best: Vec<Option<(usize, usize)>> = vec![None; word.len() + 1];
        if let Some(start) = best.first_mut() {
            *start = Some((0, 0));
        }
        let mut stem = String::new();
        for to in 2..=word.len() {
            let from = (0..to.saturating_sub(1)).filter_map(|from| {
                let (before, _) = (*best.get(from)?)?;
                let part = word.get(from..to)?;
                self.is_part(part, &mut stem).then_some((before + 1, from))
            });
            let fewest = from.min();
            if let Some(place) = best.get_mut(to) {
                *place = fewest;
            }
        }
        let (mut parts, mut to) = (Vec::new(), word.len());
        while let Some((_, from)) = best.get(to).copied().flatten().filter(|_| to > 0) {
            parts.extend(word.get(from..to));
            to = from;
        }
        parts.reverse();
        let is_whole = to == 0 && parts.iter().filter(|part| !is_silent(part)).count() > 1;
        if is_whole { parts } else { Vec::new() }
    }

    fn is_part(&self, part: &str, stem: &mut String) -> bool {
        if is_silent(part) {
            return part.len() > 1;
        }
        stem_of(part, stem);
        let is_long = part.len() >= SHORTEST_PART || short().has(stem);
        is_long && self.knows(stem)
    }

    /// Where a stem leads that the catalog has not: to those that are spelt nearly the same.
    pub(crate) fn slips(&self, stem: &str, leads: &mut Vec<ExpandedTerm>) {
        let is_word = stem.len() >= SHORTEST_SLIP && stem.bytes().all(|b| b.is_ascii_lowercase());
        if is_word {
            let near = self.stems.nearest(stem, (3, SPELT_LEAST), &|_| true).into_iter();
            leads.extend(near.map(|(term, likeness)| ExpandedTerm {
                term: small(term),
                weight: SPELT * likeness,
                way: MatchKind::Spelling,
            }));
        }
    }
}

/// The logarithm of one in how many documents has a word, never below 0.
fn rarity(holders: usize, documents: usize) -> f32 {
    let (holders, documents) = (real(holders), real(documents));
    (1.0 + (documents - holders + 0.5) / (holders + 0.5)).ln()
}
