//! From documents to an index.

use foldhash::{HashMap, HashMapExt as _};

use crate::document::{Document, Field};
use crate::facets::Shelves;
use crate::index::{Index, Posting};
use crate::nearest::Names;
use crate::number::{place, real, small};
use crate::words::{stem, words};

/// How much a word in each field weighs, and how much the length of the field counts against it.
const WEIGHTS: [(f32, f32); 10] = [
    (3.0, 0.5),
    (1.5, 0.5),
    (1.0, 0.5),
    (0.8, 0.5),
    (0.4, 0.6),
    (0.4, 0.6),
    (0.3, 0.6),
    (1.0, 0.3),
    (0.4, 0.5),
    (1.0, 0.5),
];

/// How soon more of the same word adds nothing.
const SATURATION: f32 = 1.2;

/// A word in a field of a document, and how often.
struct Seen {
    term: u32,
    document: u32,
    field: u8,
    times: u8,
}

#[derive(Default)]
struct Reader {
    terms: HashMap<Box<str>, u32>,
    seen: Vec<Seen>,
    /// How many words each field of each document has.
    lengths: Vec<[u16; 10]>,
    /// The words of the document that is being read.
    now: Vec<(u32, u8)>,
}

pub(crate) fn build<'a>(documents: impl IntoIterator<Item = Document<'a>>) -> Index {
    let mut reader = Reader { terms: HashMap::new(), ..Reader::default() };
    let (mut names, mut shelves, mut writes) = (Names::default(), Shelves::new(), Vec::new());
    for document in documents {
        names.push(&document.name);
        shelves.push(&document);
        writes.push(document.writes);
        reader.read(&document);
    }
    names.finish();
    shelves.finish();
    let (starts, postings) = reader.postings();
    Index { names, shelves, writes: writes.into(), terms: reader.terms, starts, postings }
}

impl Reader {
    fn read(&mut self, document: &Document<'_>) {
        self.now.clear();
        for name in std::iter::once(&document.name).chain(&document.aliases) {
            self.text(Field::Name, name);
        }
        self.text(Field::Summary, &document.summary);
        self.text(Field::Description, &document.description);
        for argument in &document.arguments {
            self.text(Field::ArgumentName, &argument.name);
            self.text(Field::ArgumentText, &argument.description);
            argument.values.iter().for_each(|value| self.text(Field::Value, value));
        }
        document.results.iter().for_each(|name| self.text(Field::Result, name));
        let labels = document.tags.iter().chain(&document.category).chain(&document.actions);
        labels.for_each(|label| self.text(Field::Label, label));
        self.text(Field::Source, &document.source);
        self.text(Field::Source, &document.about_source);
        document.examples.iter().for_each(|example| self.text(Field::Example, example));
        self.finish();
    }

    fn text(&mut self, field: Field, text: &str) {
        let number = u8::try_from(field.number()).unwrap_or_default();
        let (terms, now) = (&mut self.terms, &mut self.now);
        words(text, |word| {
            let word = stem(word);
            let count = small(terms.len());
            let term = terms.get(word).copied().unwrap_or_else(|| {
                terms.insert(word.into(), count);
                count
            });
            now.push((term, number));
        });
    }

    /// The end of a document: what was read becomes counts.
    fn finish(&mut self) {
        let document = small(self.lengths.len());
        let mut lengths = [0_u16; 10];
        self.now.sort_unstable();
        for same in self.now.chunk_by(|left, right| left == right) {
            let Some((term, field)) = same.first().copied() else { continue };
            let times = u8::try_from(same.len()).unwrap_or(u8::MAX);
            if let Some(length) = lengths.get_mut(usize::from(field)) {
                *length = length.saturating_add(u16::from(times));
            }
            self.seen.push(Seen { term, document, field, times });
        }
        self.lengths.push(lengths);
    }

    /// What each word gives each document: BM25 over a weighted sum of fields.
    fn postings(&mut self) -> (Box<[u32]>, Box<[Posting]>) {
        let count = real(self.lengths.len());
        let means: [f32; 10] = std::array::from_fn(|field| {
            let length = |lengths: &[u16; 10]| lengths.get(field).map_or(0, |n| usize::from(*n));
            (real(self.lengths.iter().map(length).sum()) / count.max(1.0)).max(1.0)
        });
        self.seen.sort_by_key(|seen| (seen.term, seen.document));
        let mut starts = vec![0];
        let mut postings: Vec<Posting> = Vec::new();
        for of_term in self.seen.chunk_by(|left, right| left.term == right.term) {
            let from = postings.len();
            for here in of_term.chunk_by(|left, right| left.document == right.document) {
                postings.push(self.posting(here, &means));
            }
            let holders = real(postings.len() - from);
            let rare = (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln();
            for posting in postings.iter_mut().skip(from) {
                posting.gain = rare * posting.gain / (SATURATION + posting.gain);
            }
            starts.push(small(postings.len()));
        }
        (starts.into(), postings.into())
    }

    /// One word in one document, before it is known how rare the word is.
    fn posting(&self, here: &[Seen], means: &[f32; 10]) -> Posting {
        let document = here.first().map_or(0, |seen| seen.document);
        let lengths = self.lengths.get(place(document));
        let mut posting = Posting { document, gain: 0.0, fields: 0 };
        for Seen { field, times, .. } in here {
            let at = usize::from(*field);
            let length = lengths.and_then(|lengths| lengths.get(at)).map_or(0.0, |n| f32::from(*n));
            let ((weight, slope), mean) =
                WEIGHTS.get(at).copied().zip(means.get(at)).unwrap_or(((0.0, 0.0), &1.0));
            posting.gain += weight * f32::from(*times) / (1.0 - slope + slope * length / mean);
            posting.fields |= 1 << at;
        }
        posting
    }
}
