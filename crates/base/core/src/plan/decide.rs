//! The rules of a plan, in their order; the first that a tool fails is its reason.

mod caller_catalog;
mod hosted;
mod wishes;

use std::sync::Arc;

use super::presentation::{MetaTools, Presentation};
use super::presenter::{Presenter, ShowAll};
use super::request::PlanRequest;
use super::tools::{Plan, PlanDecision};
use super::visibility::{ExclusionReason, Exposure, InclusionReason, Visibility};
use super::warning::{PlanError, PlanWarning};
use crate::call::caller::Caller;
use crate::catalog::type_map::TypeMap;
use crate::catalog::{Catalog, CatalogTool};
use crate::outcome::run::Run;
use crate::policy::Policy;
use crate::tool::spec::ToolSpec;
use caller_catalog::{CallerCatalog, passes};
use hosted::HostedTools;
use wishes::{ChosenTools, RequestPlaces};

impl Plan {
    /// Decides for every tool of the snapshot, in the order that `ARCHITECTURE.md` gives.
    pub fn make(
        catalog: &Arc<Catalog>,
        caller: &Caller,
        policy: &dyn Policy,
        request: PlanRequest,
    ) -> Result<Self, PlanError> {
        plan(catalog, Arc::new(caller.clone()), policy, request, &ShowAll)
    }
}

pub(super) fn plan(
    catalog: &Arc<Catalog>,
    caller: Arc<Caller>,
    policy: &dyn Policy,
    request: PlanRequest,
    showing: &dyn Presenter,
) -> Result<Plan, PlanError> {
    let mut warnings = Vec::new();
    let mut choices = ChosenTools::read(catalog, &request);
    let wishes = RequestPlaces::read(catalog, &request);

    // Rules 1 to 3, which do not depend on the other tools.
    let permitted: Vec<_> = (0u32..)
        .zip(catalog.tools())
        .map(|(place, tool)| permitted(place, &tool.spec, &wishes, &caller, policy))
        .collect();
    let mut hosted = HostedTools::of(catalog, &caller, policy, &request);
    let mut standings = if hosted.is_empty() {
        chosen_among(catalog, &choices, &wishes, (permitted, Vec::new()))
    } else {
        with_hosted(catalog, &mut choices, &wishes, (&mut hosted, &permitted))
    };

    let forced = choices.forced(&standings);
    let known = CallerCatalog { catalog, standings: &standings, caller: &caller, policy };
    warnings.extend(request.disabled.iter().filter_map(|name| known.unknown(name)));
    choices.warn(&known, &mut warnings);
    if choices.bind && !choices.places().any(|place| passes(&standings, place)) {
        return Err(PlanError(warnings));
    }
    let shown = showing.shown(catalog, &mut {
        let places = standings.iter().enumerate();
        places.filter(|(_, standing)| is_visible(**standing)).map(|(place, _)| place)
    });
    let recent = expose(catalog, &mut standings, &request.run, &shown, showing);
    let visible: Vec<u32> = (0u32..)
        .zip(&standings)
        .filter(|(place, standing)| is_visible(**standing) && !recent.contains(place))
        .map(|(place, _)| place)
        .collect();
    if visible.is_empty() {
        warnings.push(PlanWarning::NothingVisible);
    }
    let decided = Arc::new(PlanDecision {
        caller,
        standings,
        visible,
        shown,
        beside: MetaTools::default(),
        forced,
        warnings,
        max_calls: request.max_calls,
        run: request.run,
        memo: TypeMap::default(),
    });
    let catalog = Arc::clone(catalog);
    let mut plan = Plan { catalog, decided, session: request.session };
    stand_beside(&mut plan, recent, showing);
    Ok(plan)
}

/// Rule 4 where some of the tools are of the provider of a model.
fn with_hosted(
    catalog: &Catalog,
    choices: &mut ChosenTools<'_>,
    wishes: &RequestPlaces,
    (hosted, permitted): (&mut HostedTools, &[Visibility]),
) -> Vec<Visibility> {
    let mut decide = |hosted: &HostedTools| {
        choices.fall_to(|place| hosted.stands_for(place, permitted));
        let mut standings = permitted.to_vec();
        hosted.settle(&mut standings, |place| choices.places().any(|chosen| chosen == place));
        chosen_among(catalog, choices, wishes, (standings, hosted.counterparts(permitted)))
    };
    let mut standings = decide(hosted);
    if hosted.gives_way(&standings) {
        standings = decide(hosted);
    }
    hosted.put_functions(&mut standings);
    standings
}

/// Rule 4, for what the rules before left; `counterparts`: what stays whatever was chosen, beside
/// the capabilities.
fn chosen_among(
    catalog: &Catalog,
    choices: &ChosenTools<'_>,
    wishes: &RequestPlaces,
    (mut standings, counterparts): (Vec<Visibility>, Vec<u32>),
) -> Vec<Visibility> {
    // The exclusive tool that wins is one that passed so far.
    let winner = choices.places().find(|place| {
        passes(&standings, *place)
            && catalog
                .at(*place)
                .is_some_and(|tool| tool.spec.traits.exclusive && !tool.spec.traits.capability)
    });
    let rule = TraitRules::new(catalog, choices, (winner, counterparts));
    for ((place, tool), standing) in (0u32..).zip(catalog.tools()).zip(&mut standings) {
        if matches!(standing, Visibility::Visible { .. }) {
            *standing = rule.stand(place, tool, wishes);
        }
    }
    standings
}

