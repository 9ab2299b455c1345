//! Builds the graph of a schema: walks its subschemas and follows its references.

use std::collections::HashMap;

use referencing::{Draft, Registry, Resolver, Uri};
use serde_json::{Map, Value};

use super::keywords::{KEYWORDS, SubschemaLayout, SubschemaTarget};
use super::{NodeId, SchemaEdge, SchemaGraph, SchemaNode, ref_stands_alone};
use crate::schema::bounds::pattern::SchemaPattern;
use crate::schema::bounds::{SchemaBounds, push_token};
use crate::schema::error::SchemaError;
use crate::schema::excerpt;

/// Where an exploration begins.
pub(crate) struct SchemaRoot<'r> {
    pub(crate) value: &'r Value,
    pub(crate) base: Uri<String>,
    pub(crate) draft: Draft,
}

/// Explores all that a schema leads to. Work is bounded by `bounds.subschemas`.
pub(crate) fn explore<'r>(
    start: SchemaRoot<'r>,
    registry: &'r Registry<'r>,
    bounds: &SchemaBounds,
) -> Result<(SchemaGraph, Vec<SchemaPattern>), SchemaError> {
    let mut explorer = GraphExplorer {
        bounds,
        nodes: Vec::new(),
        known: HashMap::new(),
        open: Vec::new(),
        documents: HashMap::new(),
        patterns: Vec::new(),
        anchors: Vec::new(),
        dynamic: Vec::new(),
    };
    let resolver = registry.resolver(start.base);
    let at = String::new();
    explorer.visit(SchemaSite { value: start.value, resolver, draft: start.draft, at })?;
    while let Some((id, site)) = explorer.open.pop() {
        explorer.expand(id, &site)?;
    }
    explorer.connect_dynamic()?;
    let graph = SchemaGraph { nodes: explorer.nodes };
    Ok((graph, explorer.patterns))
}

/// Characters of a place after which no more is said: every subschema keeps its own.
const LONGEST_PLACE: usize = 500;

/// A subschema and what is needed to resolve the references in it.
struct SchemaSite<'r> {
    value: &'r Value,
    resolver: Resolver<'r>,
    draft: Draft,
    at: String,
}

