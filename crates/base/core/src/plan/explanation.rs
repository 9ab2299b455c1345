//! The reason why a tool is in or out of a plan.

use serde::Serialize;

use super::presentation::MetaTool;
use super::tools::Plan;
use super::visibility::{ExclusionReason, Exposure, InclusionReason, Visibility};
use crate::call::name::{SourceId, ToolName};
use crate::catalog::{CatalogTool, QuarantinedTool};
use crate::tool::spec::ToolSpec;

/// The reason of one tool, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolExplanation {
    pub tool: ToolName,
    pub source: SourceId,
    pub visible: bool,
    /// How much a model is shown of it; `None`: it is out.
    pub exposure: Option<Exposure>,
    pub forced: bool,
    pub stale: bool,
    /// A stable word: `chosen`, `not_chosen`, `quarantined`, ...
    pub rule: &'static str,
    /// The reason as a sentence.
    pub because: String,
}

impl ToolExplanation {
    pub(super) fn listed(
        plan: &Plan,
        tool: &CatalogTool,
        standing: Visibility,
        forced: bool,
    ) -> Self {
        let (rule, mut because) = standing.in_words(plan);
        because.push_str(&counterpart(plan, &tool.spec, standing));
        if tool.stale {
            because.push_str("; its source does not answer, this is its last good list");
        }
        Self {
            tool: tool.spec.name.clone(),
            source: tool.spec.origin.source.clone(),
            visible: matches!(standing, Visibility::Visible { .. }),
            exposure: match standing {
                Visibility::Visible { exposure, .. } => Some(exposure),
                Visibility::Out(_) => None,
            },
            forced,
            stale: tool.stale,
            rule,
            because,
        }
    }

    pub(super) fn quarantined(tool: &QuarantinedTool) -> Self {
        Self {
            tool: tool.spec.name.clone(),
            source: tool.spec.origin.source.clone(),
            visible: false,
            exposure: None,
            forced: false,
            stale: false,
            rule: "quarantined",
            because: tool.reason.to_string(),
        }
    }
}

impl Visibility {
    fn in_words(self, plan: &Plan) -> (&'static str, String) {
        match self {
            Self::Visible { because: InclusionReason::Discovery, exposure: Exposure::Hidden } => {
                let text = "it handles the calls that wait for a person; it is not listed, and \
                            answers whoever calls it by its name";
                ("discovery", text.to_owned())
            }
            Self::Visible { because, exposure } => {
                let (rule, text) = because.in_words();
                let shown = match exposure {
                    Exposure::Listed => String::new(),
                    Exposure::Deferred => "; its definition may be loaded later".to_owned(),
                    Exposure::Hidden => hidden(plan),
                };
                (rule, format!("{text}{shown}"))
            }
            Self::Out(out) => out.in_words(plan.catalog()),
        }
    }
}

/// What stands in the place of a tool that a provider does not have.
fn counterpart(plan: &Plan, spec: &ToolSpec, standing: Visibility) -> String {
    let is_absent = matches!(
        standing,
        Visibility::Out(
            ExclusionReason::NoModel
                | ExclusionReason::NotOfApi
                | ExclusionReason::NotBesideFunctions
        )
    );
    match spec.hosted.as_ref().filter(|_| is_absent).map(|hosted| &hosted.local) {
        None => String::new(),
        Some(None) => "; a tool that it names as `local` would stand in its place".to_owned(),
        Some(Some(local)) if plan.get(local.as_str()).is_some() => {
            format!("; `{local}` stands in its place")
        }
        Some(Some(local)) => format!("; `{local}`, its local counterpart, is not visible either"),
    }
}

/// Why a visible tool is not shown, and how a model comes by it.
fn hidden(plan: &Plan) -> String {
    let beside = plan.meta_tools();
    let (Some(finder), Some(relay)) = (&beside.finder, &beside.relay) else {
        return "; it has to be found by a search first".to_owned();
    };
    let because = &plan.shown().because;
    format!(
        "; it is hidden because {because}, and it is not in the core that is always shown: a \
         model finds it by `{finder}` and calls it by `{relay}`"
    )
}

impl Plan {
    /// The reason why a tool is in or out. For the operator: it also tells of tools that this
    /// caller may not know of. `None`: the catalog has no tool of that name.
    pub fn why(&self, name: &str) -> Option<ToolExplanation> {
        if let Some(extra) =
            self.decided.beside.position(name).and_then(|at| self.decided.beside.tools.get(at))
        {
            return Some(self.why_extra(extra));
        }
        let Some(place) = self.catalog.place(name) else {
            let kept_out = self.catalog.quarantined().iter();
            let quarantined = kept_out.rev().find(|tool| tool.spec.name.as_str() == name)?;
            return Some(ToolExplanation::quarantined(quarantined));
        };
        Some(self.why_at(place, self.catalog.at(place)?))
    }

    /// The reasons of the whole catalog, then those of what stands beside it, the quarantined last.
    pub fn reasons(&self) -> Vec<ToolExplanation> {
        let listed = (0u32..).zip(self.catalog.tools());
        let kept_out = self.catalog.quarantined().iter().map(ToolExplanation::quarantined);
        let listed = listed.map(|(place, tool)| self.why_at(place, tool));
        let beside = self.decided.beside.tools.iter().map(|extra| self.why_extra(extra));
        listed.chain(beside).chain(kept_out).collect()
    }

    fn why_extra(&self, MetaTool { listed, exposure }: &MetaTool) -> ToolExplanation {
        let (because, exposure) = (InclusionReason::Discovery, *exposure);
        ToolExplanation::listed(self, listed, Visibility::Visible { because, exposure }, false)
    }

    fn why_at(&self, place: u32, tool: &CatalogTool) -> ToolExplanation {
        let standing = self
            .decided
            .standings
            .get(place as usize)
            .copied()
            .unwrap_or(Visibility::Out(ExclusionReason::Denied));
        let forced = self.decided.forced.contains(&place);
        ToolExplanation::listed(self, tool, standing, forced)
    }
}