/// What stands beside the catalog comes behind it, and behind that what the run has used.
fn stand_beside(plan: &mut Plan, recent: Vec<u32>, showing: &dyn Presenter) {
    let beside = showing.meta_tools(plan);
    // Nobody else holds it yet.
    if let Some(decided) = Arc::get_mut(&mut plan.decided) {
        let first = u32::try_from(plan.catalog.tools().len()).unwrap_or(u32::MAX);
        let count = u32::try_from(beside.tools.len()).unwrap_or_default();
        decided.beside = beside;
        decided.visible.extend((0..count).filter_map(|place| first.checked_add(place)));
        decided.visible.extend(recent);
    }
}

fn is_visible(standing: Visibility) -> bool {
    matches!(standing, Visibility::Visible { .. })
}

/// Holds back what is not in the core. What the run has used is shown, where the API does not
/// remember it: its places, in the order of its use.
fn expose(
    catalog: &Catalog,
    standings: &mut [Visibility],
    run: &Run,
    shown: &Presentation,
    showing: &dyn Presenter,
) -> Vec<u32> {
    if shown.rest == Exposure::Listed {
        return Vec::new();
    }
    for (tool, standing) in catalog.tools().iter().zip(standings.iter_mut()) {
        if let Visibility::Visible { because, exposure } = standing
            && *exposure == Exposure::Listed
            && matches!(because, InclusionReason::NothingChosen | InclusionReason::Companion)
            && !showing.is_core(&tool.spec)
        {
            *exposure = shown.rest;
        }
    }
    if shown.rest != Exposure::Hidden {
        return Vec::new();
    }
    let used = run.used_tools().filter_map(|name| catalog.place(name.as_str()));
    let mut recent: Vec<u32> = Vec::new();
    for place in used {
        if let Some(Visibility::Visible { exposure, .. }) = standings.get_mut(place as usize)
            && *exposure == Exposure::Hidden
        {
            *exposure = Exposure::Listed;
            recent.push(place);
        }
    }
    recent
}

/// Rules 1 to 3; `Visible` means "not out yet".
fn permitted(
    place: u32,
    spec: &ToolSpec,
    wishes: &RequestPlaces,
    caller: &Caller,
    policy: &dyn Policy,
) -> Visibility {
    if !spec.enabled {
        Visibility::Out(ExclusionReason::DisabledByAdmin)
    } else if wishes.disables(place) {
        Visibility::Out(ExclusionReason::DisabledForRequest)
    } else if !policy.sees(caller, spec) {
        Visibility::Out(ExclusionReason::Denied)
    } else {
        Visibility::Visible { because: InclusionReason::NothingChosen, exposure: Exposure::Listed }
    }
}

/// Rule 4 for the tools that passed the others.
struct TraitRules {
    any_chosen: bool,
    /// By place in the catalog; empty when nothing was chosen.
    chosen: Vec<bool>,
    winner: Option<u32>,
    companions: Vec<u32>,
    /// What stands in for capabilities that a provider does not have.
    counterparts: Vec<u32>,
}

impl TraitRules {
    fn new(
        catalog: &Catalog,
        choices: &ChosenTools<'_>,
        (winner, counterparts): (Option<u32>, Vec<u32>),
    ) -> Self {
        let mut chosen = vec![false; if choices.bind { catalog.tools().len() } else { 0 }];
        for place in choices.places() {
            if let Some(mark) = chosen.get_mut(place as usize) {
                *mark = true;
            }
        }
        let companions = winner
            .and_then(|place| catalog.at(place))
            .map(|tool| {
                let names = tool.spec.traits.companions.iter();
                names.filter_map(|name| catalog.place(name.as_str())).collect()
            })
            .unwrap_or_default();
        Self { any_chosen: choices.bind, chosen, winner, companions, counterparts }
    }

    fn stand(&self, place: u32, tool: &CatalogTool, wishes: &RequestPlaces) -> Visibility {
        let traits = &tool.spec.traits;
        let is_chosen = self.chosen.get(place as usize) == Some(&true);
        let because = match self.winner {
            _ if is_chosen
                && (self.winner.is_none_or(|winner| winner == place) || traits.capability) =>
            {
                InclusionReason::Chosen
            }
            _ if traits.capability => InclusionReason::Capability,
            _ if self.counterparts.contains(&place) => InclusionReason::Counterpart,
            Some(_) if self.companions.contains(&place) => InclusionReason::Companion,
            Some(winner) => return Visibility::Out(ExclusionReason::Displaced(winner)),
            None if traits.exclusive => {
                return Visibility::Out(ExclusionReason::NotChosenExclusive);
            }
            None if self.any_chosen => return Visibility::Out(ExclusionReason::NotChosen),
            None => InclusionReason::NothingChosen,
        };
        // A model must see in full what it is made to call, and what is always there.
        let exposure = match because {
            _ if is_chosen => Exposure::Listed,
            InclusionReason::Chosen
            | InclusionReason::Capability
            | InclusionReason::Counterpart
            // These two are said of no tool of a catalog here.
            | InclusionReason::OnDemand
            | InclusionReason::Discovery => Exposure::Listed,
            InclusionReason::NothingChosen | InclusionReason::Companion => wishes.exposure(place),
        };
        Visibility::Visible { because, exposure }
    }
}
