//! Writes a schema in a subset, node by node, and notes what the subset does not take.

use serde_json::{Map, Value, json};

use super::merge::merge;
use super::recursion::{self, DefinitionUses};
use super::root::ObjectRoot;
use super::subset::SchemaSubset;
use super::{DialectSchema, MOST_VALUES, SchemaLoss, annotate, pointer, resolve, rule_text};

/// Most definitions of one schema.
const MOST_DEFINITIONS: usize = 500;

/// The place where a schema cannot be said in the subset, and why.
#[derive(Debug)]
pub(super) struct SubsetError {
    pub(super) path: String,
    pub(super) what: String,
}

pub(super) fn compile(
    root: &ObjectRoot,
    subset: &SchemaSubset,
) -> Result<DialectSchema, SubsetError> {
    let mut writer = SubsetWriter {
        subset,
        document: &root.document,
        lost: root.lost.clone(),
        definitions: Vec::new(),
        uses: DefinitionUses::default(),
        writing: None,
        fuel: MOST_VALUES,
        counts: SchemaCounts::default(),
    };
    let mut node = SubsetNode::new("");
    let schema = writer.object(&root.schema, &mut node, 1)?;
    let mut definitions = writer.write_definitions()?;
    if !subset.recursion && writer.uses.are_circular() {
        return node.stop("recursion");
    }
    let mut schema = Value::Object(schema);
    if subset.open_circles {
        writer.open_circles(&mut schema, &mut definitions);
    }
    if let (false, Value::Object(schema)) = (definitions.is_empty(), &mut schema) {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    let mut notes = root.notes.clone();
    notes.append(&mut node.notes);
    Ok(DialectSchema {
        schema,
        lost: writer.lost,
        notes,
        strict: subset.strict,
        altered: root.renamed || subset.optional_as_null,
        optional: writer.counts.optional,
        unions: writer.counts.unions,
    })
}

pub(super) struct SubsetWriter<'a> {
    pub(super) subset: &'a SchemaSubset,
    document: &'a Value,
    lost: Vec<SchemaLoss>,
    /// `$ref`s as they came, and the names of their targets in what is written.
    definitions: Vec<(String, String)>,
    uses: DefinitionUses,
    /// The definition that is being written; `None` is the root.
    writing: Option<usize>,
    fuel: usize,
    pub(super) counts: SchemaCounts,
}

#[derive(Default)]
pub(super) struct SchemaCounts {
    pub(super) fields: usize,
    pub(super) enum_values: usize,
    pub(super) characters: usize,
    pub(super) optional: usize,
    pub(super) unions: usize,
}

/// A place in the schema, and what its description must add.
pub(super) struct SubsetNode<'a> {
    pub(super) at: &'a str,
    pub(super) notes: Vec<String>,
}

impl<'a> SubsetNode<'a> {
    pub(super) fn new(at: &'a str) -> Self {
        Self { at, notes: Vec::new() }
    }

    pub(super) fn stop<T>(&self, what: impl Into<String>) -> Result<T, SubsetError> {
        Err(SubsetError { path: self.at.to_owned(), what: what.into() })
    }
}

/// Keywords that say something to people and do not narrow a value.
const ANNOTATIONS: [&str; 8] = [
    "description",
    "title",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
];
/// Keywords that organise a schema and say nothing of a value.
pub(super) const ORGANISING: [&str; 9] = [
    "$schema",
    "$id",
    "id",
    "$comment",
    "$anchor",
    "$defs",
    "definitions",
    "$vocabulary",
    "$dynamicAnchor",
];

