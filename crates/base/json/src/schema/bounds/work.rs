//! Bounds the work of one check before it runs.
//!
//! The validator cannot be interrupted, and a recursive schema with alternatives may look at a
//! value twice as often with every level.
//! So the steps are counted first, each pair of subschema and value once, and a value that would
//! take too many is not checked at all.
//! The count is an upper bound: it knows no alternative that fails early.

use std::collections::HashMap;

use serde_json::Value;

use super::unfold::{UNEVALUATED_FACTOR, UnfoldTotal};
use crate::schema::bounds::SchemaBounds;
use crate::schema::graph::keywords::SubschemaTarget;
use crate::schema::graph::{NodeId, SchemaEdge, SchemaGraph, SchemaNode};

/// Subschemas that may be nested in one check: each takes some frames of the stack, and 512 of
/// them stay below 1 MiB even unoptimised.
const DEEPEST: usize = 512;

/// A value that is too large or too deep for its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMuchWork;

/// Steps a check may take, or that it is too much.
pub(crate) fn admit(
    graph: &SchemaGraph,
    total: Option<UnfoldTotal>,
    instance: &Value,
    bounds: &SchemaBounds,
) -> Result<(), TooMuchWork> {
    let size = measure(instance, bounds.instance_depth, bounds.steps).ok_or(TooMuchWork)?;
    if let Some(total) = total
        && total.depth <= DEEPEST
        && total.steps.saturating_mul(size) <= bounds.steps
    {
        return Ok(());
    }
    count(graph, instance, bounds.steps).map(|_| ())
}

/// What a check takes, at most `limit` steps. The instance's depth must be known to be bounded.
pub(crate) fn count(
    graph: &SchemaGraph,
    instance: &Value,
    limit: u64,
) -> Result<CheckCost, TooMuchWork> {
    let mut counter = WorkCounter { graph, limit, looked: 0, known: HashMap::new() };
    counter.cost(NodeId(0), CheckedPart::Value(instance), 0)
}

/// The size of a value: one for each value in it, and more for long texts.
/// Nothing if it is deeper than `levels` or larger than `limit`.
pub(crate) fn measure(value: &Value, levels: usize, limit: u64) -> Option<u64> {
    let mut left = limit;
    take(value, levels, &mut left)?;
    Some(limit - left)
}

fn take(value: &Value, levels: usize, left: &mut u64) -> Option<()> {
    let own = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => text_steps(text),
        Value::Array(items) => 1 + items.len() as u64 / 64,
        Value::Object(members) => 1 + members.keys().map(|key| text_steps(key)).sum::<u64>(),
    };
    *left = left.checked_sub(own)?;
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => None,
        Value::Array(items) => {
            items.iter().try_for_each(|item| take(item, levels.saturating_sub(1), left))
        }
        Value::Object(members) => {
            members.values().try_for_each(|member| take(member, levels.saturating_sub(1), left))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(()),
    }
}

/// About the bytes that a copy of a value takes. The value's depth must be known to be bounded.
pub(crate) fn bytes(value: &Value) -> u64 {
    const EACH: u64 = 32;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => EACH,
        Value::String(text) => EACH + text.len() as u64,
        Value::Array(items) => EACH + items.iter().map(bytes).sum::<u64>(),
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| EACH + key.len() as u64 + bytes(value);
            EACH + members.iter().map(member).sum::<u64>()
        }
    }
}

fn text_steps(text: &str) -> u64 {
    1 + text.len() as u64 / 64
}

/// What a subschema is applied to: a value, or the name of a member.
#[derive(Clone, Copy)]
enum CheckedPart<'v> {
    Value(&'v Value),
    Name(&'v str),
}

impl CheckedPart<'_> {
    fn address(self) -> usize {
        match self {
            CheckedPart::Value(value) => std::ptr::from_ref(value).addr(),
            CheckedPart::Name(name) => name.as_ptr().addr(),
        }
    }
}

struct WorkCounter<'g> {
    graph: &'g SchemaGraph,
    limit: u64,
    /// Edges followed so far: the counting itself is bounded too.
    looked: u64,
    known: HashMap<(NodeId, usize), CheckCost>,
}

/// What it takes to check one part by one subschema.
#[derive(Clone, Copy)]
pub(crate) struct CheckCost {
    pub(crate) steps: u64,
    /// Pairs of a subschema and a part, as often as they are met.
    pub(crate) checks: u64,
    /// Subschemas nested below.
    height: usize,
}

