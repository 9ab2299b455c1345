//! Tools under their names, as a value: cloning shares the tools, every method makes a new set.

use std::sync::Arc;

use indexmap::IndexMap;
use indexmap::map::Entry;

use super::spec::ToolSpec;
use crate::call::name::{InvalidName, ToolName};
use crate::catalog::quarantine::QuarantineReason;
use crate::tool::Tool;

/// What stands under a name: the spec that callers see, and the tool that runs.
///
/// A rename or a respec changes the spec alone and costs nothing when the tool is called.
#[derive(Clone)]
pub struct NamedTool {
    pub spec: Arc<ToolSpec>,
    pub tool: Arc<dyn Tool>,
}

/// A set of tools in a fixed order, and those that their source has and nobody may see.
#[derive(Clone, Default)]
pub struct Toolset {
    tools: IndexMap<ToolName, NamedTool>,
    aside: Vec<UnusableTool>,
}

/// A tool that cannot be used as its source has it: it costs itself alone, and is told of.
#[derive(Debug, Clone)]
pub struct UnusableTool {
    /// As far as it is known; its name need not be its own.
    pub spec: Arc<ToolSpec>,
    pub reason: QuarantineReason,
}

/// Two tools of one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "two tools are named `{name}`, of `{first}` and of `{second}`: prefix or rename one of them"
)]
pub struct NameConflict {
    pub name: ToolName,
    pub first: String,
    pub second: String,
}

impl Toolset {
    /// Gathers tools; two of one name are a conflict.
    pub fn of(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Self, NameConflict> {
        let shelved = tools.into_iter().map(|tool| NamedTool { spec: tool.shared_spec(), tool });
        Self::gather(shelved)
    }

    fn gather(shelved: impl IntoIterator<Item = NamedTool>) -> Result<Self, NameConflict> {
        let mut tools = IndexMap::new();
        for shelved in shelved {
            match tools.entry(shelved.spec.name.clone()) {
                Entry::Vacant(place) => {
                    place.insert(shelved);
                }
                Entry::Occupied(taken) => return Err(conflict(taken.get(), &shelved)),
            }
        }
        Ok(Self { tools, aside: Vec::new() })
    }

    /// Keeps the tools that the test accepts; the others are gone, not hidden.
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&ToolSpec) -> bool) -> Self {
        let kept = self.tools.iter().filter(|(_, shelved)| keep(&shelved.spec));
        let aside = self.aside.iter().filter(|aside| keep(&aside.spec)).cloned().collect();
        let tools = kept.map(|(name, shelved)| (name.clone(), shelved.clone())).collect();
        Self { tools, aside }
    }

    /// The same set, with these beside it that cannot be used.
    #[must_use]
    pub fn with_aside(mut self, aside: impl IntoIterator<Item = UnusableTool>) -> Self {
        self.aside.extend(aside);
        self
    }

    /// Puts aside the tools for which a reason is given.
    #[must_use]
    pub fn apart(&self, reason: impl Fn(&ToolSpec) -> Option<QuarantineReason>) -> Self {
        let mut apart = Self { tools: IndexMap::new(), aside: self.aside.clone() };
        for (name, shelved) in &self.tools {
            match reason(&shelved.spec) {
                Some(reason) => {
                    apart.aside.push(UnusableTool { spec: Arc::clone(&shelved.spec), reason });
                }
                None => _ = apart.tools.insert(name.clone(), shelved.clone()),
            }
        }
        apart
    }

    /// What cannot be used, and why.
    pub fn aside(&self) -> &[UnusableTool] {
        &self.aside
    }

    /// Puts `prefix__` before every name, and before the names of companions within the set.
    pub fn prefix(&self, prefix: &str) -> Result<Self, RenameError> {
        if prefix.is_empty() {
            return Ok(self.clone());
        }
        self.rename(|name| Some(format!("{prefix}__{name}")))
    }

    /// Gives new names: `None` keeps the old one. Companions within the set follow.
    pub fn rename(&self, new: impl Fn(&ToolName) -> Option<String>) -> Result<Self, RenameError> {
        let mut names = IndexMap::with_capacity(self.tools.len());
        for name in self.tools.keys() {
            if let Some(new) = new(name) {
                names.insert(name.clone(), ToolName::new(new)?);
            }
        }
        let renamed = self.tools.values().map(|shelved| shelved.renamed(&names));
        Ok(Self::gather(renamed)?.with_aside(self.aside.iter().cloned()))
    }

    /// Changes what callers see of the tools, but for their names: those are `rename`'s.
    #[must_use]
    pub fn respec(&self, edit: impl Fn(&mut ToolSpec)) -> Self {
        let edited = self.tools.iter().map(|(name, shelved)| {
            let mut spec = ToolSpec::clone(&shelved.spec);
            edit(&mut spec);
            spec.name = name.clone();
            (name.clone(), NamedTool { spec: Arc::new(spec), tool: Arc::clone(&shelved.tool) })
        });
        Self { tools: edited.collect(), aside: self.aside.clone() }
    }

    /// Has a person asked before each call of the tools for which a reason is given.
    #[must_use]
    pub fn approval_required(&self, reason: impl Fn(&ToolSpec) -> Option<String>) -> Self {
        self.respec(|spec| {
            if let Some(reason) = reason(spec) {
                spec.approval = Some(reason);
            }
        })
    }

    /// Both sets, this one first; a name in both is a conflict.
    pub fn merge(&self, other: &Self) -> Result<Self, NameConflict> {
        let merged = Self::gather(self.tools.values().chain(other.tools.values()).cloned())?;
        Ok(merged.with_aside(self.aside.iter().chain(&other.aside).cloned()))
    }

    /// The same tools with nothing hidden in their texts, and the names of those that were changed.
    pub fn unhidden(&self) -> (Self, Vec<ToolName>) {
        let mut changed = Vec::new();
        let mut tools = self.tools.clone();
        for (name, shelved) in &mut tools {
            let mut spec = ToolSpec::clone(&shelved.spec);
            if spec.unhide() {
                shelved.spec = Arc::new(spec);
                changed.push(name.clone());
            }
        }
        (Self { tools, aside: self.aside.clone() }, changed)
    }

    pub fn get(&self, name: &str) -> Option<&NamedTool> {
        self.tools.get(name)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &NamedTool> {
        self.tools.values()
    }

    pub fn len(&self) -> usize {
        self.tools.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

impl NamedTool {
    fn renamed(&self, names: &IndexMap<ToolName, ToolName>) -> Self {
        let mut spec = ToolSpec::clone(&self.spec);
        if let Some(new) = names.get(&spec.name) {
            let old = std::mem::replace(&mut spec.name, new.clone());
            spec.origin.name.get_or_insert_with(|| old.into());
        }
        for companion in &mut spec.traits.companions {
            if let Some(new) = names.get(companion) {
                *companion = new.clone();
            }
        }
        Self { spec: Arc::new(spec), tool: Arc::clone(&self.tool) }
    }
}

/// Why a set could not be renamed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    #[error(transparent)]
    Name(#[from] InvalidName),
    #[error(transparent)]
    Conflict(#[from] NameConflict),
}

fn conflict(first: &NamedTool, second: &NamedTool) -> NameConflict {
    NameConflict {
        name: first.spec.name.clone(),
        first: owner(&first.spec),
        second: owner(&second.spec),
    }
}

/// Where a tool comes from, for people: `github`, or `github (as issues/list)`.
pub(crate) fn owner(spec: &ToolSpec) -> String {
    match &spec.origin.name {
        Some(name) => format!("{} (as {name})", spec.origin.source),
        None => spec.origin.source.to_string(),
    }
}
