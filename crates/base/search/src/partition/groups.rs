//! Groups while tools are put into them.

use super::features::{SparseVector, ToolFeatures, common};
use super::placement::{PlacedTool, PlacementReason};
use crate::number_cast::{place, real};

pub(super) struct ToolGroups {
    groups: Vec<ToolGroup>,
    /// For each tool the groups that have it.
    places: Vec<Vec<usize>>,
    /// For each tool the group that it belongs to.
    pub(super) home: Vec<Option<usize>>,
    pub(super) capacity: usize,
    /// For each group whether it has only what it has in any case.
    closed: Vec<bool>,
}

pub(super) struct ToolGroup {
    /// The tools with the reasons, in no order.
    pub(super) members: Vec<(usize, PlacementReason)>,
    /// What its tools have, added up.
    sum: Vec<f32>,
    pub(super) role: SparseVector,
}

/// How many tools the role of a group counts for.
const ROLE: f32 = 3.0;

impl ToolGroups {
    pub(super) fn new(
        features: &ToolFeatures,
        roles: Vec<SparseVector>,
        (capacity, closed): (usize, Vec<bool>),
    ) -> Self {
        let empty =
            |role| ToolGroup { members: Vec::new(), sum: vec![0.0; features.width()], role };
        let groups = roles.into_iter().map(empty).collect();
        let tools = features.len();
        let (places, home) = (vec![Vec::new(); tools], vec![None; tools]);
        Self { groups, places, home, capacity, closed }
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn size(&self, group: usize) -> usize {
        self.groups.get(group).map_or(0, |group| group.members.len())
    }

    pub(super) fn has(&self, group: usize, tool: usize) -> bool {
        self.places.get(tool).is_some_and(|places| places.contains(&group))
    }

    pub(super) fn members(&self, group: usize) -> &[(usize, PlacementReason)] {
        self.groups.get(group).map_or(&[], |group| group.members.as_slice())
    }

    pub(super) fn role(&self, group: usize) -> &[(u32, f32)] {
        self.groups.get(group).map_or(&[], |group| group.role.as_slice())
    }

    pub(super) fn is_closed(&self, group: usize) -> bool {
        self.closed.get(group).copied().unwrap_or(true)
    }

    pub(super) fn has_room(&self, group: usize) -> bool {
        !self.is_closed(group) && self.size(group) < self.capacity
    }

    /// Whether every tool is in a group.
    pub(super) fn is_complete(&self) -> bool {
        self.home.iter().all(Option::is_some)
    }

    /// Puts a tool into a group; the first is its home.
    pub(super) fn put(
        &mut self,
        features: &ToolFeatures,
        tool: usize,
        group: usize,
        why: PlacementReason,
    ) {
        let Some(to) = self.groups.get_mut(group) else { return };
        to.members.push((tool, why));
        to.add(features.vector(tool), 1.0);
        if let Some(home) = self.home.get_mut(tool) {
            home.get_or_insert(group);
        }
        if let Some(places) = self.places.get_mut(tool) {
            places.push(group);
        }
    }

    /// Takes a tool out of its home.
    pub(super) fn take(&mut self, features: &ToolFeatures, tool: usize) {
        let Some(home) = self.home.get_mut(tool).and_then(Option::take) else { return };
        if let Some(from) = self.groups.get_mut(home) {
            from.members.retain(|(member, _)| *member != tool);
            from.add(features.vector(tool), -1.0);
        }
        if let Some(places) = self.places.get_mut(tool) {
            places.retain(|place| *place != home);
        }
    }

    /// What a tool has in common with a group, on the average of its tools and its role, itself
    /// left out.
    pub(super) fn affinity(&self, features: &ToolFeatures, tool: usize, group: usize) -> f32 {
        let Some(with) = self.groups.get(group) else { return 0.0 };
        let vector = features.vector(tool);
        let of_role = if with.role.is_empty() { 0.0 } else { ROLE };
        let (mut sum, mut count) = (with.dot(vector), real(with.members.len()));
        if self.has(group, tool) {
            sum -= square(vector);
            count -= 1.0;
        }
        let all = count + of_role;
        if all < 0.5 { 0.0 } else { ((sum + of_role * common(vector, &with.role)) / all).max(0.0) }
    }

    /// The part of what tools have in common that lies within their groups.
    pub(super) fn cohesion(&self, features: &ToolFeatures) -> f32 {
        let tools = 0..features.len();
        let own: f32 = tools.clone().map(|tool| square(features.vector(tool))).sum();
        let within = |group: usize| {
            let members = tools.clone().filter(|tool| self.home.get(*tool) == Some(&Some(group)));
            spread(features, members)
        };
        let within: f32 = (0..self.len()).map(within).sum();
        let all = spread(features, tools.clone()) - own;
        if all <= f32::EPSILON { 1.0 } else { ((within - own) / all).clamp(0.0, 1.0) }
    }

    /// The groups by document, in the order of names.
    pub(super) fn into_placed(self, features: &ToolFeatures) -> Vec<Vec<PlacedTool>> {
        let placed = |group: usize| {
            let mut members = self.members(group).to_vec();
            members.sort_unstable_by_key(|(tool, _)| *tool);
            let placed = members.into_iter().filter_map(|(tool, why)| {
                let affinity = self.affinity(features, tool, group).min(1.0);
                Some(PlacedTool { document: *features.documents.get(tool)?, why, affinity })
            });
            placed.collect()
        };
        (0..self.len()).map(placed).collect()
    }
}

impl ToolGroup {
    fn add(&mut self, vector: &[(u32, f32)], times: f32) {
        for (feature, weight) in vector {
            if let Some(sum) = self.sum.get_mut(place(*feature)) {
                *sum += times * weight;
            }
        }
    }

    fn dot(&self, vector: &[(u32, f32)]) -> f32 {
        let of = |feature: u32| self.sum.get(place(feature)).copied().unwrap_or_default();
        vector.iter().map(|(feature, weight)| weight * of(*feature)).sum()
    }
}

fn square(vector: &[(u32, f32)]) -> f32 {
    common(vector, vector)
}

/// What each of these tools has in common with each, itself among them.
fn spread(features: &ToolFeatures, tools: impl Iterator<Item = usize>) -> f32 {
    let mut sum = vec![0.0_f32; features.width()];
    for tool in tools {
        for (feature, weight) in features.vector(tool) {
            if let Some(sum) = sum.get_mut(place(*feature)) {
                *sum += weight;
            }
        }
    }
    sum.iter().map(|weight| weight * weight).sum()
}
