//! Texts as words: split, stemmed, weighed, and joined with words of the same meaning.
pub(crate) mod abbreviations;
mod porter2;
mod short_forms;
pub(crate) mod stop_words;
pub(crate) mod synonyms;
pub(crate) mod words;