struct GraphExplorer<'r, 'b> {
    bounds: &'b SchemaBounds,
    nodes: Vec<SchemaNode>,
    /// By address: the documents outlive the exploration, so an address names one subschema.
    known: HashMap<usize, NodeId>,
    open: Vec<(NodeId, SchemaSite<'r>)>,
    documents: HashMap<String, usize>,
    patterns: Vec<SchemaPattern>,
    /// Subschemas that a dynamic reference may reach, under the name of their anchor.
    anchors: Vec<(Option<&'r str>, NodeId)>,
    /// Dynamic references, and the name of the anchor that makes them dynamic.
    dynamic: Vec<(Option<&'r str>, NodeId)>,
}

impl<'r> GraphExplorer<'r, '_> {
    /// The node of a subschema, which is expanded later if it is new.
    fn visit(&mut self, site: SchemaSite<'r>) -> Result<NodeId, SchemaError> {
        let address = std::ptr::from_ref(site.value).addr();
        if let Some(id) = self.known.get(&address) {
            return Ok(*id);
        }
        if self.nodes.len() >= self.bounds.subschemas {
            return Err(SchemaError::TooManySubschemas {
                at: site.at,
                limit: self.bounds.subschemas,
            });
        }
        let id = NodeId(self.nodes.len());
        let fresh = self.documents.len();
        let base = site.resolver.base_uri().as_str().to_owned();
        let document = *self.documents.entry(base).or_insert(fresh);
        self.nodes.push(SchemaNode {
            at: site.at.clone(),
            document,
            weight: 1,
            ..SchemaNode::default()
        });
        self.known.insert(address, id);
        self.open.push((id, site));
        Ok(id)
    }

    fn expand(&mut self, id: NodeId, site: &SchemaSite<'r>) -> Result<(), SchemaError> {
        let Value::Object(schema) = site.value else {
            return Ok(());
        };
        let mut edges = self.references(id, schema, site)?;
        if !(ref_stands_alone(site.draft) && schema.contains_key("$ref")) {
            self.note_patterns(schema, site)?;
            for (keyword, shape, place) in KEYWORDS {
                let Some(held) = schema.get(*keyword) else {
                    continue;
                };
                for (key, child) in subschemas(*shape, held) {
                    let to = self.visit(site.below(keyword, key.as_deref(), child)?)?;
                    edges.push(SchemaEdge {
                        keyword,
                        key: key.unwrap_or_default(),
                        place: *place,
                        to,
                    });
                }
            }
        }
        self.note_anchors(id, schema);
        if let Some(node) = self.nodes.get_mut(id.0) {
            node.weight = weight(schema);
            node.unevaluated = schema.contains_key("unevaluatedProperties")
                || schema.contains_key("unevaluatedItems");
            node.unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
            node.format = schema.get("format").and_then(Value::as_str).map(str::to_owned);
            let members = edges.iter().filter(|edge| edge.place == SubschemaTarget::Member);
            node.declared = members.map(|edge| (edge.key.clone(), edge.to)).collect();
            node.edges = edges;
        }
        Ok(())
    }

    /// Follows `$ref` and its dynamic kin.
    fn references(
        &mut self,
        id: NodeId,
        schema: &'r Map<String, Value>,
        site: &SchemaSite<'r>,
    ) -> Result<Vec<SchemaEdge>, SchemaError> {
        let mut edges = Vec::new();
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(Value::String(reference)) = schema.get(keyword) else {
                continue;
            };
            if keyword != "$ref" && ref_stands_alone(site.draft) {
                continue;
            }
            let target = site.follow(keyword, reference)?;
            let anchor = target.value.get("$dynamicAnchor").and_then(Value::as_str);
            if keyword == "$dynamicRef" && anchor.is_some() {
                self.dynamic.push((anchor, id));
            } else if keyword == "$recursiveRef" {
                self.dynamic.push((None, id));
            }
            // The document around the target may hold the anchors that dynamic references mean.
            if let Ok(document) = target.resolver.lookup("#") {
                let (value, resolver, draft) = document.into_inner();
                self.visit(SchemaSite { value, resolver, draft, at: target.at.clone() })?;
            }
            let to = self.visit(target)?;
            edges.push(SchemaEdge {
                keyword,
                key: String::new(),
                place: SubschemaTarget::Same,
                to,
            });
        }
        Ok(edges)
    }

    fn note_anchors(&mut self, id: NodeId, schema: &'r Map<String, Value>) {
        if let Some(Value::String(name)) = schema.get("$dynamicAnchor") {
            self.anchors.push((Some(name), id));
        }
        if schema.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.anchors.push((None, id));
        }
    }

    /// A dynamic reference may mean any anchor of its name: which one shows only while checking.
    fn connect_dynamic(&mut self) -> Result<(), SchemaError> {
        let limit = self.bounds.subschemas;
        let mut added = 0;
        for (name, from) in std::mem::take(&mut self.dynamic) {
            let keyword = if name.is_some() { "$dynamicRef" } else { "$recursiveRef" };
            let Some(node) = self.nodes.get_mut(from.0) else {
                continue;
            };
            let known = node.edges.iter().find(|edge| edge.keyword == keyword).map(|edge| edge.to);
            for (_, to) in self.anchors.iter().filter(|(anchor, _)| *anchor == name) {
                added += 1;
                if added > limit {
                    return Err(SchemaError::TooManyWays { limit });
                }
                if known != Some(*to) {
                    let key = String::new();
                    node.edges.push(SchemaEdge {
                        keyword,
                        key,
                        place: SubschemaTarget::Same,
                        to: *to,
                    });
                }
            }
        }
        Ok(())
    }

