//! Where two values differ, line by line.

use serde::Serialize;
use serde_json::Value;

/// Lines of each side that are compared.
const MOST_LINES: usize = 400;
/// Letters of one line.
const LONGEST_LINE: usize = 4_000;
/// Lines that both have and that are told around what differs.
const AROUND: usize = 3;

/// One line of one side, or of both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DifferenceLine {
    pub side: LineSide,
    pub text: String,
    /// Which letters differ from the line on the other side: from where, and up to where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<(usize, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LineSide {
    Both,
    Before,
    After,
    /// Lines that both have and that are not told.
    Skipped,
}

impl DifferenceLine {
    fn of(side: LineSide, text: &str) -> Self {
        Self { side, text: text.to_owned(), mark: None }
    }
}

/// The lines, and whether some are missing.
pub(super) fn lines(before: &Value, after: &Value) -> (Vec<DifferenceLine>, bool) {
    let ((before, is_cut), (after, is_also_cut)) = (written(before), written(after));
    let start = before.iter().zip(&after).take_while(|(left, right)| left == right).count();
    let (old, new) =
        (before.get(start..).unwrap_or_default(), after.get(start..).unwrap_or_default());
    let end =
        old.iter().rev().zip(new.iter().rev()).take_while(|(left, right)| left == right).count();
    let old = old.get(..old.len() - end).unwrap_or_default();
    let new = new.get(..new.len() - end).unwrap_or_default();
    let both = |text: &String| DifferenceLine::of(LineSide::Both, text);
    let mut all: Vec<_> = before.iter().take(start).map(both).collect();
    all.extend(changed(old, new));
    all.extend(after.iter().skip(after.len() - end).map(both));
    (shortened(all), is_cut || is_also_cut)
}

/// A value as people read it, in lines.
fn written(value: &Value) -> (Vec<String>, bool) {
    let text = match value {
        Value::Null => return (Vec::new(), false),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("{value:#}")
        }
    };
    let mut is_cut = text.split('\n').count() > MOST_LINES;
    let lines = text.split('\n').take(MOST_LINES).map(|line| {
        is_cut |= line.chars().nth(LONGEST_LINE).is_some();
        line.chars().take(LONGEST_LINE).collect()
    });
    (lines.collect::<Vec<_>>(), is_cut)
}

