//! Why a tool is allowed, asked about or denied: for operators, rule by rule.

use std::fmt;

use serde::Serialize;
use toolcrib_core::{ToolName, Verdict};

use super::verdict_kind::VerdictKind;

/// A verdict with all that speaks for and against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// What the caller is told.
    pub verdict: Verdict,
    /// The strictest first, then in the order of the file.
    pub matched: Vec<MatchedPattern>,
    /// The whole in one sentence, which is what `Display` writes.
    pub sentence: String,
}

/// A pattern that matches the tool and the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchedPattern {
    /// The name of the rule, or where it stands.
    pub rule: String,
    /// As it was written.
    pub pattern: String,
    pub verdict: VerdictKind,
}

/// A pattern as it stands in its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrittenPattern {
    /// The name of the rule, or where it stands.
    pub rule: String,
    pub pattern: String,
    pub verdict: VerdictKind,
    /// Counted from 1.
    pub line: usize,
}

impl Explanation {
    pub(super) fn new(tool: &ToolName, verdict: Verdict, matched: Vec<MatchedPattern>) -> Self {
        let ruling = VerdictKind::of(&verdict);
        let decided = match ruling {
            VerdictKind::Allow => "allowed",
            VerdictKind::Ask => "asked about",
            VerdictKind::Deny => "denied",
        };
        let list = |deciding: bool| {
            let entries = matched.iter().filter(|entry| (entry.verdict == ruling) == deciding);
            entries.map(MatchedPattern::to_string).collect::<Vec<_>>().join(", ")
        };
        let (deciding, outweighed) = (list(true), list(false));
        let mut sentence = format!("`{tool}` is {decided}: ");
        sentence += if deciding.is_empty() { "no rule matches it" } else { &deciding };
        if !outweighed.is_empty() {
            sentence += "; stricter than ";
            sentence += &outweighed;
        }
        Self { verdict, matched, sentence }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl fmt::Display for MatchedPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has `{}` under `{}`", self.rule, self.pattern, self.verdict.as_str())
    }
}