impl SubsetWriter<'_> {
    /// Writes a schema.
    pub(super) fn node(
        &mut self,
        schema: &Value,
        at: &str,
        depth: usize,
    ) -> Result<Value, SubsetError> {
        let mut node = SubsetNode::new(at);
        match schema {
            Value::Object(fields) => {
                let joined = self.join(fields.clone(), &mut node)?;
                self.joined(joined, &mut node, depth)
            }
            Value::Bool(true) if !self.subset.strict => Ok(json!({})),
            Value::Bool(true) => node.stop("a value of any type"),
            Value::Null
            | Value::Bool(false)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => node.stop("a value that cannot be"),
        }
    }

    /// Writes a schema without `allOf`.
    fn joined(
        &mut self,
        mut schema: Map<String, Value>,
        node: &mut SubsetNode<'_>,
        depth: usize,
    ) -> Result<Value, SubsetError> {
        self.burn(1, node)?;
        if depth > self.subset.deepest {
            return node.stop(format!("more than {} levels", self.subset.deepest));
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str).map(ToOwned::to_owned) {
            schema.shift_remove("$ref");
            let target = json!({ "$ref": self.define(&reference) });
            return Ok(self.around(target, &schema, node));
        }
        for combinator in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = schema.shift_remove(combinator) {
                return self.branches(schema, (combinator, &branches), node, depth);
            }
        }
        self.plain(&schema, node, depth)
    }

    /// The annotations of `schema` around a node that must stand alone.
    pub(super) fn around(
        &mut self,
        inner: Value,
        schema: &Map<String, Value>,
        node: &mut SubsetNode<'_>,
    ) -> Value {
        let mut outer = Map::new();
        for (keyword, value) in schema {
            if keyword == "description" {
                outer.insert(keyword.clone(), value.clone());
            } else if keyword != "title" && !ORGANISING.contains(&keyword.as_str()) {
                self.lose(keyword, value, node);
            }
        }
        annotate(&mut outer, &node.notes);
        if outer.is_empty() {
            return inner;
        }
        // Beside a `$ref` nothing may stand; a choice of one is the same.
        self.counts.unions += 1;
        outer.insert("anyOf".to_owned(), json!([inner]));
        Value::Object(outer)
    }

    /// Resolves `allOf`, and every `$ref` that has rules beside it.
    pub(super) fn join(
        &mut self,
        mut schema: Map<String, Value>,
        node: &mut SubsetNode<'_>,
    ) -> Result<Map<String, Value>, SubsetError> {
        let mut unmerged = Vec::new();
        loop {
            let mut members: Vec<Value> = Vec::new();
            if let Some(reference) = schema.get("$ref").cloned() {
                let target = reference.as_str().and_then(|to| resolve(self.document, to));
                let alone = schema.keys().all(|key| {
                    key == "$ref"
                        || ANNOTATIONS.contains(&key.as_str())
                        || ORGANISING.contains(&key.as_str())
                });
                match target {
                    Some(_) if alone => break,
                    Some(target) => members.push(target.clone()),
                    None if self.subset.strict => return node.stop("a `$ref` to elsewhere"),
                    None => self.lose("$ref", &reference, node),
                }
                schema.shift_remove("$ref");
            }
            if let Some(Value::Array(all)) = schema.shift_remove("allOf") {
                members.extend(all);
            }
            if members.is_empty() {
                break;
            }
            for member in &members {
                self.burn(weight(member), node)?;
                match member {
                    Value::Object(member) => schema = merge(schema, member, &mut unmerged),
                    Value::Bool(true) => {}
                    Value::Null
                    | Value::Bool(false)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_) => return node.stop("a value that cannot be"),
                }
            }
        }
        for (keyword, rule) in unmerged {
            self.lose(&keyword, &rule, node);
        }
        Ok(schema)
    }

    /// The `$ref` under which a target is written.
    fn define(&mut self, reference: &str) -> String {
        if reference == "#" {
            self.uses.whole = true;
            return reference.to_owned();
        }
        let known = self.definitions.iter().position(|(known, _)| known == reference);
        let place = known.unwrap_or_else(|| {
            let name = self.name_of(reference);
            self.definitions.push((reference.to_owned(), name));
            self.definitions.len() - 1
        });
        if let Some(from) = self.writing {
            self.uses.add(from, place);
        }
        let name = self.definitions.get(place).map_or("", |(_, name)| name.as_str());
        format!("#/$defs/{name}")
    }

    /// The last part of the reference, of letters that every API takes, and not taken yet.
    fn name_of(&self, reference: &str) -> String {
        let last = reference.rsplit('/').next().unwrap_or_default();
        let mut name: String = last
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
            .take(50)
            .collect();
        while self.definitions.iter().any(|(_, taken)| *taken == name) {
            name.push('_');
        }
        name
    }

    /// Writes what is pointed to, and what that points to.
    fn write_definitions(&mut self) -> Result<Map<String, Value>, SubsetError> {
        let mut written = Map::new();
        let mut next = 0;
        while let Some((reference, name)) = self.definitions.get(next).cloned() {
            let at = reference.trim_start_matches('#');
            if self.definitions.len() > MOST_DEFINITIONS {
                return SubsetNode::new(at)
                    .stop(format!("more than {MOST_DEFINITIONS} definitions"));
            }
            self.writing = Some(next);
            let target = resolve(self.document, &reference).unwrap_or(&Value::Null);
            written.insert(name, self.node(target, at, 1)?);
            next += 1;
        }
        Ok(written)
    }

    /// Leaves a way out of every circle of definitions.
    fn open_circles(&mut self, root: &mut Value, definitions: &mut Map<String, Value>) {
        let opened = recursion::open(root, &|reference| reference == "#");
        let mut places = vec![String::new(); opened];
        for (place, (reference, name)) in self.definitions.iter().enumerate() {
            let leads_back = |reference: &str| {
                let target = reference.strip_prefix("#/$defs/");
                let known = |(_, name): &(String, String)| Some(name.as_str()) == target;
                let target = self.definitions.iter().position(known);
                target.map_or(reference == "#", |to| to == place || self.uses.lead(to, place))
            };
            if let Some(definition) = definitions.get_mut(name) {
                let opened = recursion::open(definition, &leads_back);
                let at = reference.trim_start_matches('#').to_owned();
                places.extend(std::iter::repeat_n(at, opened));
            }
        }
        for at in places {
            self.report("required", "said in the description", &at);
        }
    }

    /// Reports a rule that the subset does not take, and says it in the description.
    pub(super) fn lose(&mut self, keyword: &str, value: &Value, node: &mut SubsetNode<'_>) {
        if keyword.starts_with("x-") {
            return self.report(keyword, "left out: it says nothing of the value", node.at);
        }
        self.lose_as(keyword, rule_text::rule(keyword, value), node);
    }

    pub(super) fn lose_as(&mut self, keyword: &str, words: String, node: &mut SubsetNode<'_>) {
        self.report(keyword, "said in the description", node.at);
        node.notes.push(words);
    }

    pub(super) fn report(&mut self, keyword: &str, cure: &'static str, at: &str) {
        let path = pointer(at, keyword);
        self.lost.push(SchemaLoss { path, what: keyword.to_owned(), cure });
    }

    /// Counts work, so that a small schema cannot ask for much of it.
    pub(super) fn burn(&mut self, work: usize, node: &SubsetNode<'_>) -> Result<(), SubsetError> {
        match self.fuel.checked_sub(work) {
            Some(left) => self.fuel = left,
            None => return node.stop("a schema that would grow too large"),
        }
        Ok(())
    }

    pub(super) fn target<'b>(&'b self, schema: &'b Value) -> &'b Value {
        let reference = schema.get("$ref").and_then(Value::as_str);
        reference.and_then(|to| resolve(self.document, to)).unwrap_or(schema)
    }
}

/// How many values there are in a value.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(weight).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}