/// By the longest run of lines that both have.
fn changed(old: &[String], new: &[String]) -> Vec<DifferenceLine> {
    let wide = new.len() + 1;
    let mut longest = vec![0_u16; (old.len() + 1) * wide];
    let at = |longest: &[u16], row: usize, column: usize| {
        longest.get(row * wide + column).copied().unwrap_or_default()
    };
    for (row, left) in old.iter().enumerate().rev() {
        for (column, right) in new.iter().enumerate().rev() {
            let length = if left == right {
                at(&longest, row + 1, column + 1) + 1
            } else {
                at(&longest, row + 1, column).max(at(&longest, row, column + 1))
            };
            if let Some(cell) = longest.get_mut(row * wide + column) {
                *cell = length;
            }
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut all = Vec::new();
    let (mut gone, mut came) = (Vec::new(), Vec::new());
    while row < old.len() || column < new.len() {
        match (old.get(row), new.get(column)) {
            (Some(left), Some(right)) if left == right => {
                all.append(&mut paired(&mut gone, &mut came));
                all.push(DifferenceLine::of(LineSide::Both, left));
                (row, column) = (row + 1, column + 1);
            }
            (Some(left), right) => {
                if right.is_none() || at(&longest, row + 1, column) >= at(&longest, row, column + 1)
                {
                    gone.push(left.as_str());
                    row += 1;
                } else {
                    came.extend(right.map(String::as_str));
                    column += 1;
                }
            }
            (None, right) => {
                came.extend(right.map(String::as_str));
                column += 1;
            }
        }
    }
    all.append(&mut paired(&mut gone, &mut came));
    all
}

/// Lines that went and came at one place; where they are as many, what differs in each is marked.
fn paired(gone: &mut Vec<&str>, came: &mut Vec<&str>) -> Vec<DifferenceLine> {
    let (old, new) = (std::mem::take(gone), std::mem::take(came));
    let is_paired = old.len() == new.len();
    let mark = |own: &str, other: Option<&&str>| {
        let other = other.filter(|_| is_paired)?;
        let (own, other): (Vec<_>, Vec<_>) = (own.chars().collect(), other.chars().collect());
        let same = |(left, right): &(&char, &char)| left == right;
        let start = own.iter().zip(&other).take_while(same).count();
        let rest = own.iter().skip(start).rev().zip(other.iter().skip(start).rev());
        let end = rest.take_while(same).count();
        Some((start, own.len() - end))
    };
    let line = |side, text: &&str, other: Option<&&str>| DifferenceLine {
        side,
        text: (*text).to_owned(),
        mark: mark(text, other),
    };
    let before = old.iter().enumerate().map(|(at, text)| line(LineSide::Before, text, new.get(at)));
    let after = new.iter().enumerate().map(|(at, text)| line(LineSide::After, text, old.get(at)));
    before.chain(after).collect()
}

/// Without the lines that stand far from what differs.
fn shortened(all: Vec<DifferenceLine>) -> Vec<DifferenceLine> {
    let other: Vec<_> = all.iter().map(|line| line.side != LineSide::Both).collect();
    let is_near = |at: usize| {
        let from = at.saturating_sub(AROUND);
        other.iter().skip(from).take(at + AROUND + 1 - from).any(|is_other| *is_other)
    };
    let mut kept: Vec<DifferenceLine> = Vec::new();
    for (at, line) in all.into_iter().enumerate() {
        if is_near(at) {
            kept.push(line);
        } else if kept.last().is_none_or(|last| last.side != LineSide::Skipped) {
            kept.push(DifferenceLine::of(LineSide::Skipped, ""));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Each line with its sign, and what is marked in it.
    fn told(before: &Value, after: &Value) -> Vec<String> {
        let sign = |line: DifferenceLine| {
            let sign = match line.side {
                LineSide::Both => ' ',
                LineSide::Before => '-',
                LineSide::After => '+',
                LineSide::Skipped => '~',
            };
            let marked = line.mark.map(|(from, to)| {
                let marked: String = line.text.chars().take(to).skip(from).collect();
                format!(" [{marked}]")
            });
            format!("{sign}{}{}", line.text, marked.unwrap_or_default())
        };
        lines(before, after).0.into_iter().map(sign).collect()
    }

    #[test]
    fn lines_that_differ_are_told_with_their_marks_and_some_around_them() {
        assert_eq!(
            told(&json!("Says hello."), &json!("Says höllo!")),
            ["-Says hello. [ello.]", "+Says höllo! [öllo!]"]
        );
        let letters =
            |letters: &str| json!(letters.chars().map(String::from).collect::<Vec<_>>().join("\n"));
        assert_eq!(
            told(&letters("abcdefghijk"), &letters("abcdeXghijkl")),
            ["~", " c", " d", " e", "-f [f]", "+X [X]", " g", " h", " i", " j", " k", "+l"]
        );
        assert_eq!(told(&json!(null), &json!({ "a": 1 })), ["+{", "+  \"a\": 1", "+}"]);
        assert_eq!(told(&json!("a\nb\nc"), &json!("c")), ["-a", "-b", " c"]);
        assert_eq!(told(&json!(true), &json!(false)), ["-true [tru]", "+false [fals]"]);
    }

    #[test]
    fn long_values_are_cut_and_say_so() {
        let long = |letter: &str| json!(letter.repeat(LONGEST_LINE + 1));
        let (told, is_cut) = lines(&long("a"), &long("b"));
        assert!(is_cut && told.iter().all(|line| line.text.len() == LONGEST_LINE));
        let many = |word: &str| json!(format!("{word}\n").repeat(MOST_LINES + 1));
        let (told, is_cut) = lines(&many("a"), &many("b"));
        assert!(is_cut && told.len() == 2 * MOST_LINES);
    }
}
