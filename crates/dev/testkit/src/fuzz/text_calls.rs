//! Calls that a model writes into its words.

use std::collections::HashSet;

use toolcrib_agent::cited_spans;
use toolcrib_agent::model::{TextCallFormat, fuzz};

use super::two_tools::crib;

/// The form of calls on the first line, and an answer of a model on the others: however it is cut,
/// the same is told of it and called by it, and every call of it can be answered. Where it cites a
/// source, it has brackets.
pub fn text_calls(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (word, answer) = text.split_once('\n').unwrap_or((&text, ""));
    let format = TextCallFormat::WORDS.into_iter().find(|(name, _)| *name == word);
    let Some((_, format)) = format else { return };
    let (_, plan) = crib();
    let whole = fuzz::text_calls(format, &plan, &[answer]);
    let (told, said, calls) = &whole;
    assert_eq!(told, said, "what was told is not what was said");
    let ids: HashSet<_> = calls.iter().map(|call| &call.id).collect();
    assert_eq!(ids.len(), calls.len(), "two calls share an id");
    let letters: Vec<&str> = answer.split_inclusive(|_: char| true).collect();
    for span in cited_spans(answer) {
        let cited = letters.get(span.start..span.end).unwrap_or_default();
        let ends = (cited.first().copied(), cited.last().copied());
        assert_eq!(ends, (Some("["), Some("]")), "what it cites is in no brackets");
    }
    assert_eq!(fuzz::text_calls(format, &plan, &letters), whole, "cut, it says another thing");
}
