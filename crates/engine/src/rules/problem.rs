//! What is wrong with a rule file: everything at once, each with its line and its cure.

use std::fmt;

use serde::Serialize;

/// One fault of a rule file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    /// Where it begins in the text, in bytes.
    #[serde(skip)]
    pub at: usize,
    pub what: String,
    pub cure: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.what, self.cure)
    }
}

/// Every fault of a rule file, in the order of its lines; there is at least one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems(Vec<Problem>);

impl Problems {
    pub(super) fn or_none(mut problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort_by_key(|problem| problem.line);
        Err(Self(problems))
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
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

impl std::error::Error for Problems {}

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

/// Letters to put in, take out or change (Levenshtein); of a long word the start counts.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(32).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (place, letter) in left.chars().take(32).enumerate() {
        let mut next = vec![place + 1];
        let mut before = place + 1;
        for ((other, diagonal), above) in right.iter().zip(&row).zip(row.iter().skip(1)) {
            before = (diagonal + usize::from(*other != letter)).min(above + 1).min(before + 1);
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
