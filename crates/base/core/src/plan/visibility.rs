//! Where a tool stands in a plan, and how that is said.

use serde::Serialize;

use crate::catalog::Catalog;

/// In or out; small, since a plan holds one for every tool of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    Visible { because: InclusionReason, exposure: Exposure },
    Out(ExclusionReason),
}

/// Why a tool is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InclusionReason {
    NothingChosen,
    Chosen,
    Capability,
    /// Of the chosen exclusive tool.
    Companion,
    /// It stands beside the catalog, for the tools that are not shown.
    Discovery,
    /// The provider runs it, and a function stands in its place until the model calls that.
    OnDemand,
    /// In the place of a tool of a provider that this model API does not have.
    Counterpart,
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
pub enum ExclusionReason {
    DisabledByAdmin,
    DisabledForRequest,
    /// Policy: to this caller the tool does not exist.
    Denied,
    /// An exclusive tool that was not chosen.
    NotChosenExclusive,
    /// The chosen exclusive tool at this place of the catalog stands alone.
    Displaced(u32),
    NotChosen,
    /// The provider of a model runs it, and no model is told of this plan.
    NoModel,
    /// The model API has no such tool.
    NotOfApi,
    /// The model API takes tools of its provider or functions, and there are functions.
    NotBesideFunctions,
    /// The provider's tool at this place of the catalog stands in its place.
    Replaced(u32),
}

impl InclusionReason {
    pub(super) fn in_words(self) -> (&'static str, &'static str) {
        match self {
            Self::NothingChosen => ("permitted", "it is permitted and no tool was chosen"),
            Self::Chosen => ("chosen", "it was chosen"),
            Self::Capability => ("capability", "it is a capability, which no choice removes"),
            Self::Companion => ("companion", "it accompanies the chosen exclusive tool"),
            Self::Discovery => ("discovery", "by it a model comes by the tools that are hidden"),
            Self::OnDemand => (
                "on_demand",
                "a function stands in its place until the model calls that; then the provider of \
                 the model runs it",
            ),
            Self::Counterpart => (
                "counterpart",
                "it stands in the place of a tool of the provider that this request cannot have",
            ),
        }
    }
}

impl ExclusionReason {
    pub(super) fn in_words(self, catalog: &Catalog) -> (&'static str, String) {
        let (rule, text) = match self {
            Self::DisabledByAdmin => ("disabled", "the admin disabled it"),
            Self::DisabledForRequest => ("disabled_for_request", "this request disables it"),
            Self::Denied => ("denied", "policy denies it to this caller"),
            Self::NotChosenExclusive => {
                ("exclusive_not_chosen", "it is exclusive and shown only when it is chosen")
            }
            Self::NotChosen => ("not_chosen", "other tools were chosen"),
            Self::NoModel => (
                "no_model",
                "the provider of a model runs it, and no model is told of this plan: name a dialect",
            ),
            Self::NotOfApi => {
                ("not_of_api", "the API of this model has no such tool, or not with its settings")
            }
            Self::NotBesideFunctions => (
                "not_beside_functions",
                "the API of this model takes tools of its provider or functions and not both, and \
                 functions go first",
            ),
            Self::Replaced(place) => {
                let by = catalog.at(place).map_or("another tool", |tool| tool.spec.name.as_str());
                let text = format!("`{by}` stands in its place, which the model's provider runs");
                return ("replaced", text);
            }
            Self::Displaced(place) => {
                let by = catalog.at(place).map_or("another tool", |tool| tool.spec.name.as_str());
                return ("displaced", format!("`{by}` was chosen and is exclusive"));
            }
        };
        (rule, text.to_owned())
    }
}
