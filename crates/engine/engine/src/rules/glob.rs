//! `*` and `?` over a text: at most pattern length times text length steps, whatever both are.

/// A compiled glob: `*` is any run of characters, `?` is one, all else is itself, case and all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Glob {
    Exact(Box<str>),
    /// The middle starts and ends with a wildcard; most texts fail at the plain ends before it.
    Wild {
        prefix: Box<str>,
        middle: Box<[char]>,
        suffix: Box<str>,
    },
}

impl Glob {
    pub fn new(pattern: &str) -> Self {
        const WILDCARDS: [char; 2] = ['*', '?'];
        let rest = pattern.trim_start_matches(|letter| !WILDCARDS.contains(&letter));
        if rest.is_empty() {
            return Self::Exact(pattern.into());
        }
        let middle = rest.trim_end_matches(|letter| !WILDCARDS.contains(&letter));
        Self::Wild {
            prefix: pattern.strip_suffix(rest).unwrap_or_default().into(),
            middle: middle.chars().collect(),
            suffix: rest.strip_prefix(middle).unwrap_or_default().into(),
        }
    }

    /// As it was written.
    pub fn written(&self) -> String {
        match self {
            Self::Exact(exact) => exact.to_string(),
            Self::Wild { prefix, middle, suffix } => {
                format!("{prefix}{}{suffix}", middle.iter().collect::<String>())
            }
        }
    }

    /// Whether it is `*`.
    pub(super) fn is_any(&self) -> bool {
        *self == Self::new("*")
    }

    pub fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exact(exact) => **exact == *text,
            Self::Wild { prefix, middle, suffix } => text
                .strip_prefix(&**prefix)
                .and_then(|rest| rest.strip_suffix(&**suffix))
                .is_some_and(|rest| wild(middle, rest)),
        }
    }
}

/// Only the last star ever takes more: what stands before it is matched as early as can be, and
/// an earlier star that took more would leave less for the rest.
fn wild(pattern: &[char], text: &str) -> bool {
    let mut rest = text.chars();
    let mut at = 0;
    let mut star = None;
    loop {
        if pattern.get(at) == Some(&'*') {
            at += 1;
            if at == pattern.len() {
                return true;
            }
            star = Some((at, rest.clone()));
            continue;
        }
        let Some(letter) = rest.next() else {
            return at == pattern.len();
        };
        if pattern.get(at).is_some_and(|wanted| *wanted == '?' || *wanted == letter) {
            at += 1;
            continue;
        }
        let Some((after_star, taken)) = &mut star else {
            return false;
        };
        taken.next();
        (at, rest) = (*after_star, taken.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    /// The definition, as slow as it is plain.
    fn plainly(pattern: &[char], text: &[char]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, rest) => rest.is_none(),
            (Some(('*', after)), rest) => {
                plainly(after, text) || rest.is_some_and(|(_, rest)| plainly(pattern, rest))
            }
            (Some(_), None) => false,
            (Some((wanted, after)), Some((letter, rest))) => {
                (*wanted == '?' || wanted == letter) && plainly(after, rest)
            }
        }
    }

    proptest! {
        #[test]
        fn a_glob_means_what_its_definition_says(pattern in "[ab*?é]{0,8}", text in "[abé]{0,10}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(
                Glob::new(&pattern).matches(&text),
                plainly(&letters(&pattern), &letters(&text))
            );
        }
    }

    #[test]
    fn many_stars_on_a_long_text_cost_a_moment() {
        let glob = Glob::new(&format!("{}b", "*a".repeat(100)));
        let text = "a".repeat(100_000);
        let start = Instant::now();
        assert!(!glob.matches(&text));
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
}
