//! One pattern of one rule, and what it decides.

use toolcrib_core::Effect;

use super::pattern::{PatternField, PatternTerm};
use super::verdict_kind::VerdictKind;

/// One pattern of one rule.
#[derive(Debug, Clone)]
pub(super) struct RulePattern {
    /// Place of the rule in the file.
    pub(super) rule: usize,
    pub(super) ruling: VerdictKind,
    /// As it was written, and on which line.
    pub(super) pattern: String,
    pub(super) line: usize,
    /// Of the pattern and of the rule's `when`; all must match.
    pub(super) terms: Vec<PatternTerm>,
}

impl RulePattern {
    /// Whether it asks about or denies some tools, and not others that may do as much.
    pub(super) fn singles_out(&self) -> bool {
        let is_narrow = |term: &PatternTerm| match term.field {
            PatternField::Name => !term.glob.is_any(),
            PatternField::Tag
            | PatternField::Action
            | PatternField::Toolset
            | PatternField::AnyToolset
            | PatternField::Category => true,
            PatternField::Effect => !term.glob.matches(Effect::Destroy.as_str()),
            PatternField::Source
            | PatternField::Scope
            | PatternField::Tenant
            | PatternField::Subject => false,
        };
        self.ruling != VerdictKind::Allow && self.terms.iter().any(is_narrow)
    }
}
