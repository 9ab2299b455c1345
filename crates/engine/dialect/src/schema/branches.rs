//! `anyOf` and `oneOf` as the `anyOf` that subsets take.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::merge::merge;
use super::writer::{ORGANISING, SubsetError, SubsetNode, SubsetWriter, weight};
use super::{annotate, type_list};

impl SubsetWriter<'_> {
    /// Writes a choice; rules beside it go into every branch.
    pub(super) fn branches(
        &mut self,
        mut base: Map<String, Value>,
        (combinator, branches): (&str, &[Value]),
        node: &mut SubsetNode<'_>,
        depth: usize,
    ) -> Result<Value, SubsetError> {
        if combinator == "oneOf" && !self.are_apart(branches) {
            self.lose_as("oneOf", "exactly one of these forms".to_owned(), node);
        }
        let mut outer = Map::new();
        for text in ["description", "title"] {
            if let Some(value) = base.shift_remove(text).filter(|_| text == "description") {
                outer.insert(text.to_owned(), value);
            }
        }
        for keyword in ["default", "examples", "example", "deprecated"] {
            if let Some(value) = base.shift_remove(keyword) {
                self.lose(keyword, &value, node);
            }
        }
        base.retain(|keyword, _| !ORGANISING.contains(&keyword.as_str()));
        self.burn(branches.len() * base.values().map(weight).sum::<usize>(), node)?;
        self.counts.unions += 1;
        let mut written = Vec::with_capacity(branches.len());
        for (place, branch) in branches.iter().enumerate() {
            let at = format!("{}/{combinator}/{place}", node.at);
            let branch = self.branch(&base, branch, &at, depth)?;
            if !written.contains(&branch) {
                written.push(branch);
            }
        }
        if written.is_empty() {
            return node.stop("a choice of nothing");
        }
        annotate(&mut outer, &node.notes);
        outer.insert("anyOf".to_owned(), Value::Array(written));
        Ok(Value::Object(outer))
    }

    fn branch(
        &mut self,
        base: &Map<String, Value>,
        branch: &Value,
        at: &str,
        depth: usize,
    ) -> Result<Value, SubsetError> {
        if base.is_empty() {
            return self.node(branch, at, depth);
        }
        let mut node = SubsetNode::new(at);
        let both = match branch {
            Value::Object(branch) => {
                let branch = self.join(branch.clone(), &mut node)?;
                let mut unmerged = Vec::new();
                let both = merge(base.clone(), &branch, &mut unmerged);
                for (keyword, rule) in unmerged {
                    self.lose(&keyword, &rule, &mut node);
                }
                both
            }
            Value::Bool(true) => base.clone(),
            Value::Null
            | Value::Bool(false)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                return node.stop("a value that cannot be");
            }
        };
        let mut written = self.node(&Value::Object(both), at, depth)?;
        if let Value::Object(written) = &mut written {
            annotate(written, &node.notes);
        }
        Ok(written)
    }

    /// Whether no value fits two of the branches, as far as that is easily seen: each has types
    /// of its own, or a field with a value of its own.
    fn are_apart(&self, branches: &[Value]) -> bool {
        let targets: Vec<_> = branches.iter().map(|branch| self.target(branch)).collect();
        let mut seen = HashSet::new();
        let by_type = targets.iter().all(|branch| {
            let types = branch.get("type").map(type_list).unwrap_or_default();
            !types.is_empty() && types.into_iter().all(|name| seen.insert(name))
        });
        by_type || by_values(&targets) || self.by_field(&targets)
    }

    fn by_field(&self, branches: &[&Value]) -> bool {
        let Some(first) = branches.first().and_then(|branch| branch.get("properties")) else {
            return false;
        };
        let names = first.as_object().into_iter().flatten().map(|(name, _)| name);
        names.take(20).any(|name| {
            let fields: Vec<_> = branches
                .iter()
                .map(|branch| branch.get("properties").and_then(|all| all.get(name)))
                .map(|field| field.map_or(&Value::Null, |field| self.target(field)))
                .collect();
            by_values(&fields)
        })
    }
}

/// Whether every schema lists its values and none is listed twice.
fn by_values(schemas: &[&Value]) -> bool {
    let mut seen: HashSet<String> = HashSet::new();
    schemas.iter().all(|schema| {
        let one = schema.get("const").map(|value| json!([value]));
        let values = one.or_else(|| schema.get("enum").cloned());
        match values {
            Some(Value::Array(values)) => values.iter().all(|value| seen.insert(value.to_string())),
            _ => false,
        }
    })
}
