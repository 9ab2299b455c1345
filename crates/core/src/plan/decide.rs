//! The rules of a plan, in their order; the first that a tool fails is its reason.

use std::collections::HashMap;
use std::sync::Arc;

use super::{
    Because, ChoiceScope, Decided, Exposure, Memo, Out, Places, Plan, PlanError, Request, Standing,
    Warning,
};
use crate::caller::Caller;
use crate::catalog::{Catalog, Listed};
use crate::nearest::nearest;
use crate::policy::Policy;
use crate::spec::ToolSpec;

pub(super) fn plan(
    catalog: &Arc<Catalog>,
    caller: &Caller,
    policy: &dyn Policy,
    request: Request,
) -> Result<Plan, PlanError> {
    let mut warnings = Vec::new();
    let choices = Choices::read(catalog, &request);
    let wishes = Wishes::read(catalog, &request, &mut warnings);

    // Rules 1 to 3, which do not depend on the other tools.
    let mut standings: Vec<_> = (0u32..)
        .zip(catalog.tools())
        .map(|(place, tool)| permitted(place, &tool.spec, &wishes, caller, policy))
        .collect();

    // Rule 4: the exclusive tool that wins is one that passed so far.
    let winner = choices.places.iter().copied().find(|place| {
        passes(&standings, *place)
            && catalog
                .at(*place)
                .is_some_and(|tool| tool.spec.traits.exclusive && !tool.spec.traits.capability)
    });
    let rule = ByTrait::new(catalog, &choices, winner);
    for ((place, tool), standing) in (0u32..).zip(catalog.tools()).zip(&mut standings) {
        if matches!(standing, Standing::Visible { .. }) {
            *standing = rule.stand(place, tool, &wishes);
        }
    }

    let chosen = choices.places.iter().copied();
    let forced: Vec<u32> = chosen.filter(|place| passes(&standings, *place)).collect();
    choices.warn(catalog, &standings, &mut warnings);
    if choices.bind && forced.is_empty() {
        return Err(PlanError(warnings));
    }
    let visible: Vec<u32> = (0u32..)
        .zip(&standings)
        .filter(|(_, s)| matches!(s, Standing::Visible { .. }))
        .map(|(place, _)| place)
        .collect();
    if visible.is_empty() && !catalog.tools().is_empty() {
        warnings.push(Warning::NothingVisible);
    }
    Ok(Plan(Arc::new(Decided {
        catalog: Arc::clone(catalog),
        caller: Arc::new(caller.clone()),
        standings,
        visible,
        forced,
        warnings,
        max_calls: request.max_calls,
        run: request.run,
        memo: Memo::default(),
    })))
}

fn passes(standings: &[Standing], place: u32) -> bool {
    matches!(standings.get(place as usize), Some(Standing::Visible { .. }))
}

/// Rules 1 to 3; `Visible` means "not out yet".
fn permitted(
    place: u32,
    spec: &ToolSpec,
    wishes: &Wishes<'_>,
    caller: &Caller,
    policy: &dyn Policy,
) -> Standing {
    if !spec.enabled {
        Standing::Out(Out::DisabledByAdmin)
    } else if wishes.disabled.contains_key(&place) {
        Standing::Out(Out::DisabledForRequest)
    } else if !policy.sees(caller, spec) {
        Standing::Out(Out::Denied)
    } else {
        Standing::Visible { because: Because::NothingChosen, exposure: Exposure::Listed }
    }
}

/// Rule 4 for the tools that passed the others.
struct ByTrait {
    any_chosen: bool,
    /// By place in the catalog; empty when nothing was chosen.
    chosen: Vec<bool>,
    winner: Option<u32>,
    companions: Vec<u32>,
}

