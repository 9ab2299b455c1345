//! Tools that the provider of a model runs: whether the model API has them, what stands in their
//! place where it has not, and which of them a model has to ask for first.

use crate::call::caller::Caller;
use crate::catalog::Catalog;
use crate::plan::request::{HostedPlacement, PlanRequest};
use crate::plan::visibility::{ExclusionReason, Exposure, InclusionReason, Visibility};
use crate::policy::Policy;

/// The tools of a snapshot that a provider runs, and what one request makes of them.
pub(super) struct HostedTools {
    tools: Vec<HostedPlace>,
    placement: HostedPlacement,
}

struct HostedPlace {
    place: u32,
    /// Of its local counterpart.
    local: Option<u32>,
    /// Why this request cannot have it.
    absent: Option<ExclusionReason>,
    /// A function stands in its place.
    is_asked_for: bool,
    /// Because a call of it has to be asked about.
    is_held: bool,
    is_capability: bool,
}

impl HostedTools {
    pub(super) fn of(
        catalog: &Catalog,
        caller: &Caller,
        policy: &dyn Policy,
        request: &PlanRequest,
    ) -> Self {
        let listed = (0u32..).zip(catalog.tools());
        let tools = listed.filter_map(|(place, tool)| {
            let spec = &tool.spec;
            let hosted = spec.hosted.as_ref()?;
            let absent = match &request.dialect {
                None => Some(ExclusionReason::NoModel),
                Some(dialect) if !spec.builtin.contains_key(dialect) => {
                    Some(ExclusionReason::NotOfApi)
                }
                Some(_) if request.hosted == HostedPlacement::Nowhere => {
                    Some(ExclusionReason::NotBesideFunctions)
                }
                Some(_) => None,
            };
            // The model called what stands in its place, in this run.
            let is_at_hand = request.run.used(&spec.name) && !policy.stops(caller, spec);
            let is_held = !is_at_hand
                && (spec.approval.is_some()
                    || (absent.is_none() && !policy.lets_run(caller, spec)));
            Some(HostedPlace {
                place,
                local: hosted.local.as_ref().and_then(|local| catalog.place(local.as_str())),
                absent,
                is_asked_for: is_held || (hosted.on_demand && !is_at_hand),
                is_held,
                is_capability: spec.traits.capability,
            })
        });
        Self { tools: tools.collect(), placement: request.hosted }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Takes out what this request cannot have, and what something of the provider replaces, unless
    /// it was `chosen`. `standings`: after the rules that ask about each tool alone.
    pub(super) fn settle(&self, standings: &mut [Visibility], chosen: impl Fn(u32) -> bool) {
        for tool in self.tools.iter().filter(|tool| tool.local != Some(tool.place)) {
            let Some(standing) = visible(standings, tool.place) else { continue };
            if let Some(absent) = tool.absent {
                *standing = Visibility::Out(absent);
                continue;
            }
            let local = tool.local.filter(|local| !chosen(*local));
            if let Some(standing) = local.and_then(|local| visible(standings, local)) {
                *standing = Visibility::Out(ExclusionReason::Replaced(tool.place));
            }
        }
    }

    /// The place of what stands at a place of the catalog: of the counterpart, if this request
    /// cannot have the provider's tool. `permitted`: as in [`settle`](Self::settle).
    pub(super) fn stands_for(&self, place: u32, permitted: &[Visibility]) -> u32 {
        let tool = self.tools.iter().find(|tool| tool.place == place);
        let local = tool.and_then(|tool| tool.counterpart(permitted));
        local.unwrap_or(place)
    }

    /// The places of what stands in for capabilities that the model API does not have.
    pub(super) fn counterparts(&self, permitted: &[Visibility]) -> Vec<u32> {
        let for_model = self
            .tools
            .iter()
            .filter(|tool| tool.is_capability && tool.absent != Some(ExclusionReason::NoModel));
        for_model.filter_map(|tool| tool.counterpart(permitted)).collect()
    }

    /// Whether the API would be given functions and tools of its provider, and takes one kind only.
    /// Then none of its own are had; all is to be decided anew.
    pub(super) fn gives_way(&mut self, standings: &[Visibility]) -> bool {
        if self.placement != HostedPlacement::Alone {
            return false;
        }
        let is_visible = |standing: &Visibility| matches!(standing, Visibility::Visible { .. });
        let own: Vec<_> = self.tools.iter().map(|tool| (tool.place, tool.is_held)).collect();
        let is_own = |place: u32| own.iter().any(|(own, _)| *own == place);
        let mut shown = (0u32..).zip(standings).filter(|(_, standing)| is_visible(standing));
        let has_own = shown.clone().any(|(place, _)| is_own(place));
        // What stands in the place of one that is held is a function.
        let is_function = |place: u32| !is_own(place) || own.contains(&(place, true));
        if !has_own || !shown.any(|(place, _)| is_function(place)) {
            return false;
        }
        self.placement = HostedPlacement::Nowhere;
        for tool in &mut self.tools {
            tool.absent.get_or_insert(ExclusionReason::NotBesideFunctions);
        }
        true
    }

    /// Puts functions in the place of what the model is to ask for.
    pub(super) fn put_functions(&self, standings: &mut [Visibility]) {
        // Where it stands alone no function can.
        let is_alone = self.placement == HostedPlacement::Alone;
        for tool in self.tools.iter().filter(|tool| tool.is_asked_for && !is_alone) {
            if let Some(standing) = visible(standings, tool.place) {
                let (because, exposure) = (InclusionReason::OnDemand, Exposure::Listed);
                *standing = Visibility::Visible { because, exposure };
            }
        }
    }
}

impl HostedPlace {
    /// The place of what stands in for it.
    fn counterpart(&self, permitted: &[Visibility]) -> Option<u32> {
        let is_there =
            |place: u32| matches!(permitted.get(place as usize), Some(Visibility::Visible { .. }));
        let is_out = self.absent.is_some() && is_there(self.place);
        self.local.filter(|local| is_out && is_there(*local))
    }
}

fn visible(standings: &mut [Visibility], place: u32) -> Option<&mut Visibility> {
    let standing = standings.get_mut(place as usize)?;
    matches!(standing, Visibility::Visible { .. }).then_some(standing)
}
