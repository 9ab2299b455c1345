//! From documents to an index.

use std::borrow::Cow;

use super::csr::CsrArray;
use super::facets::FacetIndexes;
use super::lexicon::CatalogLexicon;
use super::name_keys::NameKeys;
use super::prerequisites::Prerequisites;
use super::trigrams::TrigramNames;
use crate::document::{DocumentField, ToolDocument};
use crate::index::{Posting, SearchIndex};
use crate::number_cast::{place, real, small};
use crate::text::abbreviations::short;
use crate::text::words::stems;

/// How much a word in each field weighs, and how much the length of the field counts against it.
const WEIGHTS: [(f32, f32); 10] = [
    (5.0, 0.5), // name
    (0.5, 0.6), // summary
    (0.7, 0.7), // description
    (0.8, 0.6), // names of arguments
    (0.5, 0.7), // their descriptions
    (0.5, 0.7), // their values
    (0.3, 0.7), // names of results
    (0.4, 0.3), // labels
    (0.4, 0.5), // source
    (0.7, 0.7), // examples
];

/// How soon more of the same word adds nothing.
const SATURATION: f32 = 2.0;

/// Words of one field of one document that are read; nobody describes a tool with more.
const MOST_WORDS: usize = 4096;

/// A word in a field of a document, and how often.
struct WordOccurrence {
    term: u32,
    document: u32,
    field: u8,
    times: u8,
}

/// What the index keeps of where words stand.
struct Postings {
    starts: Box<[u32]>,
    all: Box<[Posting]>,
    fields: Box<[u16]>,
}

#[derive(Default)]
struct IndexBuilder {
    lexicon: CatalogLexicon,
    seen: Vec<WordOccurrence>,
    /// How many words each field of each document has.
    lengths: Vec<[u16; 10]>,
    /// What the name and the summary of each document say.
    briefs: CsrArray,
    /// The words of each document, in order.
    contents: CsrArray,
    needs: Prerequisites,
    /// The words of the document that is being read, with their fields.
    now: Vec<(u32, u8)>,
    /// Short forms that several of them together stand for.
    implied: Vec<(u32, u8)>,
    keys: NameKeys,
}

impl SearchIndex {
    /// Reads all documents; they are numbered from 0 in the order in which they come.
    pub fn build<'a>(documents: impl IntoIterator<Item = ToolDocument<'a>>) -> Self {
        build(documents)
    }
}

fn build<'a>(documents: impl IntoIterator<Item = ToolDocument<'a>>) -> SearchIndex {
    let mut reader = IndexBuilder::default();
    let (mut names, mut shelves, mut writes) =
        (TrigramNames::default(), FacetIndexes::default(), Vec::new());
    for document in documents {
        names.push(&document.name);
        shelves.push(&document);
        writes.push(document.writes);
        reader.read(&document);
    }
    names.finish();
    shelves.finish();
    let Postings { starts, all: postings, fields } = reader.postings();
    let IndexBuilder { lexicon, mut briefs, mut contents, mut needs, mut keys, .. } = reader;
    briefs.finish();
    contents.finish();
    needs.finish();
    keys.finish();
    SearchIndex {
        names,
        keys,
        shelves,
        writes: writes.into(),
        lexicon,
        briefs,
        contents,
        needs,
        starts,
        postings,
        fields,
    }
}

impl IndexBuilder {
    fn read(&mut self, document: &ToolDocument<'_>) {
        self.now.clear();
        self.implied.clear();
        self.keys.push(document);
        self.texts(DocumentField::Name, std::iter::once(&document.name).chain(&document.aliases));
        self.texts(DocumentField::Summary, [&document.summary]);
        let mut brief: Vec<u32> = self.now.iter().map(|(term, _)| *term).collect();
        brief.sort_unstable();
        brief.dedup();
        self.briefs.push(brief);
        self.texts(DocumentField::Description, [&document.description]);
        let arguments = &document.arguments;
        self.texts(DocumentField::ArgumentName, arguments.iter().map(|argument| &argument.name));
        self.texts(
            DocumentField::ArgumentText,
            arguments.iter().map(|argument| &argument.description),
        );
        self.texts(DocumentField::Value, arguments.iter().flat_map(|argument| &argument.values));
        self.texts(DocumentField::Result, &document.results);
        let labels = document.tags.iter().chain(&document.category).chain(&document.actions);
        self.texts(DocumentField::Label, labels);
        self.texts(DocumentField::Source, [&document.source, &document.about_source]);
        self.texts(DocumentField::Example, &document.examples);
        self.needs.push(document, &mut self.lexicon);
        self.finish();
    }

