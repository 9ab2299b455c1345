//! A plan and the tools of it.

use std::sync::Arc;

use super::presentation::{MetaTool, MetaTools, Presentation};
use super::visibility::{Exposure, InclusionReason, Visibility};
use super::warning::PlanWarning;
use crate::call::caller::Caller;
use crate::call::context::CallContext;
use crate::call::name::ToolName;
use crate::catalog::type_map::TypeMap;
use crate::catalog::{Catalog, CatalogTool};
use crate::gate::batch::options::MissingToolExplainer;
use crate::outcome::ToolError;
use crate::outcome::run::Run;

/// What one request may use. Cheap to clone; the same input makes the same plan.
#[derive(Clone)]
pub struct Plan {
    pub(super) catalog: Arc<Catalog>,
    pub(super) decided: Arc<PlanDecision>,
    pub(super) session: Option<Arc<str>>,
}

/// All of it that does not hold on to the snapshot.
pub(super) struct PlanDecision {
    pub(super) caller: Arc<Caller>,
    /// By place in the catalog.
    pub(super) standings: Vec<Visibility>,
    /// In the order in which they are shown.
    pub(super) visible: Vec<u32>,
    pub(super) shown: Presentation,
    /// Its places follow those of the catalog.
    pub(super) beside: MetaTools,
    pub(super) forced: Vec<u32>,
    pub(super) warnings: Vec<PlanWarning>,
    pub(super) max_calls: Option<usize>,
    pub(super) run: Run,
    pub(super) memo: TypeMap,
}

/// A tool that the model may see.
#[derive(Clone, Copy)]
pub struct PlannedTool<'a> {
    pub listed: &'a CatalogTool,
    pub because: InclusionReason,
    pub exposure: Exposure,
    pub forced: bool,
}

impl Plan {
    /// The plan under which a call came: for tools that stand beside the catalog and tell of those
    /// in it. `None` for all others.
    pub fn of_call(context: &CallContext) -> Option<&Self> {
        context.extension()
    }

    /// What the model may call, in the order of the catalog; behind it what stands beside the
    /// catalog, and then what was hidden and is shown because the run has used it, in the order
    /// of its use: so that what is shown once stays where it is.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = PlannedTool<'_>> {
        self.decided
            .visible
            .iter()
            .filter_map(|place| self.planned(*place))
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// The tools that the next reply must call, in the order of the choices.
    pub fn forced(&self) -> impl Iterator<Item = PlannedTool<'_>> {
        self.decided.forced.iter().filter_map(|place| self.planned(*place))
    }

    /// A visible tool by its name; what is not visible is not there.
    pub fn get(&self, name: &str) -> Option<PlannedTool<'_>> {
        self.planned(self.place(name)?)
    }

    /// Why a tool is not there whose name its snapshot does not know.
    pub fn missing(&self, name: &str, why: &MissingToolExplainer) -> Option<ToolError> {
        if self.place(name).is_some() {
            return None;
        }
        why(self.caller(), name, &self.catalog)
    }

    pub(crate) fn place(&self, name: &str) -> Option<u32> {
        self.catalog.place(name).or_else(|| {
            let position = self.decided.beside.position(name)?;
            u32::try_from(self.catalog.tools().len() + position).ok()
        })
    }

    pub(crate) fn at(&self, place: u32) -> Option<&CatalogTool> {
        self.catalog.at(place).or_else(|| self.extra(place).map(|extra| &extra.listed))
    }

    fn extra(&self, place: u32) -> Option<&MetaTool> {
        let position = (place as usize).checked_sub(self.catalog.tools().len())?;
        self.decided.beside.tools.get(position)
    }

    /// Whether the tool stands beside the catalog.
    pub(crate) fn is_beside(&self, tool: &CatalogTool) -> bool {
        self.decided.beside.has(tool)
    }

    /// How the tools are shown, and why.
    pub fn shown(&self) -> &Presentation {
        &self.decided.shown
    }

    /// What stands beside the catalog.
    pub fn meta_tools(&self) -> &MetaTools {
        &self.decided.beside
    }

    /// Whether the caller may call the tool at this place of the catalog, shown or not.
    pub fn shows_place(&self, place: usize) -> bool {
        matches!(self.decided.standings.get(place), Some(Visibility::Visible { .. }))
    }

    /// The tools of the catalog that the caller may call, whether they are shown or not, in the
    /// order of the catalog.
    pub fn known(&self) -> impl Iterator<Item = PlannedTool<'_>> {
        let places = 0..u32::try_from(self.decided.standings.len()).unwrap_or(u32::MAX);
        places.filter_map(|place| self.planned(place))
    }

    /// What a model was told it may call.
    pub(crate) fn shown_names(&self) -> impl Iterator<Item = &ToolName> {
        let shown = self.tools().filter(|tool| tool.exposure != Exposure::Hidden);
        shown.map(|tool| &tool.listed.spec.name)
    }

    pub(crate) fn planned(&self, place: u32) -> Option<PlannedTool<'_>> {
        if let Some(MetaTool { listed, exposure }) = self.extra(place) {
            let (because, exposure) = (InclusionReason::Discovery, *exposure);
            return Some(PlannedTool { listed, because, exposure, forced: false });
        }
        let Visibility::Visible { because, exposure } =
            *self.decided.standings.get(place as usize)?
        else {
            return None;
        };
        let forced = self.decided.forced.contains(&place);
        Some(PlannedTool { listed: self.catalog.at(place)?, because, exposure, forced })
    }

    pub fn warnings(&self) -> &[PlanWarning] {
        &self.decided.warnings
    }

    pub fn caller(&self) -> &Arc<Caller> {
        &self.decided.caller
    }

    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The request's own limit of calls a batch.
    pub fn max_calls(&self) -> Option<usize> {
        self.decided.max_calls
    }

    pub fn session(&self) -> Option<&Arc<str>> {
        self.session.as_ref()
    }

    /// The run as it stood when the plan was made.
    pub fn run(&self) -> &Run {
        &self.decided.run
    }

    /// A value made once a plan: a dialect keeps its rendering here.
    pub fn memo<T: Send + Sync + 'static>(&self, make: impl FnOnce(&Self) -> T) -> Arc<T> {
        self.decided.memo.get(|| make(self))
    }

    /// The visible names nearest to a wrong one, best first; looks at 2,000 names at the most.
    pub fn nearest(&self, wrong: &str) -> Vec<&ToolName> {
        let visible = self.decided.visible.iter().take(2_000);
        let names = visible.filter_map(|place| Some(&self.catalog.at(*place)?.spec.name));
        super::similar_names::nearest(wrong, names)
    }
}
