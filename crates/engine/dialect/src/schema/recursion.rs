//! Recursion as Gemini takes it: a definition may lead back to itself only through fields that
//! may be left out.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::annotate;

/// Which definition uses which.
#[derive(Default)]
pub(super) struct DefinitionUses {
    of: Vec<BTreeSet<usize>>,
    /// Something points to the whole schema.
    pub(super) whole: bool,
}

impl DefinitionUses {
    pub(super) fn add(&mut self, from: usize, to: usize) {
        if self.of.len() <= from {
            self.of.resize(from + 1, BTreeSet::new());
        }
        if let Some(all) = self.of.get_mut(from) {
            all.insert(to);
        }
    }

    /// Whether following the uses of one leads to the other.
    pub(super) fn lead(&self, from: usize, to: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(next) = open.pop() {
            for used in self.of.get(next).into_iter().flatten() {
                if *used == to {
                    return true;
                }
                if seen.insert(*used) {
                    open.push(*used);
                }
            }
        }
        false
    }

    pub(super) fn are_circular(&self) -> bool {
        self.whole || (0..self.of.len()).any(|one| self.lead(one, one))
    }
}

/// Makes those fields of a definition optional that lead back to it, says so in words, and counts
/// them.
pub(super) fn open(definition: &mut Value, leads_back: &dyn Fn(&str) -> bool) -> usize {
    let mut opened = 0;
    relax(definition, leads_back, &mut opened);
    opened
}

/// Whether the node leads back without a field that may be left out.
fn relax(node: &mut Value, leads_back: &dyn Fn(&str) -> bool, opened: &mut usize) -> bool {
    let Value::Object(fields) = node else {
        return false;
    };
    if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
        return leads_back(reference);
    }
    let mut asked = Vec::new();
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        for (name, property) in properties {
            if relax(property, leads_back, opened) {
                asked.push(name.clone());
            }
        }
    }
    let notes = release(fields, &asked);
    annotate(fields, &notes);
    *opened += notes.len();
    let mut found = false;
    for keyword in ["items", "additionalProperties", "anyOf", "prefixItems"] {
        match fields.get_mut(keyword) {
            Some(Value::Array(members)) => {
                for member in members {
                    found |= relax(member, leads_back, opened);
                }
            }
            Some(member) => found |= relax(member, leads_back, opened),
            None => {}
        }
    }
    found
}

/// Takes names out of `required`; a note for each that was in it.
fn release(fields: &mut Map<String, Value>, asked: &[String]) -> Vec<String> {
    let Some(Value::Array(required)) = fields.get_mut("required") else {
        return Vec::new();
    };
    let is_asked = |name: &Value| asked.iter().any(|asked| name == asked);
    let notes = required.iter().filter(|name| is_asked(name));
    let notes = notes.filter_map(Value::as_str).map(|name| format!("`{name}` must be given"));
    let notes: Vec<_> = notes.collect();
    required.retain(|name| !is_asked(name));
    if required.is_empty() {
        fields.shift_remove("required");
    }
    notes
}
