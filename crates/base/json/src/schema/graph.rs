//! A schema as a graph: its subschemas and what each applies to which part of a value.
//!
//! References are resolved by the same resolver the validator uses, so what is bounded here is
//! what runs there.

pub(crate) mod explore;
pub(crate) mod keywords;

use std::collections::HashMap;

use jsonschema::Draft;

use keywords::SubschemaTarget;

/// The subschemas that can be reached from a root, which is the first.
#[derive(Debug)]
pub(super) struct SchemaGraph {
    pub(super) nodes: Vec<SchemaNode>,
}

/// The place of a node in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(pub(super) usize);

/// One subschema.
#[derive(Debug, Default)]
pub(super) struct SchemaNode {
    /// JSON Pointer, behind the address of its document if that is another one.
    pub(super) at: String,
    pub(super) edges: Vec<SchemaEdge>,
    /// What stands below `properties`, once more by name.
    pub(super) declared: HashMap<String, NodeId>,
    /// Which document or part with an `$id` it belongs to.
    pub(super) document: usize,
    /// Steps of the keywords that hold no subschema, `enum` above all.
    pub(super) weight: u64,
    /// `unevaluatedProperties` and `unevaluatedItems` check what stands beside them again.
    pub(super) unevaluated: bool,
    /// `uniqueItems` reads all below the value.
    pub(super) unique: bool,
    /// The `format`, an annotation that helps who reads an error.
    pub(super) format: Option<String>,
}

/// From a schema to one of its subschemas.
#[derive(Debug)]
pub(super) struct SchemaEdge {
    pub(super) keyword: &'static str,
    /// The name or index below the keyword; empty where there is none.
    pub(super) key: String,
    pub(super) place: SubschemaTarget,
    pub(super) to: NodeId,
}

impl SchemaGraph {
    pub(super) fn node(&self, id: NodeId) -> Option<&SchemaNode> {
        self.nodes.get(id.0)
    }

    /// The schema that holds the last keyword of an evaluation path such as
    /// `/properties/start/$ref/type`.
    pub(super) fn holder(&self, path: &str) -> Option<&SchemaNode> {
        let (path, _) = path.rsplit_once('/')?;
        let tokens: Vec<String> = path.split('/').skip(1).map(unescape).collect();
        let mut node = self.nodes.first()?;
        let mut rest = tokens.as_slice();
        while let [keyword, below @ ..] = rest {
            let (edge, taken) = node.step(keyword, below.first())?;
            node = self.node(edge.to)?;
            rest = rest.get(taken..).unwrap_or_default();
        }
        Some(node)
    }
}

impl SchemaNode {
    /// The names of the arguments that `properties` declares here.
    pub(super) fn properties(&self) -> impl Iterator<Item = &str> {
        let declared = |edge: &&SchemaEdge| edge.place == SubschemaTarget::Member;
        self.edges.iter().filter(declared).map(|edge| edge.key.as_str())
    }

    /// The edge that one or two tokens of a path name, and how many those are.
    fn step(&self, keyword: &str, key: Option<&String>) -> Option<(&SchemaEdge, usize)> {
        let of_keyword = || self.edges.iter().filter(|edge| edge.keyword == keyword);
        of_keyword()
            .find(|edge| !edge.key.is_empty() && Some(&edge.key) == key)
            .map(|edge| (edge, 2))
            .or_else(|| of_keyword().find(|edge| edge.key.is_empty()).map(|edge| (edge, 1)))
    }
}

/// A token of a JSON Pointer as the name it stands for.
pub(super) fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Whether a draft ignores what stands beside a `$ref`.
pub(super) fn ref_stands_alone(draft: Draft) -> bool {
    matches!(draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7)
}
