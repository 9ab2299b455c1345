//! What is wrong with a rule file: everything at once, each with its line and its cure.

use std::fmt;

use serde::Serialize;

/// One fault of a rule file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleProblem {
    /// Counted from 1.
    pub line: usize,
    /// Where it begins in the text, in bytes.
    #[serde(skip)]
    pub at: usize,
    pub what: String,
    pub cure: String,
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.what, self.cure)
    }
}

/// Every fault of a rule file, in the order of its lines; there is at least one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RuleProblems(Vec<RuleProblem>);

impl RuleProblems {
    pub(super) fn or_none(mut problems: Vec<RuleProblem>) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort_by_key(|problem| problem.line);
        Err(Self(problems))
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &RuleProblem> {
        self.0.iter()
    }
}

impl fmt::Display for RuleProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, problem) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for RuleProblems {}

/// What to write instead of a word that is none of the known ones.
pub fn instead(wrong: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|word| (distance(wrong, word), word))
        .filter(|(distance, word)| *distance <= word.len().div_ceil(3))
        .min_by_key(|(distance, _)| *distance);
    match near {
        Some((_, word)) => format!("did you mean `{word}`?"),
        None => format!("use one of `{}`", known.join("`, `")),
    }
}

/// Letters to put in, take out or change, and neighbours to swap; of a long word the start counts.
fn distance(left: &str, right: &str) -> usize {
    let letters = |word: &str| word.chars().take(32).collect::<Vec<_>>();
    let (left, right) = (letters(left), letters(right));
    let mut above: Vec<usize> = (0..=right.len()).collect();
    // For the first row there is nothing to swap.
    let mut two_above: Vec<usize> = Vec::new();
    for (place, letter) in left.iter().enumerate() {
        let mut row = vec![place + 1];
        let mut before = place + 1;
        for (column, other) in right.iter().enumerate() {
            let at =
                |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX / 2);
            let changed = at(&above, column) + usize::from(other != letter);
            before = changed.min(at(&above, column + 1) + 1).min(before + 1);
            let neighbour = |word: &[char], at: usize| Some(*word.get(at.checked_sub(1)?)?);
            let is_swap = neighbour(&left, place) == Some(*other)
                && neighbour(&right, column) == Some(*letter);
            if is_swap {
                before = before.min(at(&two_above, column - 1) + 1);
            }
            row.push(before);
        }
        two_above = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or_default()
}
