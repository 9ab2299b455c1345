//! Words for a person who is asked: what others wrote stands in them and cannot fake the rest.

use toolcrib_json::invisible::{exact, is_unseen};

use crate::backend::Person;

/// Characters of a title that are shown.
const LONGEST_TITLE: usize = 80;
/// Characters of a text that are shown.
const LONGEST_OPENING: usize = 100;
/// People who are shown by their addresses.
const SHOWN_PEOPLE: usize = 5;

/// A title between stars, on one line, without a star that could end it.
pub(crate) fn title(text: &str) -> String {
    let line = line(text, LONGEST_TITLE);
    if line.is_empty() {
        return "*(no title)*".to_owned();
    }
    format!("*{}*", exact(&line.replace('\\', "\\\\").replace('*', "\\*")))
}

/// The first words of a text between quotation marks, without one that could end it.
pub(crate) fn opening(text: &str) -> String {
    format!(
        "\u{201c}{}\u{201d}",
        exact(&line(text, LONGEST_OPENING).replace(['\u{201c}', '\u{201d}'], "\""))
    )
}

/// `ann@example.org, bob@example.org, 2 more`.
pub(crate) fn addresses(people: &[Person]) -> String {
    let mut shown: Vec<_> = people.iter().take(SHOWN_PEOPLE).map(address).collect();
    if people.len() > SHOWN_PEOPLE {
        shown.push(format!("{} more", people.len() - SHOWN_PEOPLE));
    }
    shown.join(", ")
}

/// An address alone: a name is whatever its bearer likes.
pub(crate) fn address(person: &Person) -> String {
    // No address has these, and what a server says may.
    exact(&line(&person.address, LONGEST_TITLE).replace([' ', ',', ':', '*'], "?")).into_owned()
}

/// `1 guest`, `3 guests`.
pub(crate) fn count(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// A text as an excerpt of a list that a model reads: one line, cut, and nothing hidden in it.
pub(crate) fn plain(text: &str, longest: usize) -> String {
    let seen = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    let seen: String = seen.filter(|c| !is_unseen(*c)).take(longest.saturating_mul(8)).collect();
    line(&seen, longest)
}

/// On one line, cut.
fn line(text: &str, longest: usize) -> String {
    let begin: String = text.chars().take(longest.saturating_mul(8)).collect();
    let line = begin.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((end, _)) => line.get(..end).unwrap_or_default().trim_end().to_owned() + "\u{2026}",
        None => line,
    }
}
