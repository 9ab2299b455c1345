//! The tests within a rule file.

use toolcrib_core::{Caller, ToolSpec};

use super::Rules;
use super::problem::RuleProblem;
use super::verdict_kind::VerdictKind;

/// What a rule file promises of itself.
#[derive(Debug)]
pub(super) struct RuleTest {
    pub(super) line: usize,
    /// Where it begins in the text, in bytes.
    pub(super) at: usize,
    pub(super) tool: ToolSpec,
    pub(super) caller: Caller,
    pub(super) expected: VerdictKind,
}

impl RuleTest {
    /// The problem, if the rules do not keep the promise.
    pub(super) fn run(&self, rules: &Rules) -> Option<RuleProblem> {
        let explanation = rules.explain(&self.caller, &self.tool);
        let got = VerdictKind::of(&explanation.verdict);
        (got != self.expected).then(|| RuleProblem {
            line: self.line,
            at: self.at,
            what: format!(
                "a test expects `{}` and got `{}`: {}",
                self.expected.as_str(),
                got.as_str(),
                explanation.sentence
            ),
            cure: "change the rules or the test".into(),
        })
    }
}
