//! Tools shared out over agents: what belongs together stays together.
//!
//! Read in this order: [`PartitionSettings`] (what is wished) and [`Partition`] (what comes of it),
//! `features` (what tools have in common), `groups` (what is known of a group while it grows),
//! `clusters` (who goes where), `bridges` (what more than one group has).
//!
//! What must stay true: the same documents and wishes give the same partition, in whatever order
//! they come; every document is in a group; no group has more than may be; what may change
//! something is in one group unless it is allowed in several.

mod bridges;
mod clusters;
mod features;
mod groups;
mod placement;
mod settings;

use crate::document::ToolDocument;
use features::ToolFeatures;
pub use placement::{Partition, PartitionError, PlacedTool, PlacementReason};
pub use settings::{Overlap, PartitionAgent, PartitionSettings};

/// How much of what documents have in common lies within groups of them, from 0 to 1; a document
/// counts for the first group that has it, and groups hold places of documents.
pub fn cohesion(documents: &[ToolDocument<'_>], groups: &[Vec<usize>]) -> f32 {
    let features = ToolFeatures::of(documents);
    let roles = vec![Vec::new(); groups.len()];
    let closed = vec![false; groups.len()];
    let mut known = groups::ToolGroups::new(&features, roles, (usize::MAX, closed));
    for (tool, document) in features.documents.iter().enumerate() {
        let found = groups.iter().position(|group| group.contains(document));
        if let Some(group) = found {
            known.put(&features, tool, group, PlacementReason::Fixed);
        }
    }
    known.cohesion(&features)
}

/// Shares the documents out over the agents.
///
/// Agents beyond the number of tools, and roles that nothing fits, have no tools.
///
/// # Errors
/// There is no agent, all are closed and a tool is left, or there is no room.
pub fn partition(
    documents: &[ToolDocument<'_>],
    settings: &PartitionSettings<'_>,
) -> Result<Partition, PartitionError> {
    if settings.agents.is_empty() {
        return Err(PartitionError::NoAgent);
    }
    let capacity = settings.capacity.unwrap_or(usize::MAX);
    let tools = documents.len() - settings.kept().range(..documents.len()).count();
    let agents = settings.agents.iter().filter(|agent| !agent.closed).count();
    if agents == 0 && tools > 0 {
        return Err(PartitionError::NoAgent);
    }
    let room = capacity.saturating_mul(agents);
    if tools > room {
        return Err(PartitionError::OverCapacity { tools, capacity, room });
    }
    for (agent, wished) in settings.agents.iter().enumerate() {
        let mut fixed = wished.fixed.clone();
        fixed.sort_unstable();
        fixed.dedup();
        if fixed.len() > capacity {
            let fixed = fixed.len();
            return Err(PartitionError::FixedOverCapacity { agent, fixed, capacity });
        }
    }
    let features = ToolFeatures::of(documents);
    let mut groups = clusters::clusters(&features, settings);
    if !groups.is_complete() {
        // Tools that agents have in any case and in common took the room of others.
        return Err(PartitionError::OverCapacity { tools, capacity, room });
    }
    let cohesion = groups.cohesion(&features);
    bridges::share(&features, settings, &mut groups);
    Ok(Partition { groups: groups.into_placed(&features), cohesion })
}
