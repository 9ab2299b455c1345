//! How much one check can multiply: found once, by memoised counting over the graph.

use crate::schema::bounds::SchemaBounds;
use crate::schema::error::SchemaError;
use crate::schema::graph::keywords::SubschemaTarget;
use crate::schema::graph::{NodeId, SchemaEdge, SchemaGraph};

/// `unevaluatedProperties` runs the alternatives beside it again to learn what they evaluated,
/// and nested ones again in each of these runs: at most three runs for one at every level.
pub(crate) const UNEVALUATED_FACTOR: u64 = 3;

/// The longest chain of applicators and references for one value; the stack bounds it.
const LONGEST_CHAIN: usize = 128;

/// What lies below a subschema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnfoldTotal {
    /// Subschemas, each as often as it is reached.
    pub(crate) visits: u64,
    /// The same, with the weight of each.
    pub(crate) steps: u64,
    /// The longest way down.
    pub(crate) depth: usize,
}

/// Refuses references without progress and alternatives that multiply.
///
/// Returns the total of a check whatever the value, or nothing where the schema is recursive
/// and the value's own nesting decides.
pub(crate) fn check(
    graph: &SchemaGraph,
    bounds: &SchemaBounds,
) -> Result<Option<UnfoldTotal>, SchemaError> {
    let same = fold(graph, |edge| edge.place == SubschemaTarget::Same);
    for id in evaluated(graph) {
        let Some(node) = graph.node(id) else { continue };
        let at = node.at.clone();
        match same.get(id.0).copied().flatten() {
            None => {
                return Err(SchemaError::Cycle { at: cycle_at(graph, &same, id) });
            }
            Some(total) if total.depth > LONGEST_CHAIN => {
                return Err(SchemaError::ChainTooLong { at, limit: LONGEST_CHAIN });
            }
            Some(total) if total.visits > bounds.unfold => {
                return Err(SchemaError::TooMuchUnfolding { at, limit: bounds.unfold });
            }
            Some(_) => {}
        }
    }
    let all = fold(graph, |edge| edge.place != SubschemaTarget::Nothing);
    Ok(all.first().copied().flatten())
}

/// The subschemas that can be evaluated at all, the root first. What only stands in `$defs`
/// cannot, and does no harm there.
fn evaluated(graph: &SchemaGraph) -> Vec<NodeId> {
    let mut seen = vec![false; graph.nodes.len()];
    let mut found = Vec::new();
    let mut open = vec![NodeId(0)];
    while let Some(id) = open.pop() {
        let (Some(mark), Some(node)) = (seen.get_mut(id.0), graph.node(id)) else {
            continue;
        };
        if std::mem::replace(mark, true) {
            continue;
        }
        found.push(id);
        let edges = node.edges.iter().filter(|edge| edge.place != SubschemaTarget::Nothing);
        open.extend(edges.map(|edge| edge.to));
    }
    found
}

/// A place on the cycle below `id`: follows what could not be counted until it comes again.
fn cycle_at(graph: &SchemaGraph, totals: &[Option<UnfoldTotal>], id: NodeId) -> String {
    let mut seen = vec![false; graph.nodes.len()];
    let mut here = id;
    let mut at = String::new();
    while let (Some(mark), Some(node)) = (seen.get_mut(here.0), graph.node(here)) {
        at.clone_from(&node.at);
        if std::mem::replace(mark, true) {
            break;
        }
        let uncounted = |edge: &&SchemaEdge| {
            edge.place == SubschemaTarget::Same
                && totals.get(edge.to.0).is_some_and(Option::is_none)
        };
        let Some(edge) = node.edges.iter().find(uncounted) else {
            break;
        };
        here = edge.to;
    }
    at
}

/// Totals over the edges that `follows` takes, children first; nothing for nodes that reach a
/// cycle. Counts saturate.
fn fold(graph: &SchemaGraph, follows: impl Fn(&SchemaEdge) -> bool) -> Vec<Option<UnfoldTotal>> {
    let mut parents: Vec<Vec<NodeId>> = vec![Vec::new(); graph.nodes.len()];
    let mut missing = vec![0_usize; graph.nodes.len()];
    for (index, node) in graph.nodes.iter().enumerate() {
        for edge in node.edges.iter().filter(|edge| follows(edge)) {
            if let (Some(list), Some(count)) = (parents.get_mut(edge.to.0), missing.get_mut(index))
            {
                list.push(NodeId(index));
                *count += 1;
            }
        }
    }
    let mut totals = vec![None; graph.nodes.len()];
    let leaves = missing.iter().enumerate().filter(|(_, count)| **count == 0);
    let mut ready: Vec<NodeId> = leaves.map(|(index, _)| NodeId(index)).collect();
    while let Some(id) = ready.pop() {
        let total = sum(graph, id, &follows, &totals);
        if let Some(slot) = totals.get_mut(id.0) {
            *slot = Some(total);
        }
        for parent in parents.get(id.0).into_iter().flatten() {
            if let Some(count) = missing.get_mut(parent.0) {
                *count -= 1;
                if *count == 0 {
                    ready.push(*parent);
                }
            }
        }
    }
    totals
}

/// The total of a node whose children are counted.
fn sum(
    graph: &SchemaGraph,
    id: NodeId,
    follows: impl Fn(&SchemaEdge) -> bool,
    totals: &[Option<UnfoldTotal>],
) -> UnfoldTotal {
    let mut total = UnfoldTotal { visits: 1, steps: 1, depth: 1 };
    let Some(node) = graph.node(id) else {
        return total;
    };
    total.steps = node.weight;
    for edge in node.edges.iter().filter(|edge| follows(edge)) {
        let Some(below) = totals.get(edge.to.0).copied().flatten() else {
            continue;
        };
        let again = node.unevaluated && edge.place == SubschemaTarget::Same;
        let factor = if again { UNEVALUATED_FACTOR } else { 1 };
        total.visits = total.visits.saturating_add(below.visits.saturating_mul(factor));
        total.steps = total.steps.saturating_add(below.steps.saturating_mul(factor));
        total.depth = total.depth.max(below.depth + 1);
    }
    total
}
