//! How two texts differ, line by line, in the form that `patch` takes.

use std::fmt::Write as _;

/// Lines that stand around what differs.
const AROUND: usize = 3;
/// So many lines that come and go are told apart; of more, all between is told as new.
const MOST: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineChange {
    Same,
    Gone,
    New,
}

/// Nothing, if both are the same.
pub(super) fn unified_diff(name: &str, before: &str, after: &str) -> String {
    let (old, new) = (lines(before), lines(after));
    let changes = changes(&old, &new);
    let mut told = String::new();
    let mut rows = rows(&changes, (&old, &new));
    let is_other = |row: &DiffLine<'_>| row.change != LineChange::Same;
    while let Some(first) = rows.iter().position(is_other) {
        let from = first.saturating_sub(AROUND);
        let mut last = first;
        for (place, row) in rows.iter().enumerate().skip(first) {
            if is_other(row) {
                last = place;
            } else if place > last + 2 * AROUND {
                break;
            }
        }
        let to = (last + AROUND + 1).min(rows.len());
        if told.is_empty() {
            let _ = write!(told, "--- a/{name}\n+++ b/{name}\n");
        }
        if let Some(hunk) = rows.get(from..to) {
            tell(hunk, &mut told);
        }
        rows.drain(..to);
    }
    told
}

/// With their ends, so that a last line without one is another than one with it.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

struct DiffLine<'t> {
    change: LineChange,
    text: &'t str,
    /// How many lines of both texts stand before it.
    before: (usize, usize),
}

fn rows<'t>(changes: &[LineChange], (old, new): (&[&'t str], &[&'t str])) -> Vec<DiffLine<'t>> {
    let (mut at, mut rows) = ((0, 0), Vec::with_capacity(changes.len()));
    for change in changes {
        let text = match change {
            LineChange::Same | LineChange::Gone => old.get(at.0),
            LineChange::New => new.get(at.1),
        };
        rows.push(DiffLine {
            change: *change,
            text: text.copied().unwrap_or_default(),
            before: at,
        });
        at.0 += usize::from(*change != LineChange::New);
        at.1 += usize::from(*change != LineChange::Gone);
    }
    rows
}

fn tell(hunk: &[DiffLine<'_>], told: &mut String) {
    let Some(first) = hunk.first() else { return };
    let count = |not: LineChange| hunk.iter().filter(|row| row.change != not).count();
    let place = |before: usize, count: usize| {
        // A text without lines begins at none.
        let from = if count == 0 { before } else { before + 1 };
        if count == 1 { from.to_string() } else { format!("{from},{count}") }
    };
    let old = place(first.before.0, count(LineChange::New));
    let new = place(first.before.1, count(LineChange::Gone));
    let _ = writeln!(told, "@@ -{old} +{new} @@");
    for row in hunk {
        told.push(match row.change {
            LineChange::Same => ' ',
            LineChange::Gone => '-',
            LineChange::New => '+',
        });
        told.push_str(row.text);
        if !row.text.ends_with('\n') {
            told.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn changes(old: &[&str], new: &[&str]) -> Vec<LineChange> {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (old.get(same..).unwrap_or_default(), new.get(same..).unwrap_or_default());
    let ends = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let old = old.get(..old.len() - ends).unwrap_or_default();
    let new = new.get(..new.len() - ends).unwrap_or_default();
    let mut all = vec![LineChange::Same; same];
    all.extend(shortest(old, new).unwrap_or_else(|| {
        let gone = std::iter::repeat_n(LineChange::Gone, old.len());
        gone.chain(std::iter::repeat_n(LineChange::New, new.len())).collect()
    }));
    all.extend(std::iter::repeat_n(LineChange::Same, ends));
    all
}

/// The fewest lines that come and go; `None`: there are too many (Myers, 1986).
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<LineChange>> {
    let middle = MOST + 1;
    let mut reached = vec![0_usize; 2 * middle + 1];
    let mut trace: Vec<Vec<usize>> = Vec::new();
    for steps in 0..=MOST {
        trace.push(reached.get(middle - steps..=middle + steps)?.to_vec());
        for diagonal in (middle - steps..=middle + steps).step_by(2) {
            let mut x = next(&reached, diagonal, (middle, steps));
            let mut y = (x + middle).checked_sub(diagonal);
            while let Some(line) = y
                && old.get(x).is_some_and(|text| new.get(line) == Some(text))
            {
                x += 1;
                y = Some(line + 1);
            }
            *reached.get_mut(diagonal)? = x;
            if x >= old.len() && y.is_some_and(|y| y >= new.len()) {
                return Some(back(&trace, (old.len(), new.len()), middle));
            }
        }
    }
    None
}

/// How far a diagonal is reached by one more step.
fn next(reached: &[usize], diagonal: usize, (middle, steps): (usize, usize)) -> usize {
    let at = |place: usize| reached.get(place).copied().unwrap_or(0);
    let is_lowest = diagonal == middle - steps;
    if is_lowest || (diagonal != middle + steps && at(diagonal - 1) < at(diagonal + 1)) {
        at(diagonal + 1)
    } else {
        at(diagonal - 1) + 1
    }
}

/// The way that led to the end, from the traces of each step.
fn back(trace: &[Vec<usize>], end: (usize, usize), middle: usize) -> Vec<LineChange> {
    let (mut x, mut y) = end;
    let mut way = Vec::new();
    for (steps, before) in trace.iter().enumerate().rev() {
        let diagonal = x + middle - y;
        let low = middle - steps;
        let at = |place: usize| place.checked_sub(low).and_then(|at| before.get(at)).copied();
        let (lower, upper) = (at(diagonal.wrapping_sub(1)), at(diagonal + 1));
        let goes_down = diagonal == low
            || (diagonal != middle + steps && lower.unwrap_or(0) < upper.unwrap_or(0));
        let from = if goes_down { diagonal + 1 } else { diagonal - 1 };
        let from_x = at(from).unwrap_or(0);
        let from_y = (from_x + middle).saturating_sub(from);
        let start = if steps == 0 { (0, 0) } else { (from_x, from_y) };
        let after = match (steps, goes_down) {
            (0, _) => start,
            (_, true) => (start.0, start.1 + 1),
            (_, false) => (start.0 + 1, start.1),
        };
        while x > after.0 && y > after.1 {
            way.push(LineChange::Same);
            (x, y) = (x - 1, y - 1);
        }
        if steps > 0 {
            way.push(if goes_down { LineChange::New } else { LineChange::Gone });
            (x, y) = start;
        }
    }
    way.reverse();
    way
}

#[cfg(test)]
mod tests;
