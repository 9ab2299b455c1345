//! What must be known before a tool can be called, and which tool yields it.

use super::scores::ScoredDocument;
use crate::document::{DocumentField, ToolDocument};
use crate::index::SearchIndex;
use crate::index::csr::CsrArray;
use crate::index::lexicon::CatalogLexicon;
use crate::index::trigrams::TrigramNames;
use crate::number_cast::{place, small};
use crate::query::Prerequisite;
use crate::text::words::stems;

/// The last word of an argument that names one of many things.
const MARKS: [&str; 6] = ["guid", "id", "ids", "key", "slug", "uuid"];

/// What tools do that yield such names, as stems.
const FINDERS: [&str; 8] =
    ["enumer", "find", "list", "lookup", "queri", "resolv", "search", "select"];

/// Hits that are looked at.
const MOST_HITS: usize = 5;

/// Documents that are looked at for one argument, of those that have the thing in their name.
const MOST_LOOKED_AT: usize = 256;

/// The arguments of all documents that name one of many things.
#[derive(Debug, Default)]
pub(crate) struct Prerequisites {
    /// The numbers of the arguments of each document.
    of_document: CsrArray,
    arguments: TrigramNames,
    /// For each argument the word of the thing: `movie` in `movie_id`.
    things: Vec<u32>,
}

impl Prerequisites {
    /// The arguments of the next document.
    pub(crate) fn push(&mut self, document: &ToolDocument<'_>, lexicon: &mut CatalogLexicon) {
        let mut own = Vec::new();
        for argument in document.arguments.iter().filter(|argument| argument.required) {
            let mut words: Vec<(String, String)> = Vec::new();
            stems(&argument.name, |word, stem| words.push((word.to_owned(), stem.to_owned())));
            let Some(((mark, _), [.., (written, thing)])) = words.split_last() else { continue };
            if MARKS.contains(&mark.as_str()) {
                own.push(small(self.things.len()));
                self.things.push(lexicon.number(thing, written));
                self.arguments.push(&argument.name);
            }
        }
        self.of_document.push(own);
    }

    /// To be called when all documents are in.
    pub(crate) fn finish(&mut self) {
        self.of_document.finish();
        self.things.shrink_to_fit();
    }

    /// The arguments of a document, with the words of their things.
    fn of(&self, document: u32) -> impl Iterator<Item = (&str, u32)> {
        let own = self.of_document.get(place(document)).iter();
        own.filter_map(|number| {
            let thing = self.things.get(place(*number))?;
            Some((self.arguments.get(place(*number))?, *thing))
        })
    }
}

/// What the best hits need, with the tool that `may` be found and yields it.
pub(crate) fn needs(
    index: &SearchIndex,
    hits: &[ScoredDocument],
    may: &dyn Fn(usize) -> bool,
) -> Vec<Prerequisite> {
    let finders = FINDERS.iter().filter_map(|stem| index.lexicon.known(stem));
    let finders: Vec<u32> = finders.collect();
    let mut needs = Vec::new();
    for hit in hits.iter().take(MOST_HITS) {
        for (argument, thing) in index.needs.of(hit.document) {
            if let Some(from) = yields(index, (hit.document, thing), &finders, may) {
                let document = place(hit.document);
                needs.push(Prerequisite {
                    document,
                    argument: argument.to_owned(),
                    from: place(from),
                });
            }
        }
    }
    needs
}

/// The tool that finds things of a kind for another: of the same source first, then the one that
/// says least else.
fn yields(
    index: &SearchIndex,
    (whose, thing): (u32, u32),
    finders: &[u32],
    may: &dyn Fn(usize) -> bool,
) -> Option<u32> {
    let sources = &index.shelves.sources;
    let brief = |document: u32| index.briefs.get(place(document));
    let finds = |document: u32| finders.iter().any(|term| brief(document).contains(term));
    let named = index.holders(thing, DocumentField::Name).take(MOST_LOOKED_AT);
    named
        .filter(|document| *document != whose && finds(*document))
        .filter(|document| index.needs.of(*document).all(|(_, other)| other != thing))
        .filter(|document| may(place(*document)))
        .min_by_key(|document| {
            let is_strange = sources.of(place(*document)) != sources.of(place(whose));
            (is_strange, brief(*document).len(), *document)
        })
}
