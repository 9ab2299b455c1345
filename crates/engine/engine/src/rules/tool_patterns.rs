//! Patterns without a verdict: a list of tools.

use toolcrib_core::{Caller, ToolSpec};

use super::pattern::{self, PatternField, PatternTerm};

/// Patterns as rules have them, of which one must match; those of a caller are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolPatterns(Vec<Vec<PatternTerm>>);

/// What is wrong with one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternProblem {
    /// Its place in the list, from zero.
    pub index: usize,
    pub what: String,
    pub cure: String,
}

impl ToolPatterns {
    /// All that is wrong is told at once.
    pub fn read(texts: &[impl AsRef<str>]) -> Result<Self, Vec<PatternProblem>> {
        let (mut read, mut wrong) = (Vec::new(), Vec::new());
        for (index, text) in texts.iter().enumerate() {
            let terms = pattern::read(text.as_ref()).and_then(|terms| {
                let of_caller = |term: &&PatternTerm| PatternField::OF_CALLER.contains(&term.field);
                match terms.iter().find(of_caller) {
                    None => Ok(terms),
                    Some(term) => Err((
                        format!("`{}` is of the caller, and these are tools", term.field.as_str()),
                        "name tools, tags, actions, categories, sources or effects".to_owned(),
                    )),
                }
            });
            match terms {
                Ok(terms) => read.push(terms),
                Err((what, cure)) => wrong.push(PatternProblem { index, what, cure }),
            }
        }
        if wrong.is_empty() { Ok(Self(read)) } else { Err(wrong) }
    }

    /// Whether one of them matches a tool.
    pub fn has(&self, tool: &ToolSpec) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let nobody = Caller::local();
        self.0.iter().any(|terms| terms.iter().all(|term| term.matches(&nobody, tool)))
    }
}
