//! A question as words, and as clauses of words.

use crate::index::lexicon::{CatalogLexicon, ExpandedTerm};
use crate::query::MatchKind;
use crate::text::abbreviations::short;
use crate::text::stop_words;
use crate::text::words::{cased, sentences, stem_of};

/// How many bytes of a question are read.
const LONGEST: usize = 4096;

/// How many different words of a question are looked for.
const MOST_WORDS: usize = 128;

/// How many clauses are told apart; what follows belongs to the last.
const MOST_CLAUSES: usize = 16;

/// Words that the catalog has not and that are compared with those it has.
const MOST_SLIPS: usize = 4;

/// Words that the catalog has not and that are looked at for words in them, in a question of no
/// more words than a name may have.
const MOST_RUNS: usize = 4;
const MOST_WORDS_OF_NAME: usize = 4;

/// How many places in documents are read for one question; more would take milliseconds, and what
/// is left out is what most documents have.
const MOST_PLACES: usize = 150_000;

/// The same for small catalogs: so many for each document, and so many besides.
const PLACES_EACH: usize = 4;
const FREE_PLACES: usize = 2000;

/// Words that begin another clause within a sentence.
const TURNS: [&str; 9] = [
    "additionally",
    "afterward",
    "afterwards",
    "also",
    "finally",
    "furthermore",
    "lastly",
    "moreover",
    "then",
];

#[derive(Debug, Default)]
pub(crate) struct ParsedQuery {
    pub(crate) words: Vec<QueryWord>,
    /// The words of each clause, by their places; none is empty.
    pub(crate) clauses: Vec<Vec<usize>>,
    leads: Vec<ExpandedTerm>,
}

#[derive(Debug, Default)]
pub(crate) struct QueryWord {
    pub(crate) written: String,
    stem: String,
    /// A name, a number or a word of another script, which no catalog has to know.
    pub(crate) is_value: bool,
    /// What it counts for, up to 1.
    pub(crate) weight: f32,
    /// How the catalog knows it, if it does.
    pub(crate) known: Option<MatchKind>,
    /// How rare it is in the catalog.
    pub(crate) rarity: f32,
    /// How many clauses have it.
    times: usize,
    from: usize,
    to: usize,
}

impl ParsedQuery {
    /// A question to a catalog with these words, each of which stands in so many `places`.
    pub(crate) fn of(lexicon: &CatalogLexicon, places: &dyn Fn(u32) -> usize, text: &str) -> Self {
        let mut asked = Self::default();
        // In a long question a strange word is a value, or of another trade.
        let is_brief = text.split_whitespace().nth(MOST_WORDS_OF_NAME).is_none();
        let mut runs = if is_brief { 0 } else { MOST_RUNS };
        for sentence in sentences(beginning(text)) {
            asked.clause();
            let (mut is_first, mut said) = (true, Vec::new());
            cased(sentence, |word, is_capital| {
                if TURNS.contains(&word) {
                    asked.clause();
                }
                // A sentence begins with a capital, whatever its first word is.
                let begins = std::mem::replace(&mut is_first, false);
                let is_name = is_capital && !begins;
                // Nor does a catalog have to know every script that people write.
                let is_value = is_name || !word.is_ascii();
                if stop_words::is_silent(word) {
                    return;
                }
                let mut stem = String::new();
                stem_of(word, &mut stem);
                let is_strange = !is_value && runs < MOST_RUNS && !lexicon.knows(&stem);
                runs += usize::from(is_strange);
                let parts = if is_strange { lexicon.parts(word) } else { Vec::new() };
                if parts.is_empty() {
                    asked.say(lexicon, word, (stem, is_value), &mut said);
                }
                for part in parts.into_iter().filter(|part| !stop_words::is_silent(part)) {
                    let mut stem = String::new();
                    stem_of(part, &mut stem);
                    asked.say(lexicon, part, (stem, false), &mut said);
                }
            });
        }
        asked.clauses.retain(|clause| !clause.is_empty());
        asked.look_up(lexicon, is_brief);
        asked.keep_within(places, lexicon);
        asked
    }

