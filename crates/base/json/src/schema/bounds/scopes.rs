//! How often the validator compiles a subschema: once for each way to it through documents.
//!
//! A `$dynamicRef` means another schema with every way by which its document was reached, so the
//! validator compiles per way, and ways multiply where parts with an `$id` refer to each other.
//! The ways are walked here first, as the validator will, up to a bound.

use std::collections::{HashMap, HashSet};

use crate::schema::bounds::SchemaBounds;
use crate::schema::error::SchemaError;
use crate::schema::graph::keywords::SubschemaTarget;
use crate::schema::graph::{NodeId, SchemaEdge, SchemaGraph};

/// Refuses a schema that would be compiled too often. Within one document nothing multiplies.
pub(crate) fn check(graph: &SchemaGraph, bounds: &SchemaBounds) -> Result<(), SchemaError> {
    let first = graph.nodes.first().map(|node| node.document);
    if graph.nodes.iter().all(|node| Some(node.document) == first) {
        return Ok(());
    }
    let limit = bounds.subschemas;
    let mut walk = ScopeWalk {
        graph,
        path: Vec::new(),
        referred: HashSet::new(),
        done: HashSet::new(),
        longer: HashMap::new(),
        scopes: Vec::new(),
    };
    walk.enter(NodeId(0), DocumentTrail(0), false);
    while let Some(step) = walk.path.last_mut() {
        let (id, scope, next) = (step.id, step.scope, step.next);
        step.next += 1;
        match graph.node(id).and_then(|node| node.edges.get(next)) {
            Some(edge) => walk.follow(edge, id, scope),
            None => walk.leave(),
        }
        if walk.done.len() > limit {
            return Err(SchemaError::TooManyWays { limit });
        }
    }
    Ok(())
}

/// A list of documents that a walk came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct DocumentTrail(usize);

struct ScopeStep {
    id: NodeId,
    scope: DocumentTrail,
    /// The edge to follow next.
    next: usize,
    /// A reference led here, so that until it is left it is not entered again.
    referred: bool,
}

struct ScopeWalk<'g> {
    graph: &'g SchemaGraph,
    path: Vec<ScopeStep>,
    referred: HashSet<NodeId>,
    done: HashSet<(NodeId, DocumentTrail)>,
    /// The scope that a scope becomes by one more document.
    longer: HashMap<(DocumentTrail, usize), DocumentTrail>,
    /// For each scope but the empty one, the scope it was before and the document that came last.
    scopes: Vec<(DocumentTrail, usize)>,
}

impl ScopeWalk<'_> {
    fn follow(&mut self, edge: &SchemaEdge, from: NodeId, scope: DocumentTrail) {
        let referred = edge.keyword.ends_with("ef");
        let to = match edge {
            SchemaEdge { place: SubschemaTarget::Nothing, .. } => return,
            SchemaEdge { keyword: "$dynamicRef" | "$recursiveRef", .. } => {
                match self.meant(edge, from, scope) {
                    Some(to) => to,
                    None => return,
                }
            }
            SchemaEdge { to, .. } => *to,
        };
        let document = |id: NodeId| self.graph.node(id).map(|node| node.document);
        match (document(from), document(to)) {
            (Some(left), Some(entered)) if referred && left != entered => {
                let longer = self.lengthen(scope, left);
                self.enter(to, longer, true);
            }
            _ => self.enter(to, scope, referred),
        }
    }

    fn lengthen(&mut self, scope: DocumentTrail, document: usize) -> DocumentTrail {
        let known = self.longer.entry((scope, document));
        *known.or_insert_with(|| {
            self.scopes.push((scope, document));
            DocumentTrail(self.scopes.len())
        })
    }

    /// What a dynamic reference means: of its targets the one in the document that was come
    /// through first, or else the first. Answered once, for the first of its edges.
    fn meant(&self, edge: &SchemaEdge, from: NodeId, scope: DocumentTrail) -> Option<NodeId> {
        let edges = || {
            let edges = self.graph.node(from).map(|node| node.edges.iter());
            edges.into_iter().flatten().filter(|other| other.keyword == edge.keyword)
        };
        let first = edges().next()?;
        if !std::ptr::eq(first, edge) {
            return None;
        }
        let document =
            |edge: &SchemaEdge| self.graph.node(edge.to).map(|node| (node.document, edge.to));
        let targets: HashMap<usize, NodeId> = edges().filter_map(document).collect();
        let mut meant = edge.to;
        let mut scope = scope;
        while let Some((before, document)) =
            scope.0.checked_sub(1).and_then(|index| self.scopes.get(index))
        {
            meant = targets.get(document).copied().unwrap_or(meant);
            scope = *before;
        }
        Some(meant)
    }

    fn enter(&mut self, id: NodeId, scope: DocumentTrail, referred: bool) {
        if referred && self.referred.contains(&id) || !self.done.insert((id, scope)) {
            return;
        }
        if referred {
            self.referred.insert(id);
        }
        self.path.push(ScopeStep { id, scope, next: 0, referred });
    }

    fn leave(&mut self) {
        if let Some(ScopeStep { id, referred: true, .. }) = self.path.pop() {
            self.referred.remove(&id);
        }
    }
}
