//! Names that may stand in the new file.

use std::collections::HashSet;

use toolcrib_json::invisible::exact;

/// The ids that are taken.
#[derive(Debug, Default)]
pub(super) struct SourceIds(HashSet<String>);

impl SourceIds {
    /// A legal id for a foreign name, another one for each name.
    pub(super) fn legal(&mut self, name: &str) -> String {
        let letter = |letter: char| match letter {
            '0'..='9' | 'a'..='z' | 'A'..='Z' | '_' | '-' => letter,
            _ => '_',
        };
        let mut stem: String = name.chars().take(48).map(letter).collect();
        // `code` is the name of the host's own tools.
        if stem.is_empty() || stem == "code" {
            stem.push_str("server");
        }
        let mut id = stem.clone();
        let mut count = 1;
        while !self.0.insert(id.clone()) {
            count += 1;
            id = format!("{stem}_{count}");
        }
        id
    }
}

/// A foreign text as the name of a variable.
pub(super) fn variable(text: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' }
    };
    let name: String = text.chars().take(64).map(letter).collect();
    if name.starts_with(|letter: char| letter.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// A foreign text on one line, 80 characters at most.
pub(super) fn shown(text: &str) -> String {
    exact(&text.chars().take(80).collect::<String>()).into_owned()
}
