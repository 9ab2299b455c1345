//! How a crib shows its tools: all in full, or a core of them beside the tools by which a model
//! finds, reads and calls the rest.
//!
//! Read in this order: [`DiscoverySettings`] (what is wished), `auto_mode` (what costs less),
//! `meta_tools` (the tools that are added, and their names), `catalog_summary` (what they say of the
//! catalog), `discover`, `tool_schema` and `pending` (what they do), `search` (the search that
//! all doors share), `document` (what the search reads of a tool), `semantic` (what an embedder
//! adds), `unavailable` (sources that give nothing to be found).

mod auto_mode;
mod catalog_summary;
mod discover;
mod document;
mod meta_tools;
mod pending;
mod search;
mod semantic;
mod settings;
mod tool_schema;
mod unavailable;

use std::borrow::Cow;
use std::sync::Arc;

use toolcrib_core::{
    Catalog, Discovery, Exposure, MetaTools, Plan, PlanRequest, Presentation, Presenter, ToolSpec,
};

pub use auto_mode::{DefinitionTokens, definition_tokens};
pub(crate) use auto_mode::{prepare as prepare_weights, prompt_tokens};
pub(crate) use document::document as tool_document;
pub(crate) use meta_tools::factory::MetaToolFactory;
pub use search::{ArgumentSource, DiscoveredTool, DiscoveryQuery, DiscoveryResult, find};
pub(crate) use search::{SetTool, aside, find_by, search_set};
pub use semantic::{PATIENCE, SemanticOutcome, SemanticSearch};
pub use settings::{Approver, DiscoverySettings};
pub use unavailable::UnavailableSource;
pub(crate) use unavailable::owner_away;

/// What tools that ask the user something, or plan the work, say that they do: an agent needs them
/// before it knows what to search for.
const ALWAYS: [&str; 2] = ["ask", "plan"];

/// How tools are shown to one request.
pub(crate) struct DiscoveryPresenter<'a> {
    pub(crate) discovery: &'a DiscoverySettings,
    pub(crate) wish: Option<Discovery>,
    /// Whether the model API holds definitions back by itself.
    pub(crate) defers: bool,
    pub(crate) factory: &'a Arc<MetaToolFactory>,
    /// No other settings, of this crib or another, have this number.
    pub(crate) number: u64,
}

impl<'a> DiscoveryPresenter<'a> {
    pub(crate) fn of(
        (number, discovery): (u64, &'a DiscoverySettings),
        request: &PlanRequest,
        factory: &'a Arc<MetaToolFactory>,
    ) -> Self {
        Self { discovery, wish: request.discovery, defers: request.defers, factory, number }
    }
}

impl Presenter for DiscoveryPresenter<'_> {
    fn shown(&self, catalog: &Catalog, visible: &mut dyn Iterator<Item = usize>) -> Presentation {
        let mode = self.wish.unwrap_or(self.discovery.mode);
        if mode == Discovery::Auto {
            let core = |place: &usize| {
                let tool = catalog.tools().get(*place);
                tool.is_some_and(|tool| tool.spec.traits.capability || self.is_core(&tool.spec))
            };
            let visible = visible.map(|place| (place, core(&place)));
            return auto_mode::weigh(catalog, visible, self.defers);
        }
        let (mode, rest) = match mode {
            Discovery::Direct | Discovery::Auto => (Discovery::Direct, Exposure::Listed),
            Discovery::Lazy if self.defers => (Discovery::Lazy, Exposure::Deferred),
            Discovery::Lazy => (Discovery::Lazy, Exposure::Hidden),
        };
        let because = match (mode, self.wish.is_some()) {
            (Discovery::Lazy, true) => "the request shows tools lazily",
            (Discovery::Lazy, false) => "the configuration shows tools lazily",
            (Discovery::Direct | Discovery::Auto, true) => "the request shows all tools in full",
            (Discovery::Direct | Discovery::Auto, false) => {
                "the configuration shows all tools in full"
            }
        };
        let because = Cow::Borrowed(because);
        Presentation { mode, rest, because }
    }

    fn is_core(&self, tool: &ToolSpec) -> bool {
        // What the provider runs itself cannot be called through a tool of ours.
        !tool.builtin.is_empty()
            || tool.actions.iter().any(|action| ALWAYS.contains(&action.as_str()))
            || self.discovery.eager.has(tool)
    }

    fn meta_tools(&self, plan: &Plan) -> MetaTools {
        meta_tools::beside(plan, self.discovery.confirm, self.factory)
    }

    fn way(&self) -> Option<u64> {
        // What is weighed changes when its tokens are counted.
        let is_steady = self.discovery.mode != Discovery::Auto && !self.defers;
        (is_steady && self.wish.is_none()).then_some(self.number)
    }
}
