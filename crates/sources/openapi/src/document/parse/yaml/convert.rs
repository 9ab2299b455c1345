//! Nodes as a tree of JSON.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::compose::{ScalarTag, YamlNode, YamlScalar};
use super::scalar;
use crate::document::parse::members::MemberContent;
use crate::document::text;

/// Words that are told.
const MOST_TOLD: usize = 50;

/// The tree, and what is to be told of it.
pub(super) fn convert(root: &YamlNode<'_>) -> (Value, Vec<String>) {
    let mut converter = YamlConverter { older: IndexMap::new() };
    let value = converter.value(root, MemberContent::Keywords, ScalarReading::Resolved);
    let notes = converter.older.into_iter().map(|((word, taken), WordLines { line, more })| {
        let word = text::line(&word, 40);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!(
            "`{word}` (line {line}{more}) is read by YAML 1.2; readers of YAML 1.1 take it for \
             {taken}: quote it if it is text"
        )
    });
    (value, notes.collect())
}

/// How a plain word is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScalarReading {
    /// By the core schema.
    Resolved,
    /// As it is written: only text may stand there.
    Text,
    /// By the core schema, but as it is written where JSON would write it otherwise: it is a text
    /// by its schema.
    Faithful,
    /// As the core schema has it, and nobody is told: examples are read by people.
    Untold,
}

struct WordLines {
    line: u32,
    more: usize,
}

struct YamlConverter {
    /// By the word and what it is to others.
    older: IndexMap<(String, &'static str), WordLines>,
}

impl YamlConverter {
    /// The depth is bounded where the nodes are made.
    fn value(
        &mut self,
        node: &YamlNode<'_>,
        holds: MemberContent,
        reading: ScalarReading,
    ) -> Value {
        match node {
            YamlNode::Shared(shared) => self.value(shared, holds, reading),
            YamlNode::Scalar(scalar) => self.scalar(scalar, reading),
            YamlNode::List(items) => {
                let holds = holds.listed();
                items.iter().map(|item| self.value(item, holds, reading)).collect()
            }
            YamlNode::Map(members) => Value::Object(self.map(members, holds, reading)),
        }
    }

    fn map(
        &mut self,
        members: &[(YamlScalar<'_>, YamlNode<'_>)],
        holds: MemberContent,
        reading: ScalarReading,
    ) -> Map<String, Value> {
        let is_text = holds == MemberContent::Keywords && is_text(members);
        let mut out = Map::new();
        let mut merged = Vec::new();
        for (key, node) in members {
            if key.is_plain && key.text == "<<" && is_maps(node) {
                merged.push(self.value(node, holds, reading));
                continue;
            }
            if reading != ScalarReading::Untold {
                self.tell(key);
            }
            let inner = match holds {
                MemberContent::Data => reading,
                MemberContent::Names => ScalarReading::Resolved,
                MemberContent::Texts => ScalarReading::Text,
                MemberContent::Keywords => keyword(&key.text, node, is_text),
            };
            let value = self.value(node, holds.within(&key.text), inner);
            out.insert(key.text.clone().into_owned(), value);
        }
        // What is merged in gives way to what stands there, and the later to the earlier.
        for merged in merged {
            let all = if let Value::Array(maps) = merged { maps } else { vec![merged] };
            for (key, value) in all.into_iter().filter_map(members_of).flatten() {
                out.entry(key).or_insert(value);
            }
        }
        out
    }

    fn scalar(&mut self, scalar: &YamlScalar<'_>, reading: ScalarReading) -> Value {
        let written = || Value::String(scalar.text.clone().into_owned());
        let is_open = match scalar.tag {
            ScalarTag::Text => false,
            ScalarTag::Other => true,
            ScalarTag::Unsaid => scalar.is_plain,
        };
        if !is_open {
            return written();
        }
        if reading != ScalarReading::Untold {
            self.tell(scalar);
        }
        let resolved = scalar::resolved(&scalar.text);
        match (resolved, reading) {
            // Nothing is nothing, wherever it stands.
            (Some(Value::Null), ScalarReading::Text) => Value::Null,
            (None, _) | (Some(_), ScalarReading::Text) => written(),
            (Some(Value::Number(_)), ScalarReading::Faithful)
                if !scalar::is_usual(&scalar.text) =>
            {
                written()
            }
            (Some(value), _) => value,
        }
    }

    fn tell(&mut self, scalar: &YamlScalar<'_>) {
        if !scalar.is_plain || scalar.tag != ScalarTag::Unsaid {
            return;
        }
        let Some(taken) = scalar::older(&scalar.text) else { return };
        let has_room = self.older.len() < MOST_TOLD;
        let seen = (scalar.text.clone().into_owned(), taken);
        if let Some(known) = self.older.get_mut(&seen) {
            known.more += 1;
        } else if has_room {
            self.older.insert(seen, WordLines { line: scalar.line, more: 0 });
        }
    }
}

fn members_of(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(members) => Some(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}

/// Whether a node is a map, or a list of maps: only those are merged.
fn is_maps(node: &YamlNode<'_>) -> bool {
    match node.plain() {
        YamlNode::Map(_) => true,
        YamlNode::List(items) => items.iter().all(|item| matches!(item.plain(), YamlNode::Map(_))),
        YamlNode::Scalar(_) | YamlNode::Shared(_) => false,
    }
}

/// Whether the schema that these are the keywords of is one of text.
fn is_text(members: &[(YamlScalar<'_>, YamlNode<'_>)]) -> bool {
    let kind = members.iter().find(|(key, _)| key.text == "type");
    let is_word = |node: &YamlNode<'_>, allowed: &[&str]| matches!(node.plain(), YamlNode::Scalar(said) if allowed.contains(&said.text.as_ref()));
    kind.is_some_and(|(_, node)| {
        let YamlNode::List(types) = node.plain() else { return is_word(node, &["string"]) };
        types.iter().any(|it| is_word(it, &["string"]))
            && types.iter().all(|it| is_word(it, &["string", "null"]))
    })
}

/// Members that hold text, or lists of texts.
const TEXTS: [&str; 39] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$ref",
    "$schema",
    "basePath",
    "bearerFormat",
    "collectionFormat",
    "consumes",
    "contentEncoding",
    "contentMediaType",
    "contentType",
    "description",
    "flow",
    "format",
    "host",
    "in",
    "name",
    "namespace",
    "openapi",
    "operationId",
    "operationRef",
    "pattern",
    "prefix",
    "produces",
    "propertyName",
    "scheme",
    "schemes",
    "style",
    "summary",
    "swagger",
    "tags",
    "termsOfService",
    "title",
    "tokenUrl",
    "type",
    "url",
    "version",
];

/// How the value of a keyword is read.
fn keyword(key: &str, node: &YamlNode<'_>, is_text: bool) -> ScalarReading {
    match key {
        "example" | "examples" => ScalarReading::Untold,
        _ if key.starts_with("x-") => ScalarReading::Untold,
        "enum" | "default" | "const" if is_text => ScalarReading::Faithful,
        // A flag, or a list of names.
        "required" if matches!(node.plain(), YamlNode::List(_)) => ScalarReading::Text,
        _ if TEXTS.contains(&key) => ScalarReading::Text,
        _ => ScalarReading::Resolved,
    }
}
