//! Which group each tool belongs to.

use super::features::{SparseVector, ToolFeatures, common};
use super::groups::ToolGroups;
use super::placement::PlacementReason;
use super::settings::{PartitionAgent, PartitionSettings};

/// How often tools are moved to where they fit better.
const PASSES: usize = 8;

/// What a move must bring, so that none is made back and forth.
const LEAST_GAIN: f32 = 1e-4;

/// Puts every tool into a group, as far as there is room.
pub(super) fn clusters(features: &ToolFeatures, settings: &PartitionSettings<'_>) -> ToolGroups {
    let roles: Vec<_> = settings.agents.iter().map(|agent| features.role(&agent.role)).collect();
    let capacity = settings.capacity.unwrap_or_else(|| fair(features.len(), settings, &roles));
    let closed = settings.agents.iter().map(|agent| agent.closed).collect();
    let mut groups = ToolGroups::new(features, roles, (capacity, closed));
    fix(features, settings, &mut groups);
    seed(features, settings, &mut groups);
    let mut open: Vec<usize> =
        (0..features.len()).filter(|tool| groups.home.get(*tool) == Some(&None)).collect();
    // Those that care most where they go are first; the sort keeps the order of names.
    let care = |tool: &usize| preference(features, &groups, *tool);
    let mut cared: Vec<(f32, usize)> = open.drain(..).map(|tool| (care(&tool), tool)).collect();
    cared.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    for (_, tool) in cared {
        if let Some((group, why)) = best(features, &groups, tool) {
            groups.put(features, tool, group, why);
        }
    }
    refine(features, &mut groups);
    groups
}

/// Half more than an equal share of those that something fits, and never less than what an agent has
/// in any case.
fn fair(tools: usize, settings: &PartitionSettings<'_>, roles: &[SparseVector]) -> usize {
    let open = || settings.agents.iter().zip(roles).filter(|(agent, _)| !agent.closed);
    let is_met = |(agent, role): &(&PartitionAgent<'_>, &SparseVector)| {
        agent.role.trim().is_empty() || !role.is_empty() || !agent.fixed.is_empty()
    };
    let met = open().filter(is_met).count();
    let agents = if met == 0 { open().count().max(1) } else { met };
    let fixed: usize = open().map(|(agent, _)| agent.fixed.len()).sum();
    let tools = tools - settings.kept().range(..tools).count();
    (tools * 3).div_ceil(agents * 2).max(1) + fixed
}

/// What agents have in any case.
fn fix(features: &ToolFeatures, settings: &PartitionSettings<'_>, groups: &mut ToolGroups) {
    for (group, agent) in settings.agents.iter().enumerate() {
        for (tool, document) in features.documents.iter().enumerate() {
            if agent.fixed.contains(document) {
                groups.put(features, tool, group, PlacementReason::Fixed);
            }
        }
    }
}

/// Gives each group without role and tool a first one, as far from the other groups as may be. A
/// role that no tool has a word of has none, unless no role has.
fn seed(features: &ToolFeatures, settings: &PartitionSettings<'_>, groups: &mut ToolGroups) {
    let all_are_silent = (0..groups.len()).all(|group| groups.role(group).is_empty());
    let has_role = |group: usize| {
        let agent = settings.agents.get(group);
        agent.is_some_and(|agent| !agent.role.trim().is_empty())
    };
    let density = features.density();
    let mut nearest = vec![0.0_f32; features.len()];
    let mut known = Vec::new();
    for group in 0..groups.len() {
        known.extend(groups.members(group).iter().map(|(tool, _)| features.vector(*tool).to_vec()));
        known.push(groups.role(group).to_vec());
    }
    for vector in &known {
        approach(features, vector, &mut nearest);
    }
    for group in 0..groups.len() {
        let is_begun = groups.size(group) > 0 || !groups.role(group).is_empty();
        if groups.is_closed(group) || is_begun || (has_role(group) && !all_are_silent) {
            continue;
        }
        let mut found: Option<(f32, usize)> = None;
        for (tool, home) in groups.home.iter().enumerate() {
            let near = nearest.get(tool).copied().unwrap_or_default();
            let score = (1.0 - near).max(0.0) * density.get(tool).copied().unwrap_or_default();
            if home.is_none() && found.is_none_or(|(best, _)| score > best) {
                found = Some((score, tool));
            }
        }
        let Some((_, tool)) = found else { return };
        groups.put(features, tool, group, PlacementReason::Affinity);
        approach(features, features.vector(tool), &mut nearest);
    }
}

