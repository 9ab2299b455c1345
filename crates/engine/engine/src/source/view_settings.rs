//! What is wanted of a source, and a list of tools as it wants them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::rules::{Glob, NamedToolset};
use toolcrib_core::{
    AddressPattern, LONGEST_NAME, QuarantineReason, ResourceAddress, SourceError, SourceId,
    Toolset, UnlistedAccess, Validation, ValidationOrigin,
};

use super::tool_override::ToolOverride;
use crate::toolsets::{SharedSplits, ToolsetGrouping, ToolsetSplit, ToolsetSplits, in_groups};

/// What is wanted of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceViewSettings {
    pub id: SourceId,
    pub prefix: String,
    /// How names begin that are another source's, and whose.
    pub foreign: Vec<(String, SourceId)>,
    pub include: Vec<Glob>,
    pub exclude: Vec<Glob>,
    /// How arguments meet the schemas of all of them.
    pub validation: Option<Validation>,
    /// By the full name of the tool.
    pub overrides: BTreeMap<String, ToolOverride>,
    /// Toolsets that are written by hand, of which it may have tools.
    pub named: Arc<[NamedToolset]>,
    /// How its own toolsets are made; `None`: it has none.
    pub grouping: Option<ToolsetGrouping>,
    /// Where a model is asked how to split them; `None`: nowhere.
    pub splits: Option<SharedSplits>,
}

/// Whether a name is to be had by what is included and excluded.
pub fn wants(include: &[Glob], exclude: &[Glob], name: &str) -> bool {
    let matches = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(name));
    (include.is_empty() || matches(include)) && !matches(exclude)
}

impl SourceViewSettings {
    /// What stands before the name of a tool.
    pub(super) fn stem(&self) -> String {
        if self.prefix.is_empty() { String::new() } else { format!("{}__", self.prefix) }
    }

    /// Where a model is asked how to split its toolsets, if it is.
    pub(super) fn asks(&self) -> Option<&ToolsetSplits> {
        let is_wished = self.grouping.is_some_and(|own| own.split == ToolsetSplit::Model);
        self.splits.as_ref().filter(|_| is_wished).map(|splits| &*splits.0)
    }

    /// Whether all tools of the source are wanted, as they are: what is said of a tool by its name
    /// does not hold for another name of it.
    pub(super) fn is_of_all(&self) -> bool {
        let lists = [&self.include, &self.exclude];
        self.prefix.is_empty()
            && self.overrides.is_empty()
            && self.named.is_empty()
            && self.grouping.is_none()
            && lists.iter().all(|globs| globs.is_empty())
    }

    /// Whether a tool, a prompt or an address is to be had, by its name at the source.
    pub(super) fn wants(&self, name: &str) -> bool {
        wants(&self.include, &self.exclude, name)
    }

    /// How far a resource may be asked for that the source does not list: by another spelling of
    /// what is left out it is not had.
    pub(super) fn leave(&self, uri: &str, address: &ResourceAddress) -> UnlistedAccess {
        let named = |globs: &[Glob]| {
            globs.iter().map(|glob| AddressPattern::new(&glob.written())).collect::<Vec<_>>()
        };
        let (included, excluded) = (named(&self.include), named(&self.exclude));
        let is_whole = included.is_empty() || included.iter().any(|glob| glob.is_of_all(""));
        let mut parts = excluded.iter().filter(|glob| glob.may_be_address(""));
        if is_whole && parts.next().is_none() {
            return UnlistedAccess::Any;
        }
        let is_out = excluded.iter().any(|glob| address.may_be("", glob));
        let is_in = address.normal().is_some_and(|normal| self.wants(normal) && self.wants(uri));
        match (is_out, is_in) {
            (false, true) if is_whole => UnlistedAccess::Fitting,
            (false, true) => UnlistedAccess::Named,
            _ => UnlistedAccess::Never,
        }
    }

    /// Whose names begin so, if it is another source.
    pub(super) fn owner(&self, name: &str) -> Option<&SourceId> {
        let taken = self.foreign.iter().find(|(stem, _)| name.starts_with(stem));
        taken.map(|(_, owner)| owner)
    }

    /// The tools as they are wanted.
    pub(super) fn apply(&self, tools: &Toolset) -> Result<Toolset, SourceError> {
        let wanted = tools.filter(|spec| self.wants(spec.name.as_str()));
        let named = self.set_long_apart(&wanted).prefix(&self.prefix).map_err(|error| {
            let message = "a tool cannot have its name: set another `prefix`, or `exclude` it";
            SourceError::new(message).because(error)
        })?;
        let named = self.set_foreign_apart(&named);
        Ok(self.in_toolsets(self.overridden(named)))
    }

    fn overridden(&self, tools: Toolset) -> Toolset {
        if self.overrides.is_empty() && self.validation.is_none() {
            return tools;
        }
        tools.respec(|spec| {
            if let Some(validation) = self.validation {
                (spec.validation, spec.validation_said) = (validation, ValidationOrigin::Source);
            }
            if let Some(over) = self.overrides.get(spec.name.as_str()) {
                over.apply(spec);
            }
        })
    }

    /// The tools with the toolsets that they are in, by what they are now.
    fn in_toolsets(&self, tools: Toolset) -> Toolset {
        let tools = match &self.grouping {
            Some(grouping) => {
                let splits = self.splits.as_ref().map(|splits| &*splits.0);
                in_groups(&tools, &self.id, grouping, splits)
            }
            None => tools,
        };
        if self.named.is_empty() {
            return tools;
        }
        tools.respec(|spec| {
            spec.origin.source = self.id.clone();
            let own: Vec<_> =
                self.named.iter().filter_map(|named| named.membership(spec)).collect();
            spec.toolsets.extend(own);
        })
    }

    /// A name that is legal at the source may be too long behind the prefix: it costs its tool.
    fn set_long_apart(&self, tools: &Toolset) -> Toolset {
        let (stem, most) = (self.stem(), LONGEST_NAME);
        tools.apart(|spec| {
            let is_long = stem.len() + spec.name.as_str().len() > most;
            is_long.then(|| QuarantineReason::Unusable {
                problem: format!(
                    "behind `{stem}` its name is longer than {most} characters: set a shorter \
                     `prefix`, or `exclude` it"
                ),
            })
        })
    }

    /// Which source has a name must not depend on which of them came up: rules, pins and changes
    /// go by names, and a server could take what is permitted to another.
    fn set_foreign_apart(&self, tools: &Toolset) -> Toolset {
        tools.apart(|spec| {
            let owner = self.owner(spec.name.as_str())?;
            Some(QuarantineReason::Unusable {
                problem: format!(
                    "its name belongs to the source `{owner}`: set another `prefix`, or `exclude` it"
                ),
            })
        })
    }
}
