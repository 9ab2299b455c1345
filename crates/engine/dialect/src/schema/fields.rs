//! Objects, lists and single values in a subset.

use serde_json::{Map, Value, json};

use super::types::{belongs, null_apart, or_null, types_of};
use super::writer::{ORGANISING, SubsetError, SubsetNode, SubsetWriter};
use super::{annotate, pointer, rule_text};

impl SubsetWriter<'_> {
    /// Writes a schema without references and combinators.
    pub(super) fn plain(
        &mut self,
        schema: &Map<String, Value>,
        node: &mut SubsetNode<'_>,
        depth: usize,
    ) -> Result<Value, SubsetError> {
        let types = types_of(schema);
        let structured = types.iter().any(|name| matches!(*name, "object" | "array"));
        if structured && types.iter().filter(|name| **name != "null").count() > 1 {
            return self.one_each(schema, &types, node, depth);
        }
        if types.is_empty() && self.subset.strict {
            return node.stop("a value of any type");
        }
        if let Some(apart) = null_apart(schema, self.subset.enum_value) {
            return self.branches(Map::new(), ("anyOf", &apart), node, depth);
        }
        let mut written = if types.contains(&"object") {
            self.object(schema, node, depth)?
        } else {
            self.value(schema, &types, node, depth)?
        };
        annotate(&mut written, &node.notes);
        if types.len() > 1 {
            self.counts.unions += 1;
        }
        Ok(Value::Object(written))
    }

    /// Several types, of which one has parts: a choice says which rules belong to which.
    fn one_each(
        &mut self,
        schema: &Map<String, Value>,
        types: &[&str],
        node: &mut SubsetNode<'_>,
        depth: usize,
    ) -> Result<Value, SubsetError> {
        let mut base = schema.clone();
        base.shift_remove("type");
        let branches: Vec<Value> = types
            .iter()
            .map(|name| {
                let mut branch: Map<String, Value> = base
                    .iter()
                    .filter(|(keyword, _)| belongs(keyword, name))
                    .map(|(keyword, value)| (keyword.clone(), value.clone()))
                    .collect();
                branch.insert("type".to_owned(), (*name).into());
                Value::Object(branch)
            })
            .collect();
        let outer = base
            .into_iter()
            .filter(|(keyword, _)| types.iter().all(|name| !belongs(keyword, name)))
            .collect();
        self.branches(outer, ("anyOf", &branches), node, depth)
    }

    /// Writes an object, perhaps one that may be `null` too.
    pub(super) fn object(
        &mut self,
        schema: &Map<String, Value>,
        node: &mut SubsetNode<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, SubsetError> {
        let mut written = self.value(schema, &types_of(schema), node, depth)?;
        let no_fields = Map::new();
        let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&no_fields);
        let listed = schema.get("required").and_then(Value::as_array);
        let asked: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
        let mut properties = Map::new();
        let mut required: Vec<Value> = Vec::new();
        self.counts.fields += fields.len();
        for (name, field) in fields {
            let at = pointer(&pointer(node.at, "properties"), name);
            self.counts.characters += name.len();
            if field == &Value::Bool(false) {
                self.lose_as(name, format!("`{name}` must not be given"), node);
                continue;
            }
            let mut field = self.node(field, &at, depth + 1)?;
            let is_asked = asked.contains(&name.as_str());
            if !is_asked {
                self.counts.optional += 1;
            }
            if !is_asked && self.subset.optional_as_null {
                field = or_null(field);
            }
            if is_asked || self.subset.optional_as_null {
                required.push(name.as_str().into());
            }
            properties.insert(name.clone(), field);
        }
        self.bounds(node)?;
        for name in asked.iter().filter(|name| !properties.contains_key(**name)) {
            if self.subset.strict {
                return node.stop(format!("the required field `{name}` without a schema"));
            }
            self.lose_as("required", format!("with a field `{name}`"), node);
        }
        let open = self.further_fields(schema, properties.is_empty(), node, depth)?;
        written.insert("properties".to_owned(), Value::Object(properties));
        if self.subset.strict || !required.is_empty() {
            written.insert("required".to_owned(), Value::Array(required));
        }
        written.extend(open.map(|open| ("additionalProperties".to_owned(), open)));
        Ok(written)
    }

    /// What `additionalProperties` becomes.
    fn further_fields(
        &mut self,
        schema: &Map<String, Value>,
        is_empty: bool,
        node: &mut SubsetNode<'_>,
        depth: usize,
    ) -> Result<Option<Value>, SubsetError> {
        let at = pointer(node.at, "additionalProperties");
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => Ok(Some(false.into())),
            Some(Value::Object(further)) if further.is_empty() && !self.subset.strict => Ok(None),
            Some(further @ Value::Object(_)) if !self.subset.strict => {
                self.node(further, &at, depth + 1).map(Some)
            }
            Some(Value::Object(_)) => node.stop("an object with fields of any name"),
            _ if !self.subset.strict => Ok(None),
            Some(Value::Bool(true)) if is_empty => node.stop("an object with fields of any name"),
            None if is_empty && !node.at.is_empty() => {
                node.stop("an object with fields of any name")
            }
            Some(_) => {
                self.report(
                    "additionalProperties",
                    "the model is not offered further fields",
                    node.at,
                );
                Ok(Some(false.into()))
            }
            None => Ok(Some(false.into())),
        }
    }

    /// The type, the texts and the rules that are no structure of an object.
    fn value(
        &mut self,
        schema: &Map<String, Value>,
        types: &[&str],
        node: &mut SubsetNode<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, SubsetError> {
        let mut written = Map::new();
        match types {
            [] => {}
            [one] => drop(written.insert("type".to_owned(), (*one).into())),
            many => drop(written.insert("type".to_owned(), json!(many))),
        }
        if types.contains(&"array") {
            self.items(schema, &mut written, node, depth)?;
        }
        for (keyword, rule) in schema {
            match keyword.as_str() {
                "type"
                | "properties"
                | "required"
                | "additionalProperties"
                | "items"
                | "prefixItems" => {}
                "then" | "else" if schema.contains_key("if") => {}
                "if" => {
                    let words = rule_text::condition(rule, schema.get("then"), schema.get("else"));
                    self.lose_as("if", words, node);
                }
                known if ORGANISING.contains(&known) => {}
                "enum" => self.one_of(rule, &mut written, node)?,
                "description" => drop(written.insert(keyword.clone(), rule.clone())),
                taken if (self.subset.takes)(taken, rule) => {
                    written.insert(keyword.clone(), rule.clone());
                }
                "const" => self.one_of(&json!([rule]), &mut written, node)?,
                "deprecated" if rule == &Value::Bool(false) => {}
                _ => self.lose(keyword, rule, node),
            }
        }
        Ok(written)
    }

    fn items(
        &mut self,
        schema: &Map<String, Value>,
        written: &mut Map<String, Value>,
        node: &mut SubsetNode<'_>,
        depth: usize,
    ) -> Result<(), SubsetError> {
        let (ordered, rest) = match (schema.get("prefixItems"), schema.get("items")) {
            (Some(ordered), rest) => (Some(ordered), rest),
            // The form of older drafts.
            (None, Some(ordered @ Value::Array(_))) => (Some(ordered), None),
            (None, rest) => (None, rest),
        };
        if let Some(Value::Array(ordered)) = ordered {
            if !self.subset.prefix_items {
                return node.stop("a list whose items differ by place");
            }
            let at = pointer(node.at, "prefixItems");
            let items: Result<Vec<_>, _> = ordered
                .iter()
                .enumerate()
                .map(|(place, item)| self.node(item, &format!("{at}/{place}"), depth + 1))
                .collect();
            written.insert("prefixItems".to_owned(), Value::Array(items?));
        }
        match rest {
            Some(item @ Value::Object(_)) => {
                let item = self.node(item, &pointer(node.at, "items"), depth + 1)?;
                written.insert("items".to_owned(), item);
            }
            Some(Value::Bool(false)) => self.lose_as("items", "no further items".to_owned(), node),
            _ if self.subset.strict => return node.stop("a list of anything"),
            _ if ordered.is_none() => drop(written.insert("items".to_owned(), json!({}))),
            _ => {}
        }
        Ok(())
    }

    fn one_of(
        &mut self,
        values: &Value,
        written: &mut Map<String, Value>,
        node: &mut SubsetNode<'_>,
    ) -> Result<(), SubsetError> {
        let listed = values.as_array().map(Vec::as_slice).unwrap_or_default();
        if listed.is_empty() || !listed.iter().all(self.subset.enum_value) {
            self.lose("enum", values, node);
            return Ok(());
        }
        self.counts.enum_values += listed.len();
        let texts = listed.iter().filter_map(Value::as_str).map(str::len);
        self.counts.characters += texts.sum::<usize>();
        self.bounds(node)?;
        written.insert("enum".to_owned(), values.clone());
        Ok(())
    }

    fn bounds(&self, node: &SubsetNode<'_>) -> Result<(), SubsetError> {
        let (counts, subset) = (&self.counts, self.subset);
        for (count, most, what) in [
            (counts.fields, subset.most_fields, "fields"),
            (counts.enum_values, subset.most_enum_values, "values in enums"),
            (counts.characters, subset.most_characters, "characters in names and enums"),
        ] {
            if count > most {
                return node.stop(format!("more than {most} {what}"));
            }
        }
        Ok(())
    }
}