    /// Patterns that differ, each with its place.
    fn note_patterns(
        &mut self,
        schema: &Map<String, Value>,
        site: &SchemaSite<'r>,
    ) -> Result<(), SchemaError> {
        let single = schema.get("pattern").and_then(Value::as_str).map(|text| ("pattern", text));
        let keyed = schema.get("patternProperties").and_then(Value::as_object);
        let keys = keyed.into_iter().flat_map(|map| map.keys());
        let keys = keys.map(|text| ("patternProperties", text.as_str()));
        for (keyword, text) in single.into_iter().chain(keys) {
            let mut at = site.at.clone();
            push_token(&mut at, keyword);
            if self.patterns.iter().any(|known| known.text == text) {
                continue;
            }
            if self.patterns.len() >= self.bounds.patterns {
                return Err(SchemaError::TooManyPatterns { at, limit: self.bounds.patterns });
            }
            let text = text.to_owned();
            self.patterns
                .push(SchemaPattern { at, text }.no_longer_than(self.bounds.pattern_bytes)?);
        }
        Ok(())
    }
}

impl<'r> SchemaSite<'r> {
    /// The site of a subschema that stands below a keyword of this one.
    fn below(
        &self,
        keyword: &str,
        key: Option<&str>,
        child: &'r Value,
    ) -> Result<SchemaSite<'r>, SchemaError> {
        let mut at = self.at.clone();
        if at.len() < LONGEST_PLACE {
            push_token(&mut at, keyword);
            let key = key.map(|key| excerpt::shorten(key, LONGEST_PLACE));
            if let Some(key) = key {
                push_token(&mut at, &key);
            }
        }
        let draft = self.draft.detect(child);
        let resolver = self.resolver.in_subresource(draft.create_resource_ref(child));
        match resolver {
            Ok(resolver) => Ok(SchemaSite { value: child, resolver, draft, at }),
            Err(error) => Err(SchemaError::Reference {
                at,
                reference: child.get("$id").map(ToString::to_string).unwrap_or_default(),
                reason: error.to_string(),
            }),
        }
    }

    fn follow(&self, keyword: &str, reference: &str) -> Result<SchemaSite<'r>, SchemaError> {
        let mut at = self.at.clone();
        push_token(&mut at, keyword);
        if reference.is_empty() {
            let reason = "it is empty: write `#` for the document itself".to_owned();
            return Err(SchemaError::Reference { at, reference: String::new(), reason });
        }
        match self.resolver.lookup(reference) {
            Ok(target) => {
                let (value, resolver, draft) = target.into_inner();
                let at = excerpt::shorten(
                    reference.strip_prefix('#').unwrap_or(reference),
                    LONGEST_PLACE,
                );
                Ok(SchemaSite { value, resolver, draft, at })
            }
            Err(error) => Err(SchemaError::Reference {
                at,
                reference: reference.to_owned(),
                reason: error.to_string(),
            }),
        }
    }
}

/// The subschemas that a keyword's value holds, if it has that shape at all.
fn subschemas(shape: SubschemaLayout, held: &Value) -> Vec<(Option<String>, &Value)> {
    match (shape, held) {
        (SubschemaLayout::One, Value::Object(_) | Value::Bool(_)) => vec![(None, held)],
        (SubschemaLayout::List, Value::Array(items)) => {
            items.iter().enumerate().map(|(index, item)| (Some(index.to_string()), item)).collect()
        }
        (SubschemaLayout::Map, Value::Object(members)) => {
            let schemas = members.iter().filter(|(_, member)| !member.is_array());
            schemas.map(|(key, member)| (Some(key.clone()), member)).collect()
        }
        _ => Vec::new(),
    }
}

/// The steps of one check by the keywords that hold no subschema: one for each value that an
/// instance may be compared with, and more for long texts.
fn weight(schema: &Map<String, Value>) -> u64 {
    let compared = ["enum", "const", "required", "dependentRequired", "dependencies"];
    compared.iter().filter_map(|keyword| schema.get(*keyword)).map(size).sum::<u64>() + 1
}

/// The steps to compare with a value. Its depth is bounded with that of the document.
fn size(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text.len() as u64 / 64,
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<u64>(),
    }
}
