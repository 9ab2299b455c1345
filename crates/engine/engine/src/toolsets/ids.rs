//! Ids of groups: `{source}_{tag}_{group}`, where no tag and no group has an underscore, so that
//! an id of one source is made in one way only.

use toolcrib_core::{Fingerprint, SourceId};

/// Longest part of an id, in characters.
const LONGEST: usize = 48;

/// A text as a part of an id: its letters and digits, small, with a hyphen for all else. Texts that
/// differ in nothing else are the same part. `None`: nothing of it is left.
pub(super) fn slug(text: &str) -> Option<String> {
    let mut slug = String::new();
    for letter in text.chars() {
        if letter.is_alphanumeric() {
            slug.extend(letter.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        // A tag of signs is a tag all the same.
        return (!text.trim().is_empty()).then(|| mark(text));
    }
    if slug.chars().nth(LONGEST).is_none() {
        return Some(slug.to_owned());
    }
    let start: String = slug.chars().take(LONGEST).collect();
    Some(format!("{}-{}", start.trim_end_matches('-'), mark(text)))
}

/// A few letters that stand for a text.
pub(super) fn mark(text: &str) -> String {
    Fingerprint::of(&text.into())
        .to_string()
        .chars()
        .filter(|c| c.is_alphanumeric())
        .take(6)
        .collect()
}

/// The id of a group.
pub(super) fn of(source: &SourceId, part: &str) -> String {
    format!("{source}_{part}")
}

/// The id of a part of it.
pub(super) fn within(group: &str, part: &str) -> String {
    format!("{group}_{part}")
}
