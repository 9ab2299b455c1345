//! Foreign texts as they may stand in messages of ours.

/// Longest foreign text in an error, in characters.
const LONGEST: usize = 1_000;

/// One paragraph: no control characters, bounded in length.
pub(crate) fn clean(foreign: &str) -> String {
    cut(&words(foreign), LONGEST)
}

fn words(foreign: &str) -> String {
    let seen = |c: char| if c.is_control() { ' ' } else { c };
    foreign.chars().take(4 * LONGEST).map(seen).collect::<String>().trim().to_owned()
}

/// At most so many characters, and a mark where something is missing.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
