//! Foreign text on a terminal: one line, bounded, nothing invisible.

use serde_json::Value;
use toolcrib_core::canonical;
use toolcrib_json::invisible::exact;

/// Longest shown piece of a text, in characters.
const LONGEST: usize = 160;
/// How much is shown of what two texts share before and after their difference.
const AROUND: usize = 20;

/// A name or a word, as it may stand between backticks.
pub(super) fn word(text: &str) -> String {
    cut(text)
}

/// A value as JSON, short.
pub(super) fn value(value: &Value) -> String {
    cut(&canonical::text(value))
}

/// Where two texts differ, with a little of what they share.
pub(super) fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<_>, Vec<_>) = (before.chars().collect(), after.chars().collect());
    let same = |(left, right): &(&char, &char)| left == right;
    let start = before.iter().zip(&after).take_while(same).count();
    let rest = (before.iter().skip(start).rev()).zip(after.iter().skip(start).rev());
    let end = rest.take_while(same).count();
    let piece = |text: &[char]| {
        let from = start.saturating_sub(AROUND);
        let to = (text.len() - end + AROUND).min(text.len());
        let shown = cut(&text.iter().take(to).skip(from).collect::<String>());
        let open = |there| if there { "…" } else { "" };
        format!("\"{}{shown}{}\"", open(from > 0), open(to < text.len()))
    };
    format!("{} -> {}", piece(&before), piece(&after))
}

/// Writes out all that is invisible or turns the direction of writing.
fn cut(text: &str) -> String {
    let begin: String = text.chars().take(LONGEST).collect();
    let more = if text.chars().nth(LONGEST).is_some() { "…" } else { "" };
    exact(&begin).into_owned() + more
}
