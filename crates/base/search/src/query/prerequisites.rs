//! What must be known before a tool can be called, and which tool yields it.

use super::scores::ScoredDocument;
use crate::document::DocumentField;
use crate::index::SearchIndex;
use crate::number_cast::place;
use crate::query::Prerequisite;

/// What tools do that yield such names, as stems.
const FINDERS: [&str; 8] =
    ["enumer", "find", "list", "lookup", "queri", "resolv", "search", "select"];

/// Hits that are looked at.
const MOST_HITS: usize = 5;

/// Documents that are looked at for one argument, of those that have the thing in their name.
const MOST_LOOKED_AT: usize = 256;

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

/// The tool that finds things of a kind for another: of the same source first, then the one that is
/// about nothing that the other is not about, then the one that says least else. Comments of issues
/// are no comments of gists.
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
            let says = brief(*document);
            let own = |term: &&u32| {
                **term == thing || finders.contains(term) || brief(whose).contains(term)
            };
            let others = says.iter().filter(|term| !own(term)).count();
            (is_strange, others, says.len(), *document)
        })
}
