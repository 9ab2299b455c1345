//! Text as a tree: JSON or YAML, within bounds.

mod cleanup;
mod members;
mod yaml;

use serde_json::Value;

use super::error::{DocumentError, DocumentNotes};
use super::text;

/// A document as a tree, and what is to be told of it.
#[derive(Debug)]
pub(super) struct ParsedDocument {
    pub(super) value: Value,
    pub(super) notes: Vec<String>,
    /// The same of words of YAML that others read otherwise.
    pub(super) words: Vec<String>,
}

/// Reads a document of so many bytes at the most. What begins with `{` is JSON, or YAML that looks
/// like it; everything else is YAML.
pub(super) fn parse(text: &str, limit: usize) -> Result<ParsedDocument, DocumentError> {
    if text.len() > limit {
        return Err(DocumentError::TooLarge { limit });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut value, words) = if text.trim_start().starts_with('{') {
        match serde_json::from_str(text) {
            Ok(value) => (value, Vec::new()),
            Err(error) => {
                let read = yaml::read(text, limit);
                read.map_err(|_| unreadable("JSON", &error.to_string()))?
            }
        }
    } else {
        yaml::read(text, limit).map_err(|why| unreadable("YAML", &why))?
    };
    let notes = cleanup::tidy(&mut value);
    Ok(ParsedDocument { value, notes, words })
}

impl DocumentNotes {
    /// Adds what is to be told of the document of this name.
    pub(super) fn of_document(&mut self, name: &str, parsed: ParsedDocument) -> Value {
        for word in parsed.words {
            self.add(name, word.clone());
            if self.words.len() < Self::MOST {
                self.words.push(format!("{}: {word}", text::line(name, 120)));
            }
        }
        parsed.notes.into_iter().for_each(|note| self.add(name, note));
        parsed.value
    }
}

fn unreadable(format: &'static str, problem: &str) -> DocumentError {
    DocumentError::Unreadable { format, problem: text::line(problem, 300) }
}
