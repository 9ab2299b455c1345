//! Toolsets that are written by hand, and which names toolsets can have at all.

use std::sync::Arc;

use toolcrib_core::{MembershipReason, ToolSpec, ToolsetInfo, ToolsetMembership};

use super::glob::Glob;
use super::pattern::{PatternFault, PatternField, PatternTerm};
use super::problem::instead;
use super::tool_patterns::{PatternProblem, ToolPatterns};

/// A toolset that is written by hand: the tools that one of its patterns matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedToolset {
    toolset: Arc<ToolsetInfo>,
    patterns: Vec<(Arc<str>, ToolPatterns)>,
}

impl NamedToolset {
    /// `known`: what its patterns may name; none of them is written by hand.
    ///
    /// # Errors
    /// All that is wrong with the patterns.
    pub fn new(
        toolset: ToolsetInfo,
        patterns: &[String],
        known: &ToolsetNames,
    ) -> Result<Self, Vec<PatternProblem>> {
        let (mut read, mut wrong) = (Vec::new(), Vec::new());
        for (index, text) in patterns.iter().enumerate() {
            match ToolPatterns::checked(std::slice::from_ref(text), &|terms| known.unknown(terms)) {
                Ok(pattern) => read.push((text.as_str().into(), pattern)),
                Err(faults) => {
                    wrong.extend(faults.into_iter().map(|fault| PatternProblem { index, ..fault }));
                }
            }
        }
        let toolset = Arc::new(toolset);
        if wrong.is_empty() { Ok(Self { toolset, patterns: read }) } else { Err(wrong) }
    }

    pub fn toolset(&self) -> &Arc<ToolsetInfo> {
        &self.toolset
    }

    /// Whether a tool is in it, which may depend on the sets that its source has made.
    pub fn membership(&self, tool: &ToolSpec) -> Option<ToolsetMembership> {
        let (text, _) = self.patterns.iter().find(|(_, pattern)| pattern.has(tool))?;
        let because = MembershipReason::Pattern(Arc::clone(text));
        Some(ToolsetMembership { toolset: Arc::clone(&self.toolset), because })
    }
}

/// Which toolsets a file has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolsetNames {
    /// Those that are written by hand.
    pub named: Vec<NamedToolset>,
    /// How the ids of the others begin, which only their sources know: `github_`.
    pub stems: Vec<String>,
    /// Ids that no pattern may have here, though they are there.
    pub withheld: Vec<String>,
}

impl ToolsetNames {
    /// Patterns of a file that has these toolsets; all that is wrong is told at once.
    pub fn patterns(&self, texts: &[impl AsRef<str>]) -> Result<ToolPatterns, Vec<PatternProblem>> {
        let read = ToolPatterns::checked(texts, &|terms| self.unknown(terms))?;
        Ok(read.of_any_toolset())
    }

    /// Whether a toolset of this name may be there, as far as the file alone can tell.
    pub fn may_have(&self, id: &str) -> bool {
        self.named.iter().any(|named| named.toolset.id == id) || self.is_of_source(id)
    }

    fn is_of_source(&self, id: &str) -> bool {
        self.stems.iter().any(|stem| id.strip_prefix(stem).is_some_and(|rest| !rest.is_empty()))
    }

    /// The toolset that one of the terms names though no file has it, and the cure.
    pub(super) fn unknown(&self, terms: &[PatternTerm]) -> Option<PatternFault> {
        let named = terms.iter().filter(|term| term.field == PatternField::Toolset);
        let mut exact = named.filter_map(|term| match &term.glob {
            Glob::Exact(id) => Some(&**id),
            // It may come to match.
            Glob::Wild { .. } => None,
        });
        exact.find_map(|id| self.fault(id))
    }

    fn fault(&self, id: &str) -> Option<PatternFault> {
        if self.withheld.iter().any(|withheld| withheld == id) {
            let what = format!("`{id}` is written by hand too, and such a set names no other");
            return Some((what, "write its patterns here".to_owned()));
        }
        if self.may_have(id) {
            return None;
        }
        let named = self.named.iter().map(|named| named.toolset.id.as_str());
        let known: Vec<&str> = named.collect();
        let cure = match (known.as_slice(), self.stems.first()) {
            ([], None) => format!("add `[toolset.{id}]`, or `toolsets` to a source"),
            ([], Some(stem)) => format!("those of sources begin as in `{stem}NAME`"),
            (known, _) => instead(id, known),
        };
        // Of many nobody reads the names.
        let cure = if cure.len() > 400 { "see the `[toolset]` tables".to_owned() } else { cure };
        Some((format!("there is no toolset `{id}`"), cure))
    }
}
