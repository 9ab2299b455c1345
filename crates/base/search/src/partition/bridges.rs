//! What more than one group has.

use super::features::ToolFeatures;
use super::groups::ToolGroups;
use super::placement::PlacementReason;
use super::settings::{Overlap, PartitionSettings};
use crate::number_cast::real;

/// How near a tool must be to another group, beside its own, to be of use there.
const NEARLY: f32 = 0.85;

/// Gives groups what belongs to others, as far as the settings wish it and there is room.
pub(super) fn share(
    features: &ToolFeatures,
    settings: &PartitionSettings<'_>,
    groups: &mut ToolGroups,
) {
    let most = match settings.overlap {
        Overlap::None => return,
        Overlap::Bridges => groups.len(),
        Overlap::UpTo(most) => most,
    };
    // Without a bound that was set, what is shared is beside the equal share.
    if settings.capacity.is_none() {
        groups.capacity = usize::MAX;
    }
    let sizes: Vec<usize> = (0..groups.len()).map(|group| groups.size(group)).collect();
    // What is wished is found out before anything is shared, so that nothing depends on the order.
    let mut wished: Vec<(f32, usize, usize)> = Vec::new();
    for tool in 0..features.len() {
        if features.writes(tool) && !settings.shares_writers {
            continue;
        }
        let Some(home) = groups.home.get(tool).copied().flatten() else { continue };
        let own = groups.affinity(features, tool, home);
        for group in 0..groups.len() {
            // An agent without tools needs none of others.
            if sizes.get(group) == Some(&0) || groups.has(group, tool) {
                continue;
            }
            let near = groups.affinity(features, tool, group);
            let worth = worth(features, groups, tool, group);
            let is_wished = match settings.overlap {
                Overlap::None => false,
                Overlap::Bridges => worth > 0.0 || (near > 0.0 && near >= NEARLY * own),
                Overlap::UpTo(_) => worth > 0.0 || near > 0.0,
            };
            if is_wished {
                wished.push((worth + near, tool, group));
            }
        }
    }
    wished.sort_by(|(one, tool, group), (other, tool2, group2)| {
        other.total_cmp(one).then((tool, group).cmp(&(tool2, group2)))
    });
    for (_, tool, group) in wished {
        let has = (0..groups.len()).filter(|group| groups.has(*group, tool)).count();
        if has < most && groups.has_room(group) {
            groups.put(features, tool, group, PlacementReason::Shared);
        }
    }
}

/// How much of a group a tool serves: the part of its tools that take the ids of what it finds.
fn worth(features: &ToolFeatures, groups: &ToolGroups, tool: usize, group: usize) -> f32 {
    let Some(yields) = features.yields.get(tool).filter(|yields| !yields.is_empty()) else {
        return 0.0;
    };
    let members = groups.members(group);
    let served = members.iter().filter(|(member, _)| {
        let needs = features.needs.get(*member);
        needs.is_some_and(|needs| needs.iter().any(|thing| yields.contains(thing)))
    });
    real(served.count()) / real(members.len().max(1))
}
