//! The names that somebody may have meant.

use crate::call::name::ToolName;

/// Up to five names that share enough with a wrong one, best first, equals in their own order.
///
/// Compares pairs of letters, so a name costs its length and no more.
pub(crate) fn nearest<'a>(
    wrong: &str,
    names: impl IntoIterator<Item = &'a ToolName>,
) -> Vec<&'a ToolName> {
    near(wrong, names, ToolName::as_str)
}

/// The nearest of other names.
pub(crate) fn nearest_of<'a>(
    wrong: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    near(wrong, names, |name| name).into_iter().next()
}

fn near<'a, T: ?Sized>(
    wrong: &str,
    names: impl IntoIterator<Item = &'a T>,
    text: impl Fn(&T) -> &str,
) -> Vec<&'a T> {
    let wrong = pairs(wrong);
    let mut scored: Vec<_> = names
        .into_iter()
        .map(|name| (likeness(&wrong, &pairs(text(name))), name))
        .filter(|(score, _)| *score >= 40)
        .collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    // Far behind the best one, a name is no help.
    let best = scored.first().map_or(0, |(score, _)| *score);
    let near = scored.into_iter().take_while(|(score, _)| score * 3 >= best * 2);
    near.take(5).map(|(_, name)| name).collect()
}

/// Sorted pairs of neighbouring letters, with the ends marked; 128 at the most.
fn pairs(text: &str) -> Vec<(u8, u8)> {
    let letters = text.bytes().take(127).filter(u8::is_ascii_alphanumeric);
    let mut previous = 0;
    let mut pairs = Vec::with_capacity(text.len().min(128) + 1);
    for letter in letters.map(|letter| letter.to_ascii_lowercase()).chain([0]) {
        pairs.push((previous, letter));
        previous = letter;
    }
    pairs.sort_unstable();
    pairs
}

/// Sørensen-Dice coefficient of two sorted lists, in percent.
fn likeness(left: &[(u8, u8)], right: &[(u8, u8)]) -> usize {
    let (mut l, mut r) = (left.iter().peekable(), right.iter().peekable());
    let mut common = 0;
    while let (Some(a), Some(b)) = (l.peek(), r.peek()) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => drop(l.next()),
            std::cmp::Ordering::Greater => drop(r.next()),
            std::cmp::Ordering::Equal => {
                common += 1;
                l.next();
                r.next();
            }
        }
    }
    200 * common / (left.len() + right.len()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_its_name_and_nonsense_finds_none() {
        let names = ["create_event", "delete_event", "add"].map(|n| ToolName::new(n).unwrap());
        let near = |wrong| nearest(wrong, &names).iter().map(|n| n.as_str()).collect::<Vec<_>>();
        assert_eq!(near("createEvent").first(), Some(&"create_event"));
        assert_eq!(near("creat_evnt").first(), Some(&"create_event"));
        assert_eq!(near("zzz"), Vec::<&str>::new());
        assert_eq!(near(""), Vec::<&str>::new());
    }
}
