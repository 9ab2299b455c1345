//! The texts that an embedder is given: what a tool says of itself, and what is asked.

use crate::document::ToolDocument;
use crate::text::words::{cased, sentences};

/// Bytes of the description, of all names of arguments, and of all examples that are read: models
/// read no more of a text.
const LONGEST: usize = 1000;

/// Bytes of a question or a sentence that are read.
const LONGEST_QUESTION: usize = 2000;

/// Sentences of a task that are looked at one by one.
const MOST_SENTENCES: usize = 16;

impl ToolDocument<'_> {
    /// What an embedder is given of it, from what says most to what says least: source and names
    /// as words, what it does, what it is asked, and the names of what it takes.
    pub fn spoken(&self) -> String {
        let mut text = String::new();
        words(&self.source, &mut text);
        words(&self.name, &mut text);
        for alias in &self.aliases {
            let mut words_of_it = String::new();
            words(alias, &mut words_of_it);
            if !text.contains(&words_of_it) {
                text.push_str(&words_of_it);
            }
        }
        text.truncate(text.trim_end().len());
        text.push_str(". ");
        if !self.description.starts_with(&*self.summary) {
            text.push_str(beginning(&self.summary, LONGEST));
            text.push(' ');
        }
        text.push_str(beginning(&self.description, LONGEST));
        text.push(' ');
        let room = text.len() + LONGEST;
        for example in self.examples.iter().filter(|example| !example.is_empty()) {
            text.push_str(beginning(example, room.saturating_sub(text.len())));
            text.push(' ');
        }
        let room = text.len() + LONGEST;
        for argument in &self.arguments {
            if text.len() < room {
                words(&argument.name, &mut text);
                text.truncate(text.trim_end().len());
                text.push_str(", ");
            }
        }
        text.truncate(text.trim_end_matches([' ', ',']).len());
        text
    }
}

/// What an embedder is given of a question, as [`QueryVectors`](crate::QueryVectors) takes it: the
/// whole, and its sentences if it has more than one.
pub fn asked(question: &str) -> Vec<String> {
    let read = |text: &str| beginning(text.trim(), LONGEST_QUESTION).to_owned();
    let mut texts = vec![read(question)];
    let parts = sentences(question);
    if parts.len() > 1 {
        texts.extend(parts.into_iter().take(MOST_SENTENCES).map(read));
    }
    texts
}

/// The words of an identifier, with a space after each.
fn words(name: &str, into: &mut String) {
    cased(name, |word, _| {
        into.push_str(word);
        into.push(' ');
    });
}

fn beginning(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}
