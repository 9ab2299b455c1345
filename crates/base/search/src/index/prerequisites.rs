//! What the arguments of the documents need of other tools.

use super::csr::CsrArray;
use super::lexicon::CatalogLexicon;
use super::trigrams::TrigramNames;
use crate::document::ToolDocument;
use crate::number_cast::{place, small};
use crate::text::words::stems;

/// The last word of an argument that names one of many things.
const MARKS: [&str; 6] = ["guid", "id", "ids", "key", "slug", "uuid"];

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
    pub(crate) fn of(&self, document: u32) -> impl Iterator<Item = (&str, u32)> {
        let own = self.of_document.get(place(document)).iter();
        own.filter_map(|number| {
            let thing = self.things.get(place(*number))?;
            Some((self.arguments.get(place(*number))?, *thing))
        })
    }
}
