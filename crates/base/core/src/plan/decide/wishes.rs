//! The lists of a request, as places in the catalog: an entry is the name of a tool, or a toolset.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};

use super::caller_catalog::{CallerCatalog, passes};
use crate::catalog::Catalog;
use crate::plan::request::{ChoiceScope, PlanRequest};
use crate::plan::visibility::{Exposure, Visibility};
use crate::plan::warning::PlanWarning;
use crate::tool::membership::TOOLSET_SELECTOR;
use crate::tool::spec::ToolSpec;

/// The choices in their order, each once, with their places in the catalog.
pub(super) struct ChosenTools<'a> {
    pub(super) bind: bool,
    named: IndexMap<&'a str, Option<u32>>,
    /// Toolsets under their ids: they say what there is, and a model need not call any of it.
    toolsets: IndexMap<&'a str, Vec<u32>>,
}

/// For so many choices that name no tool, the nearest is looked for.
const LOOKED_FOR: usize = 16;

impl<'a> ChosenTools<'a> {
    pub(super) fn read(catalog: &Catalog, request: &'a PlanRequest) -> Self {
        let bound = request.choice_scope == ChoiceScope::Run || request.run.turn() == 0;
        let bind = bound && !request.choices.is_empty();
        let (mut named, mut toolsets) = (IndexMap::new(), IndexMap::new());
        for choice in request.choices.iter().filter(|_| bind) {
            match toolset(catalog, choice) {
                Some(id) => {
                    // An exclusive tool would put the others out: it is chosen by its own name.
                    let places = members(catalog, id, |tool| !tool.traits.exclusive);
                    toolsets.insert(id, places.collect());
                }
                None => _ = named.insert(choice.as_str(), catalog.place(choice)),
            }
        }
        Self { bind, named, toolsets }
    }

    /// Puts in the place of each choice what stands for it.
    pub(super) fn fall_to(&mut self, stands: impl Fn(u32) -> u32) {
        let named = self.named.values_mut().flatten();
        for place in named.chain(self.toolsets.values_mut().flatten()) {
            *place = stands(*place);
        }
    }

    /// The places of those that are named and visible, each once.
    pub(super) fn forced(&self, standings: &[Visibility]) -> Vec<u32> {
        let named = self.named.values().copied().flatten();
        let passing = named.filter(|place| passes(standings, *place));
        passing.collect::<IndexSet<_>>().into_iter().collect()
    }

    pub(super) fn places(&self) -> impl Iterator<Item = u32> {
        let named = self.named.values().copied().flatten();
        named.chain(self.toolsets.values().flatten().copied())
    }

    pub(super) fn warn(&self, known: &CallerCatalog<'_>, warnings: &mut Vec<PlanWarning>) {
        let mut unknown = 0;
        for (choice, place) in &self.named {
            let Some((tool, standing)) = known.get(choice) else {
                unknown += 1;
                let nearest = if unknown <= LOOKED_FOR { known.nearest(choice) } else { None };
                warnings.push(PlanWarning::UnknownChoice { choice: (*choice).to_owned(), nearest });
                continue;
            };
            // Another tool may stand for it.
            let stands = place.is_some_and(|place| passes(known.standings, place));
            if let (Visibility::Out(out), false) = (standing, stands) {
                let choice = tool.spec.name.clone();
                let why = out.in_words(known.catalog).1;
                warnings.push(PlanWarning::LostChoice { choice, why });
            }
        }
        for (id, places) in self.toolsets.iter().take(LOOKED_FOR) {
            if !places.iter().any(|place| passes(known.standings, *place)) {
                warnings.push(known.no_toolset(id));
            }
        }
    }
}

/// The id of a toolset, if that is what is meant: a tool may have such a name too.
fn toolset<'a>(catalog: &Catalog, named: &'a str) -> Option<&'a str> {
    named.strip_prefix(TOOLSET_SELECTOR).filter(|_| catalog.place(named).is_none())
}

fn members(
    catalog: &Catalog,
    id: &str,
    keep: impl Fn(&ToolSpec) -> bool,
) -> impl Iterator<Item = u32> {
    let tools = (0u32..).zip(catalog.tools());
    tools.filter(move |(_, tool)| tool.spec.is_in(id) && keep(&tool.spec)).map(|(place, _)| place)
}

/// The request's other lists as places in the catalog.
pub(super) struct RequestPlaces {
    disabled: HashSet<u32>,
    deferred: HashSet<u32>,
    hidden: HashSet<u32>,
}

impl RequestPlaces {
    pub(super) fn read(catalog: &Catalog, request: &PlanRequest) -> Self {
        let places = |names: &[String]| {
            let mut places = HashSet::new();
            for name in names {
                match toolset(catalog, name) {
                    Some(id) => places.extend(members(catalog, id, |_| true)),
                    None => places.extend(catalog.place(name)),
                }
            }
            places
        };
        Self {
            disabled: places(&request.disabled),
            deferred: places(&request.deferred),
            hidden: places(&request.hidden),
        }
    }

    pub(super) fn disables(&self, place: u32) -> bool {
        self.disabled.contains(&place)
    }

    pub(super) fn exposure(&self, place: u32) -> Exposure {
        if self.hidden.contains(&place) {
            Exposure::Hidden
        } else if self.deferred.contains(&place) {
            Exposure::Deferred
        } else {
            Exposure::Listed
        }
    }
}
