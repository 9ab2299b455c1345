//! For one request: which tools are visible, which are forced, and why; pinned to one snapshot.

mod again;
mod decide;
mod guidance;
mod request;
mod showing;
mod standing;

use std::collections::HashMap;
use std::sync::Arc;

use toolcrib_json::repair::Bounds;

pub(crate) use again::Again;
pub use guidance::GuidanceText;
pub use request::{ChoiceScope, Request};
pub use showing::{Beside, Discovery, Extra, Showing, Shown};
pub use standing::{Because, Exposure, Out, Standing, Why};

use crate::batch::Missing;
use crate::call::RawArguments;
use crate::caller::Caller;
use crate::catalog::{Catalog, Listed};
use crate::memo::Memo;
use crate::name::ToolName;
use crate::outcome::ToolError;
use crate::policy::Policy;
use crate::run::Run;
use showing::Plainly;

/// What one request may use. Cheap to clone; the same input makes the same plan.
#[derive(Clone)]
pub struct Plan {
    catalog: Arc<Catalog>,
    decided: Arc<Decided>,
    session: Option<Arc<str>>,
}

/// All of it that does not hold on to the snapshot.
struct Decided {
    caller: Arc<Caller>,
    /// By place in the catalog.
    standings: Vec<Standing>,
    /// In the order in which they are shown.
    visible: Vec<u32>,
    shown: Shown,
    /// Its places follow those of the catalog.
    beside: Beside,
    forced: Vec<u32>,
    warnings: Vec<Warning>,
    max_calls: Option<usize>,
    run: Run,
    memo: Memo,
}

/// Something the host should know, though the plan holds.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, thiserror::Error)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum Warning {
    #[error("the choice `{choice}` names no available tool{}", near(.nearest.as_ref()))]
    UnknownChoice { choice: String, nearest: Option<ToolName> },
    #[error("the choice `{choice}` has no effect: {why}")]
    LostChoice { choice: ToolName, why: String },
    #[error("`{name}` cannot be disabled for this request: there is no such tool")]
    UnknownDisabled { name: String },
    #[error("no tool is visible: ask why of the tools that you expected")]
    NothingVisible,
}

fn near(nearest: Option<&ToolName>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("none of the chosen tools is left: {}", said(.0))]
pub struct PlanError(pub Vec<Warning>);

fn said(warnings: &[Warning]) -> String {
    warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A tool that the model may see.
#[derive(Clone, Copy)]
pub struct PlannedTool<'a> {
    pub listed: &'a Listed,
    pub because: Because,
    pub exposure: Exposure,
    pub forced: bool,
}

impl Plan {
    /// Decides for every tool of the snapshot, in the order that `ARCHITECTURE.md` gives.
    pub fn make(
        catalog: &Arc<Catalog>,
        caller: &Caller,
        policy: &dyn Policy,
        request: Request,
    ) -> Result<Self, PlanError> {
        decide::plan(catalog, Arc::new(caller.clone()), policy, request, &Plainly)
    }

    /// The same, shown as somebody decides.
    pub fn make_shown(
        catalog: &Arc<Catalog>,
        caller: &Caller,
        policy: &dyn Policy,
        request: Request,
        showing: &dyn Showing,
    ) -> Result<Self, PlanError> {
        decide::plan(catalog, Arc::new(caller.clone()), policy, request, showing)
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
    pub fn missing(&self, name: &str, why: &Missing) -> Option<ToolError> {
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

    pub(crate) fn at(&self, place: u32) -> Option<&Listed> {
        self.catalog.at(place).or_else(|| self.extra(place).map(|extra| &extra.listed))
    }

    fn extra(&self, place: u32) -> Option<&Extra> {
        let position = (place as usize).checked_sub(self.catalog.tools().len())?;
        self.decided.beside.tools.get(position)
    }

    /// Whether the tool stands beside the catalog.
    pub(crate) fn is_beside(&self, tool: &Listed) -> bool {
        self.decided.beside.has(tool)
    }

    /// The tool that a call means: that which it names where it goes through another one. What its
    /// arguments say is read as the gate reads it.
    pub fn meant(
        &self,
        name: &str,
        arguments: impl FnOnce() -> RawArguments,
        bounds: &Bounds,
    ) -> Option<String> {
        crate::batch::relay::meant(self, name, arguments, bounds)
    }

    /// How the tools are shown, and why.
    pub fn shown(&self) -> &Shown {
        &self.decided.shown
    }

    /// What stands beside the catalog.
    pub fn beside(&self) -> &Beside {
        &self.decided.beside
    }

    /// Whether the caller may call the tool at this place of the catalog, shown or not.
    pub fn shows_place(&self, place: usize) -> bool {
        matches!(self.decided.standings.get(place), Some(Standing::Visible { .. }))
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
        if let Some(Extra { listed, exposure }) = self.extra(place) {
            let (because, exposure) = (Because::Discovery, *exposure);
            return Some(PlannedTool { listed, because, exposure, forced: false });
        }
        let Standing::Visible { because, exposure } =
            *self.decided.standings.get(place as usize)?
        else {
            return None;
        };
        let forced = self.decided.forced.contains(&place);
        Some(PlannedTool { listed: self.catalog.at(place)?, because, exposure, forced })
    }

    /// The reason why a tool is in or out. For the operator: it also tells of tools that this
    /// caller may not know of. `None`: the catalog has no tool of that name.
    pub fn why(&self, name: &str) -> Option<Why> {
        if let Some(extra) =
            self.decided.beside.position(name).and_then(|at| self.decided.beside.tools.get(at))
        {
            return Some(self.why_extra(extra));
        }
        let Some(place) = self.catalog.place(name) else {
            let kept_out = self.catalog.quarantined().iter();
            let quarantined = kept_out.rev().find(|tool| tool.spec.name.as_str() == name)?;
            return Some(Why::quarantined(quarantined));
        };
        Some(self.why_at(place, self.catalog.at(place)?))
    }

    /// The reasons of the whole catalog, then those of what stands beside it, the quarantined last.
    pub fn reasons(&self) -> Vec<Why> {
        let listed = (0u32..).zip(self.catalog.tools());
        let kept_out = self.catalog.quarantined().iter().map(Why::quarantined);
        let listed = listed.map(|(place, tool)| self.why_at(place, tool));
        let beside = self.decided.beside.tools.iter().map(|extra| self.why_extra(extra));
        listed.chain(beside).chain(kept_out).collect()
    }

    fn why_extra(&self, Extra { listed, exposure }: &Extra) -> Why {
        let (because, exposure) = (Because::Discovery, *exposure);
        Why::listed(self, listed, Standing::Visible { because, exposure }, false)
    }

    fn why_at(&self, place: u32, tool: &Listed) -> Why {
        let standing = self
            .decided
            .standings
            .get(place as usize)
            .copied()
            .unwrap_or(Standing::Out(Out::Denied));
        let forced = self.decided.forced.contains(&place);
        Why::listed(self, tool, standing, forced)
    }

    /// What the visible tools add to the prompts, as texts.
    pub fn guidance(&self) -> GuidanceText {
        GuidanceText::of(self)
    }

    pub fn warnings(&self) -> &[Warning] {
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
        crate::nearest::nearest(wrong, names)
    }
}

/// The places of names in a snapshot.
type Places<'a> = HashMap<u32, &'a str>;
