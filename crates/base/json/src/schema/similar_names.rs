//! Which known name an unknown one was meant to be.

/// Known names that are compared; who has more is not helped by a guess.
const COMPARED: usize = 1_000;

/// The nearest of the known names, if one is near enough to be meant.
pub(super) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let name = plain(name);
    let length = name.chars().count();
    let allowed = length.div_ceil(4).min(3);
    let distance_to = |known: &'n str| {
        let plain_known = plain(known);
        let is_near = plain_known.chars().count().abs_diff(length) <= allowed;
        is_near.then(|| (distance(&name, &plain_known), known))
    };
    let distances = known.into_iter().take(COMPARED).filter_map(distance_to);
    let near = distances.filter(|(distance, _)| *distance <= allowed);
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// A name without case and without the signs that join words.
pub(super) fn plain(name: &str) -> String {
    let joins = |character: &char| matches!(character, '_' | '-' | ' ' | '.');
    name.trim().chars().filter(|character| !joins(character)).flat_map(char::to_lowercase).collect()
}

/// Edits between two names: insert, delete, replace, or swap of neighbours.
/// Longer names are cut, so that a stranger's name costs little.
fn distance(left: &str, right: &str) -> usize {
    const LONGEST: usize = 64;
    let left: Vec<char> = left.chars().take(LONGEST).collect();
    let right: Vec<char> = right.chars().take(LONGEST).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, character) in left.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let at =
                |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best = at(&above, column) + usize::from(character != other);
            best = best.min(at(&above, column + 1) + 1).min(at(&line, column) + 1);
            let previous = |letters: &[char], index: usize| {
                index.checked_sub(1).and_then(|index| letters.get(index)).copied()
            };
            if previous(&left, row) == Some(*other) && previous(&right, column) == Some(*character)
            {
                best = best.min(at(&before, column - 1) + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or_default()
}
