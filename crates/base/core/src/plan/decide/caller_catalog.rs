//! What a caller may know of a catalog.

use std::collections::BTreeSet;

use crate::call::caller::Caller;
use crate::call::name::ToolName;
use crate::catalog::{Catalog, CatalogTool};
use crate::plan::similar_names::{nearest, nearest_of};
use crate::plan::visibility::{ExclusionReason, Visibility};
use crate::plan::warning::PlanWarning;
use crate::policy::Policy;
use crate::tool::membership::TOOLSET_SELECTOR;

/// Tools among which a name is looked for that somebody may have meant.
const MOST_NAMES: usize = 2_000;

/// The catalog as the caller may know it: a tool that policy denies is told apart from no tool by
/// nobody, whatever else keeps it out.
pub(super) struct CallerCatalog<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) standings: &'a [Visibility],
    pub(super) caller: &'a Caller,
    pub(super) policy: &'a dyn Policy,
}

impl<'a> CallerCatalog<'a> {
    pub(super) fn get(&self, name: &str) -> Option<(&'a CatalogTool, Visibility)> {
        let place = self.catalog.place(name)?;
        let standing = *self.standings.get(place as usize)?;
        self.catalog.at(place).filter(|tool| self.exists(tool, standing)).map(|t| (t, standing))
    }

    fn exists(&self, tool: &CatalogTool, standing: Visibility) -> bool {
        match standing {
            Visibility::Out(ExclusionReason::Denied) => false,
            // Policy comes after these rules and was not asked yet.
            Visibility::Out(
                ExclusionReason::DisabledByAdmin | ExclusionReason::DisabledForRequest,
            ) => self.policy.sees(self.caller, &tool.spec),
            Visibility::Visible { .. } | Visibility::Out(_) => true,
        }
    }

    /// Why a name that is to be disabled disables nothing.
    pub(super) fn unknown(&self, name: &str) -> Option<PlanWarning> {
        if self.get(name).is_some() {
            return None;
        }
        match name.strip_prefix(TOOLSET_SELECTOR) {
            None => Some(PlanWarning::UnknownDisabled { name: name.to_owned() }),
            Some(toolset) if self.has_toolset(toolset) => None,
            Some(toolset) => Some(self.no_toolset(toolset)),
        }
    }

    fn tools(&self) -> impl Iterator<Item = &'a CatalogTool> {
        let tools = self.catalog.tools().iter().zip(self.standings);
        tools.filter(|(tool, standing)| self.exists(tool, **standing)).map(|(tool, _)| tool)
    }

    pub(super) fn has_toolset(&self, toolset: &str) -> bool {
        self.tools().any(|tool| tool.spec.is_in(toolset))
    }

    pub(super) fn no_toolset(&self, toolset: &str) -> PlanWarning {
        let known = self.tools().take(MOST_NAMES).flat_map(|tool| &tool.spec.toolsets);
        let known: BTreeSet<&str> =
            known.map(|membership| membership.toolset.id.as_str()).collect();
        let nearest = nearest_of(toolset, known).map(str::to_owned);
        PlanWarning::UnknownToolset { name: toolset.to_owned(), nearest }
    }

    pub(super) fn nearest(&self, wrong: &str) -> Option<ToolName> {
        let names = self.tools().map(|tool| &tool.spec.name).take(MOST_NAMES);
        nearest(wrong, names).first().map(|name| (*name).clone())
    }
}

pub(super) fn passes(standings: &[Visibility], place: u32) -> bool {
    matches!(standings.get(place as usize), Some(Visibility::Visible { .. }))
}