fn approach(features: &ToolFeatures, to: &[(u32, f32)], nearest: &mut [f32]) {
    for (tool, near) in nearest.iter_mut().enumerate() {
        *near = near.max(common(features.vector(tool), to));
    }
}

/// How much better the best group is than the next.
fn preference(features: &ToolFeatures, groups: &ToolGroups, tool: usize) -> f32 {
    let (mut first, mut second) = (0.0_f32, 0.0_f32);
    for group in 0..groups.len() {
        let affinity = groups.affinity(features, tool, group);
        if affinity > first {
            (first, second) = (affinity, first);
        } else {
            second = second.max(affinity);
        }
    }
    first - second
}

/// The group with room that a tool fits best; none fits: the one with the fewest tools.
fn best(
    features: &ToolFeatures,
    groups: &ToolGroups,
    tool: usize,
) -> Option<(usize, PlacementReason)> {
    let mut found: Option<(f32, usize)> = None;
    for group in (0..groups.len()).filter(|group| groups.has_room(*group)) {
        let affinity = groups.affinity(features, tool, group);
        if affinity > 0.0 && found.is_none_or(|(best, _)| affinity > best) {
            found = Some((affinity, group));
        }
    }
    if let Some((_, group)) = found {
        return Some((group, reason(features, groups, tool, group)));
    }
    let open = (0..groups.len()).filter(|group| groups.has_room(*group));
    // An agent that nothing fits is given nothing, as long as another one has room.
    let open = open.min_by_key(|group| (groups.size(*group) == 0, groups.size(*group), *group));
    open.map(|group| (group, PlacementReason::Leftover))
}

fn reason(
    features: &ToolFeatures,
    groups: &ToolGroups,
    tool: usize,
    group: usize,
) -> PlacementReason {
    if common(features.vector(tool), groups.role(group)) > 0.0 {
        PlacementReason::Role
    } else {
        PlacementReason::Affinity
    }
}

/// Moves tools to where they fit better, and lets two change places where there is no room.
fn refine(features: &ToolFeatures, groups: &mut ToolGroups) {
    for _ in 0..PASSES {
        let mut moved = false;
        for tool in 0..features.len() {
            moved |= settle(features, groups, tool);
        }
        if !moved {
            return;
        }
    }
}

fn settle(features: &ToolFeatures, groups: &mut ToolGroups, tool: usize) -> bool {
    let Some(home) = groups.home.get(tool).copied().flatten() else { return false };
    if is_fixed(groups, home, tool) || groups.size(home) < 2 {
        return false;
    }
    let own = groups.affinity(features, tool, home);
    let mut found: Option<(f32, usize)> = None;
    for group in (0..groups.len()).filter(|group| *group != home && !groups.has(*group, tool)) {
        let gain = groups.affinity(features, tool, group) - own;
        if gain > LEAST_GAIN && found.is_none_or(|(best, _)| gain > best) {
            found = Some((gain, group));
        }
    }
    let Some((gain, group)) = found else { return false };
    if groups.has_room(group) {
        move_to(features, groups, tool, group);
        return true;
    }
    let Some(other) = exchange(features, groups, home, group, gain) else { return false };
    move_to(features, groups, other, home);
    move_to(features, groups, tool, group);
    true
}

/// The tool of a full group whose move away costs less than the other brings.
fn exchange(
    features: &ToolFeatures,
    groups: &ToolGroups,
    to: usize,
    from: usize,
    gain: f32,
) -> Option<usize> {
    let mut found: Option<(f32, usize)> = None;
    for (tool, why) in groups.members(from) {
        let is_home = groups.home.get(*tool) == Some(&Some(from));
        if *why == PlacementReason::Fixed || !is_home || groups.has(to, *tool) {
            continue;
        }
        let back = groups.affinity(features, *tool, to) - groups.affinity(features, *tool, from);
        let better =
            found.is_none_or(|(best, known)| back > best || (back >= best && *tool < known));
        if gain + back > LEAST_GAIN && better {
            found = Some((back, *tool));
        }
    }
    found.map(|(_, tool)| tool)
}

fn move_to(features: &ToolFeatures, groups: &mut ToolGroups, tool: usize, group: usize) {
    groups.take(features, tool);
    let why = reason(features, groups, tool, group);
    groups.put(features, tool, group, why);
}

fn is_fixed(groups: &ToolGroups, group: usize, tool: usize) -> bool {
    groups.members(group).contains(&(tool, PlacementReason::Fixed))
}