impl ByTrait {
    fn new(catalog: &Catalog, choices: &Choices<'_>, winner: Option<u32>) -> Self {
        let mut chosen = vec![false; if choices.bind { catalog.tools().len() } else { 0 }];
        for place in &choices.places {
            if let Some(mark) = chosen.get_mut(*place as usize) {
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
        Self { any_chosen: choices.bind, chosen, winner, companions }
    }

    fn stand(&self, place: u32, tool: &Listed, wishes: &Wishes<'_>) -> Standing {
        let traits = &tool.spec.traits;
        let is_chosen = self.chosen.get(place as usize) == Some(&true);
        let because = match self.winner {
            _ if is_chosen
                && (self.winner.is_none_or(|winner| winner == place) || traits.capability) =>
            {
                Because::Chosen
            }
            _ if traits.capability => Because::Capability,
            Some(_) if self.companions.contains(&place) => Because::Companion,
            Some(winner) => return Standing::Out(Out::Displaced(winner)),
            None if traits.exclusive => return Standing::Out(Out::NotChosenExclusive),
            None if self.any_chosen => return Standing::Out(Out::NotChosen),
            None => Because::NothingChosen,
        };
        // A model must see in full what it is made to call, and what is always there.
        let exposure = match because {
            Because::Chosen | Because::Capability => Exposure::Listed,
            Because::NothingChosen | Because::Companion => wishes.exposure(place),
        };
        Standing::Visible { because, exposure }
    }
}

/// The choices as places in the catalog, in their order, each once.
struct Choices<'a> {
    bind: bool,
    places: Vec<u32>,
    unknown: Vec<&'a str>,
}

impl<'a> Choices<'a> {
    fn read(catalog: &Catalog, request: &'a Request) -> Self {
        let bound = request.choice_scope == ChoiceScope::Run || request.run.turn() == 0;
        let bind = bound && !request.choices.is_empty();
        let mut choices = Self { bind, places: Vec::new(), unknown: Vec::new() };
        for choice in request.choices.iter().filter(|_| bind) {
            match catalog.place(choice) {
                Some(place) if choices.places.contains(&place) => {}
                Some(place) => choices.places.push(place),
                None => choices.unknown.push(choice),
            }
        }
        choices
    }

    fn warn(&self, catalog: &Catalog, standings: &[Standing], warnings: &mut Vec<Warning>) {
        for choice in &self.unknown {
            let names = catalog.tools().iter().zip(standings).take(2_000);
            let visible =
                names.filter(|(_, standing)| !matches!(standing, Standing::Out(Out::Denied)));
            let near = nearest(choice, visible.map(|(tool, _)| &tool.spec.name));
            let nearest = near.first().map(|name| (*name).clone());
            warnings.push(Warning::UnknownChoice { choice: (*choice).to_owned(), nearest });
        }
        for place in &self.places {
            let (Some(tool), Some(Standing::Out(out))) =
                (catalog.at(*place), standings.get(*place as usize))
            else {
                continue;
            };
            let choice = tool.spec.name.clone();
            // A tool that policy denies is told apart from no tool by nobody.
            warnings.push(if *out == Out::Denied {
                Warning::UnknownChoice { choice: choice.into(), nearest: None }
            } else {
                Warning::LostChoice { choice, why: out.in_words(catalog).1 }
            });
        }
    }
}

/// The request's other lists as places in the catalog.
struct Wishes<'a> {
    disabled: Places<'a>,
    deferred: Places<'a>,
    hidden: Places<'a>,
}

impl<'a> Wishes<'a> {
    fn read(catalog: &Catalog, request: &'a Request, warnings: &mut Vec<Warning>) -> Self {
        let places = |names: &'a [String]| -> Places<'a> {
            let known = names.iter().filter_map(|name| Some((catalog.place(name)?, name.as_str())));
            known.collect::<HashMap<_, _>>()
        };
        let unknown = request.disabled.iter().filter(|name| catalog.place(name).is_none());
        warnings.extend(unknown.map(|name| Warning::UnknownDisabled { name: name.clone() }));
        Self {
            disabled: places(&request.disabled),
            deferred: places(&request.deferred),
            hidden: places(&request.hidden),
        }
    }

    fn exposure(&self, place: u32) -> Exposure {
        if self.hidden.contains_key(&place) {
            Exposure::Hidden
        } else if self.deferred.contains_key(&place) {
            Exposure::Deferred
        } else {
            Exposure::Listed
        }
    }
}
