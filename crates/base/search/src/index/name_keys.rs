//! Names as people type them: in any case, with any signs between their words or none.

use super::lexicon::CatalogLexicon;
use crate::document::ToolDocument;
use crate::number_cast::small;
use crate::text::words::{cased, plain, stem_of};

/// Bytes of a question that may be a name, and words of it that may be names each.
const LONGEST: usize = 512;
const MOST_WORDS: usize = 64;

/// Shorter words of a question are words and no names.
const SHORTEST: usize = 5;

/// How well a question names a document, the best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameMatch {
    /// A word of the question is the name.
    Within,
    /// The name but for its one or several.
    Nearly,
    /// Another name of it, or that of its source besides.
    Alias,
    Name,
}

impl NameMatch {
    /// What is added to the score, whose own part is below it.
    pub(crate) fn worth(self) -> f32 {
        match self {
            Self::Within => 4.0,
            Self::Nearly => 8.0,
            Self::Alias => 12.0,
            Self::Name => 16.0,
        }
    }
}

/// The names of all documents by what is left of them without case and signs.
#[derive(Debug, Default)]
pub(crate) struct NameKeys {
    /// The digest of a name, whose it is, and how well it names it.
    all: Vec<(u64, u32, NameMatch)>,
    documents: usize,
}

impl NameKeys {
    /// The names of the next document.
    pub(crate) fn push(&mut self, document: &ToolDocument<'_>) {
        let number = small(self.documents);
        self.documents += 1;
        let source = whole(&document.source, START);
        let aliases = document.aliases.iter().map(|alias| (alias, NameMatch::Alias));
        let mut own = Vec::new();
        for (name, named) in std::iter::once((&document.name, NameMatch::Name)).chain(aliases) {
            if name.chars().any(char::is_alphanumeric) {
                own.push((whole(name, START), number, named));
                own.push((whole(name, source), number, NameMatch::Alias));
                own.push((singular(name, START), number, NameMatch::Nearly));
                own.push((singular(name, source), number, NameMatch::Nearly));
            }
        }
        // The best of what is the same comes first.
        own.sort_unstable_by(|left, right| left.0.cmp(&right.0).then(right.2.cmp(&left.2)));
        own.dedup_by_key(|(key, ..)| *key);
        self.all.extend(own);
    }

    /// To be called when all documents are in.
    pub(crate) fn finish(&mut self) {
        self.all.sort_unstable();
        self.all.shrink_to_fit();
    }

    /// The documents that a question names, in order, each with the best way in which it does.
    pub(crate) fn named(&self, question: &str, lexicon: &CatalogLexicon) -> Vec<(u32, NameMatch)> {
        let question = question.trim();
        if question.len() > LONGEST {
            return Vec::new();
        }
        let mut named: Vec<(u32, NameMatch)> = self.of(whole(question, START)).collect();
        let nearly = [singular(question, START), last_singular(question)];
        let nearly = nearly.into_iter().flat_map(|key| self.of(key));
        named.extend(nearly.map(|(document, _)| (document, NameMatch::Nearly)));
        if named.is_empty() {
            for word in question.split_whitespace().take(MOST_WORDS) {
                if is_name(word, lexicon) {
                    let exact = self.of(whole(word, START)).filter(|(_, as_what)| {
                        matches!(as_what, NameMatch::Alias | NameMatch::Name)
                    });
                    named.extend(exact.map(|(document, _)| (document, NameMatch::Within)));
                }
            }
        }
        named.sort_unstable_by(|left, right| left.0.cmp(&right.0).then(right.1.cmp(&left.1)));
        named.dedup_by_key(|(document, _)| *document);
        named
    }

    fn of(&self, key: u64) -> impl Iterator<Item = (u32, NameMatch)> {
        let from = self.all.partition_point(|(other, ..)| *other < key);
        let rest = self.all.get(from..).unwrap_or_default().iter();
        let same = rest.take_while(move |(other, ..)| *other == key);
        same.map(|(_, document, named)| (*document, *named))
    }
}

/// Whether a word of a question is written as names are, and is none of a language: `e-mail` is.
fn is_name(word: &str, lexicon: &CatalogLexicon) -> bool {
    let (mut count, mut is_known, mut stem) = (0, false, String::new());
    cased(word, |part, _| {
        count += 1;
        stem_of(part, &mut stem);
        is_known |= lexicon.knows(&stem);
    });
    let is_joined = count == 2 && word.contains('-');
    word.len() >= SHORTEST && ((count > 1 && !is_joined) || !is_known)
}

/// The start of a digest: FNV-1a (<http://www.isthe.com/chongo/tech/comp/fnv/>), which is the same
/// wherever it is made.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const STEP: u64 = 0x0100_0000_01b3;

fn further(digest: u64, letter: char) -> u64 {
    let bytes = u32::from(letter).to_le_bytes();
    bytes.into_iter().fold(digest, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(STEP))
}

/// The digest of a name without case and signs, behind what `from` is the digest of.
fn whole(name: &str, from: u64) -> u64 {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).map(plain).fold(from, further)
}

/// The same with one of each thing in the place of several.
fn singular(name: &str, from: u64) -> u64 {
    let mut digest = from;
    cased(name, |word, _| digest = one(word).fold(digest, further));
    digest
}

/// The same of a name without signs, of which only the end is known to be one of a word.
fn last_singular(name: &str) -> u64 {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    let name: String = letters.flat_map(char::to_lowercase).map(plain).collect();
    one(&name).fold(START, further)
}

/// `issue` of `issues`, `query` of `queries`, `branch` of `branches`.
fn one(word: &str) -> impl Iterator<Item = char> {
    let (stem, end) = match word.strip_suffix("ies") {
        Some(stem) if stem.len() > 1 => (stem, "y"),
        _ if ["sses", "shes", "ches", "xes"].iter().any(|end| word.ends_with(end)) => {
            (word.strip_suffix("es").unwrap_or(word), "")
        }
        _ if word.len() < 3 || ["ss", "us", "is"].iter().any(|end| word.ends_with(end)) => {
            (word, "")
        }
        _ => (word.strip_suffix('s').unwrap_or(word), ""),
    };
    stem.chars().chain(end.chars())
}