impl CheckCost {
    /// Adds what is nested one level below, met `times`.
    fn add(&mut self, below: CheckCost, times: u64) {
        self.steps = self.steps.saturating_add(below.steps.saturating_mul(times));
        self.checks = self.checks.saturating_add(below.checks.saturating_mul(times));
        self.height = self.height.max(below.height + 1);
    }
}

impl WorkCounter<'_> {
    fn cost(
        &mut self,
        id: NodeId,
        part: CheckedPart<'_>,
        depth: usize,
    ) -> Result<CheckCost, TooMuchWork> {
        let known = self.known.get(&(id, part.address())).copied();
        if depth + known.map_or(0, |cost| cost.height) > DEEPEST {
            return Err(TooMuchWork);
        }
        if let Some(cost) = known {
            return Ok(cost);
        }
        let graph = self.graph;
        let mut cost = CheckCost { steps: 0, checks: 1, height: 0 };
        let Some(node) = graph.node(id) else {
            return Ok(cost);
        };
        cost.steps = node.weight.saturating_add(self.own(part, node.unique));
        // The validator compares the reference it enters with all those it is in.
        cost.steps = cost.steps.saturating_add(depth as u64 / 64);
        // Skipping an edge costs little, but not nothing.
        self.looked = self.looked.saturating_add(node.edges.len() as u64 / 16);
        if let CheckedPart::Value(Value::Object(members)) = part {
            self.looked = self.looked.saturating_add(members.len() as u64);
            for (name, member) in members {
                if let Some(to) = node.declared.get(name) {
                    let below = self.cost(*to, CheckedPart::Value(member), depth + 1)?;
                    cost.add(below, 1);
                }
            }
        }
        for edge in node.edges.iter().filter(|edge| edge.place != SubschemaTarget::Member) {
            let again = node.unevaluated && edge.place == SubschemaTarget::Same;
            let factor = if again { UNEVALUATED_FACTOR } else { 1 };
            for below in reached(node, edge, part) {
                self.looked += 1;
                let below = self.cost(edge.to, below, depth + 1)?;
                cost.add(below, factor);
                if cost.steps > self.limit || self.looked > self.limit {
                    return Err(TooMuchWork);
                }
            }
        }
        if cost.steps > self.limit || self.looked > self.limit {
            return Err(TooMuchWork);
        }
        self.known.insert((id, part.address()), cost);
        Ok(cost)
    }

    /// The steps of the keywords without subschemas on this part.
    fn own(&mut self, part: CheckedPart<'_>, unique: bool) -> u64 {
        match part {
            CheckedPart::Name(text) => text_steps(text),
            CheckedPart::Value(Value::String(text)) => text_steps(text),
            CheckedPart::Value(value @ Value::Array(_)) if unique => {
                let size = measure(value, usize::MAX, self.limit).unwrap_or(self.limit);
                self.looked = self.looked.saturating_add(size);
                size
            }
            CheckedPart::Value(Value::Object(members)) => members.len() as u64,
            CheckedPart::Value(_) => 0,
        }
    }
}

/// The parts of a value that an edge applies its subschema to, but for members by name. Rules that
/// go by name or by what others left over count for every member or item.
fn reached<'v>(
    holder: &'v SchemaNode,
    edge: &SchemaEdge,
    part: CheckedPart<'v>,
) -> Box<dyn Iterator<Item = CheckedPart<'v>> + 'v> {
    let nothing = || Box::new(std::iter::empty());
    match (edge.place, part) {
        (SubschemaTarget::Same, part) => Box::new(std::iter::once(part)),
        (SubschemaTarget::Members, CheckedPart::Value(Value::Object(members))) => {
            let by_pattern = edge.keyword == "patternProperties";
            let others = members.iter().filter(move |(name, _)| {
                by_pattern || !holder.declared.contains_key(name.as_str())
            });
            Box::new(others.map(|(_, member)| CheckedPart::Value(member)))
        }
        (SubschemaTarget::Names, CheckedPart::Value(Value::Object(members))) => {
            Box::new(members.keys().map(|name| CheckedPart::Name(name)))
        }
        (SubschemaTarget::Item, CheckedPart::Value(Value::Array(items))) => {
            let index = edge.key.parse::<usize>().ok();
            Box::new(index.and_then(|index| items.get(index)).into_iter().map(CheckedPart::Value))
        }
        (SubschemaTarget::Items, CheckedPart::Value(Value::Array(items))) => {
            Box::new(items.iter().map(CheckedPart::Value))
        }
        _ => nothing(),
    }
}