    /// Where a word leads.
    pub(crate) fn leads(&self, word: &QueryWord) -> impl Iterator<Item = &ExpandedTerm> {
        let leads = self.leads.get(word.from..word.to).unwrap_or_default();
        leads.iter().filter(|lead| lead.weight > 0.0)
    }

    /// Leaves out what leads to the commonest words, until what is left stands in no more places
    /// than are read.
    fn keep_within(&mut self, places: &dyn Fn(u32) -> usize, lexicon: &CatalogLexicon) {
        let times = |word: &QueryWord| vec![word.times; word.to - word.from];
        let times = self.words.iter().flat_map(times);
        let cost = |(lead, times): (&ExpandedTerm, usize)| times * places(lead.term);
        let costs: Vec<usize> = self.leads.iter().zip(times).map(cost).collect();
        let mut all: usize = costs.iter().sum();
        let most = MOST_PLACES.min(PLACES_EACH * lexicon.documents() + FREE_PLACES);
        if all <= most {
            return;
        }
        let worth = |at: &usize| {
            let lead = self.leads.get(*at);
            lead.map_or(0.0, |lead| lead.weight * lexicon.rarity(lead.term))
        };
        let mut order: Vec<usize> = (0..self.leads.len()).collect();
        order.sort_by(|left, right| worth(left).total_cmp(&worth(right)));
        for at in order {
            if all <= most {
                break;
            }
            if let Some((lead, cost)) = self.leads.get_mut(at).zip(costs.get(at)) {
                all -= cost;
                lead.weight = 0.0;
            }
        }
    }

    fn clause(&mut self) {
        if self.clauses.len() < MOST_CLAUSES && self.clauses.last().is_none_or(|c| !c.is_empty()) {
            self.clauses.push(Vec::new());
        }
    }

    /// Takes a word, and what it stands for together with those `said` before it.
    fn say(
        &mut self,
        lexicon: &CatalogLexicon,
        written: &str,
        (stem, is_value): (String, bool),
        said: &mut Vec<String>,
    ) {
        self.word(written, &stem, is_value);
        let before = said.iter().rev().map(String::as_str);
        for short in short().ended_by(&stem, &before) {
            if lexicon.known(short).is_some() {
                self.word(short, short, false);
            }
        }
        said.push(stem);
    }

    fn word(&mut self, written: &str, stem: &str, is_value: bool) {
        let known = self.words.iter().position(|word| word.stem == stem);
        if known.is_none() && self.words.len() == MOST_WORDS {
            return;
        }
        let place = known.unwrap_or_else(|| {
            let (written, stem) = (written.to_owned(), stem.to_owned());
            let weight = stop_words::weight(&stem);
            let word = QueryWord { written, stem, is_value, weight, ..QueryWord::default() };
            self.words.push(word);
            self.words.len() - 1
        });
        if let Some(clause) = self.clauses.last_mut().filter(|clause| !clause.contains(&place)) {
            clause.push(place);
            if let Some(word) = self.words.get_mut(place) {
                word.times += 1;
            }
        }
    }

    fn look_up(&mut self, lexicon: &CatalogLexicon, is_brief: bool) {
        let mut slips = 0;
        for word in &mut self.words {
            word.from = self.leads.len();
            word.rarity = lexicon.leads(&word.stem, is_brief, &mut self.leads);
            let is_unknown = word.from == self.leads.len() && !word.is_value;
            if is_unknown && slips < MOST_SLIPS {
                slips += 1;
                lexicon.slips(&word.stem, &mut self.leads);
            }
            word.to = self.leads.len();
            word.known = self.leads.get(word.from).map(|lead| lead.way);
        }
    }
}

/// As much of a text as is read.
fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default()
}