    fn texts<'a>(
        &mut self,
        field: DocumentField,
        texts: impl IntoIterator<Item = &'a Cow<'a, str>>,
    ) {
        let number = u8::try_from(field.number()).unwrap_or_default();
        let from = self.now.len();
        let (lexicon, now, implied) = (&mut self.lexicon, &mut self.now, &mut self.implied);
        for text in texts {
            let first = now.len();
            stems(text, |word, stem| {
                if now.len() >= from + MOST_WORDS {
                    return;
                }
                let own = now.get(first..).unwrap_or_default();
                let before = own.iter().rev().map(|(term, _)| lexicon.stem(*term));
                for short in short().ended_by(stem, &before) {
                    implied.push((lexicon.number(short, short), number));
                }
                now.push((lexicon.number(stem, word), number));
            });
        }
    }

    /// The end of a document: what was read becomes counts.
    fn finish(&mut self) {
        let document = small(self.lengths.len());
        let mut lengths = [0_u16; 10];
        for (_, field) in &self.now {
            if let Some(length) = lengths.get_mut(usize::from(*field)) {
                *length = length.saturating_add(1);
            }
        }
        // They make no text longer.
        self.now.append(&mut self.implied);
        self.now.sort_unstable();
        let words = self.now.chunk_by(|left, right| left.0 == right.0);
        self.contents.push(words.filter_map(|word| Some(word.first()?.0)));
        for same in self.now.chunk_by(|left, right| left == right) {
            let Some((term, field)) = same.first().copied() else { continue };
            let times = u8::try_from(same.len()).unwrap_or(u8::MAX);
            self.seen.push(WordOccurrence { term, document, field, times });
        }
        self.lengths.push(lengths);
    }

    /// What each word gives each document: BM25 over a weighted sum of fields.
    fn postings(&mut self) -> Postings {
        let means = self.means();
        self.seen.sort_unstable_by_key(|seen| (seen.term, seen.document, seen.field));
        let (mut starts, mut holders) = (vec![0], Vec::with_capacity(self.lexicon.len()));
        let (mut postings, mut fields) = (Vec::new(), Vec::new());
        for of_term in self.seen.chunk_by(|left, right| left.term == right.term) {
            let from = postings.len();
            // A word that was numbered and not read has no postings.
            let term = of_term.first().map_or(0, |seen| place(seen.term));
            holders.resize(term, 0);
            starts.resize(term + 1, small(from));
            for here in of_term.chunk_by(|left, right| left.document == right.document) {
                let (posting, has) = self.posting(here, &means);
                postings.push(posting);
                fields.push(has);
            }
            holders.push(postings.len() - from);
            starts.push(small(postings.len()));
        }
        holders.resize(self.lexicon.len(), 0);
        starts.resize(self.lexicon.len() + 1, small(postings.len()));
        self.lexicon.finish(&holders, self.lengths.len());
        let mut all = postings.as_mut_slice();
        for (term, count) in (0_u32..).zip(holders) {
            let rarity = self.lexicon.rarity(term);
            let Some((own, rest)) = all.split_at_mut_checked(count) else { break };
            for posting in own {
                let often = posting.gain;
                posting.gain = rarity * often * (SATURATION + 1.0) / (SATURATION + often);
            }
            all = rest;
        }
        Postings { starts: starts.into(), all: postings.into(), fields: fields.into() }
    }

    /// The mean length of each field, at least 1.
    fn means(&self) -> [f32; 10] {
        let count = real(self.lengths.len()).max(1.0);
        std::array::from_fn(|field| {
            let length = |lengths: &[u16; 10]| lengths.get(field).map_or(0, |n| usize::from(*n));
            (real(self.lengths.iter().map(length).sum()) / count).max(1.0)
        })
    }

    /// One word in one document, with the weighted count for a gain, and its fields.
    fn posting(&self, here: &[WordOccurrence], means: &[f32; 10]) -> (Posting, u16) {
        let document = here.first().map_or(0, |seen| seen.document);
        let lengths = self.lengths.get(place(document));
        let (mut gain, mut fields) = (0.0, 0);
        for WordOccurrence { field, times, .. } in here {
            let at = usize::from(*field);
            let length = lengths.and_then(|lengths| lengths.get(at)).map_or(0.0, |n| f32::from(*n));
            let (weight, slope) = WEIGHTS.get(at).copied().unwrap_or_default();
            let mean = means.get(at).copied().unwrap_or(1.0);
            gain += weight * f32::from(*times) / (1.0 - slope + slope * length / mean);
            fields |= 1 << at;
        }
        (Posting { document, gain }, fields)
    }
}
