//! Where a tool stands in a plan, and how that is said.

use serde::Serialize;

use super::Plan;
use crate::catalog::{Catalog, Listed, Quarantined};
use crate::name::{SourceId, ToolName};

/// In or out; small, since a plan holds one for every tool of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Visible { because: Because, exposure: Exposure },
    Out(Out),
}

/// Why a tool is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    NothingChosen,
    Chosen,
    Capability,
    /// Of the chosen exclusive tool.
    Companion,
    /// It stands beside the catalog, for the tools that are not shown.
    Discovery,
}

/// How much of a visible tool a model is shown at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exposure {
    #[default]
    Listed,
    /// The model API may hold the definition back.
    Deferred,
    /// Not shown; found by a search of ours, callable once it was loaded.
    Hidden,
}

/// Why a tool is out: the first rule that it fails, in the order of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Out {
    DisabledByAdmin,
    DisabledForRequest,
    /// Policy: to this caller the tool does not exist.
    Denied,
    /// An exclusive tool that was not chosen.
    NotChosenExclusive,
    /// The chosen exclusive tool at this place of the catalog stands alone.
    Displaced(u32),
    NotChosen,
}

/// The reason of one tool, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Why {
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

impl Why {
    pub(super) fn listed(plan: &Plan, tool: &Listed, standing: Standing, forced: bool) -> Self {
        let (rule, mut because) = standing.in_words(plan);
        if tool.stale {
            because.push_str("; its source does not answer, this is its last good list");
        }
        Self {
            tool: tool.spec.name.clone(),
            source: tool.spec.origin.source.clone(),
            visible: matches!(standing, Standing::Visible { .. }),
            exposure: match standing {
                Standing::Visible { exposure, .. } => Some(exposure),
                Standing::Out(_) => None,
            },
            forced,
            stale: tool.stale,
            rule,
            because,
        }
    }

    pub(super) fn quarantined(tool: &Quarantined) -> Self {
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

impl Standing {
    fn in_words(self, plan: &Plan) -> (&'static str, String) {
        match self {
            Self::Visible { because: Because::Discovery, exposure: Exposure::Hidden } => {
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

/// Why a visible tool is not shown, and how a model comes by it.
fn hidden(plan: &Plan) -> String {
    let beside = plan.beside();
    let (Some(finder), Some(relay)) = (&beside.finder, &beside.relay) else {
        return "; it has to be found by a search first".to_owned();
    };
    let because = &plan.shown().because;
    format!(
        "; it is hidden because {because}, and it is not in the core that is always shown: a \
         model finds it by `{finder}` and calls it by `{relay}`"
    )
}

impl Because {
    fn in_words(self) -> (&'static str, &'static str) {
        match self {
            Self::NothingChosen => ("permitted", "it is permitted and no tool was chosen"),
            Self::Chosen => ("chosen", "it was chosen"),
            Self::Capability => ("capability", "it is a capability, which no choice removes"),
            Self::Companion => ("companion", "it accompanies the chosen exclusive tool"),
            Self::Discovery => ("discovery", "by it a model comes by the tools that are hidden"),
        }
    }
}

impl Out {
    pub(super) fn in_words(self, catalog: &Catalog) -> (&'static str, String) {
        let (rule, text) = match self {
            Self::DisabledByAdmin => ("disabled", "the admin disabled it"),
            Self::DisabledForRequest => ("disabled_for_request", "this request disables it"),
            Self::Denied => ("denied", "policy denies it to this caller"),
            Self::NotChosenExclusive => {
                ("exclusive_not_chosen", "it is exclusive and shown only when it is chosen")
            }
            Self::NotChosen => ("not_chosen", "other tools were chosen"),
            Self::Displaced(place) => {
                let by = catalog.at(place).map_or("another tool", |tool| tool.spec.name.as_str());
                return ("displaced", format!("`{by}` was chosen and is exclusive"));
            }
        };
        (rule, text.to_owned())
    }
}
