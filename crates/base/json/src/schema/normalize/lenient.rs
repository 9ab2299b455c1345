//! One keyword that cannot be used costs that keyword, and never the schema: it is left to whoever
//! gets the value.
//!
//! What is left out makes a schema admit more, so what stands around it must not turn that round:
//! `not`, `if` and `oneOf` around such a place are left out with it, or loosened.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};

use super::walk::{tokens, visit, way};
use crate::schema::bounds::{SchemaBounds, pattern, push_token};
use crate::schema::error::SchemaError;
use crate::schema::excerpt::{line, place, shorten};

/// Keywords that are left out of one schema.
const MOST: usize = 1_000;
/// Of these, such that make no schema, each of which is found by compiling the rest.
const MOST_TRIES: usize = 32;
/// Patterns that are tried; each may take some milliseconds.
const MOST_TRIED: usize = 128;

/// A keyword that is not checked here, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncheckedKeyword {
    /// JSON Pointer to the keyword.
    pub at: String,
    pub reason: String,
}

impl fmt::Display for UncheckedKeyword {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} is not checked, and left to the tool: {}",
            place(&self.at),
            line(&self.reason)
        )
    }
}

/// A schema on its way to one that can be used.
pub(crate) struct LenientSchema {
    pub(crate) schema: Value,
    pub(crate) left: Vec<UncheckedKeyword>,
    /// How often it was compiled in vain.
    tries: usize,
}

impl LenientSchema {
    pub(crate) fn of(schema: &Value) -> Self {
        Self { schema: schema.clone(), left: Vec::new(), tries: 0 }
    }

    /// Takes out what the schema was refused for; `false`: that costs the whole.
    pub(crate) fn takes_out(&mut self, refusal: &SchemaError, bounds: &SchemaBounds) -> bool {
        self.tries += 1;
        let places = match refusal {
            SchemaError::Pattern { .. } | SchemaError::TooManyPatterns { .. } => {
                unusable(&mut self.schema, bounds)
            }
            SchemaError::Invalid { at, reason } if self.tries <= MOST_TRIES => {
                vec![(at.clone(), reason.clone())]
            }
            SchemaError::TooLarge { .. }
            | SchemaError::TooDeep { .. }
            | SchemaError::TooManySubschemas { .. }
            | SchemaError::TooMuchUnfolding { .. }
            | SchemaError::ChainTooLong { .. }
            | SchemaError::TooManyWays { .. }
            | SchemaError::Cycle { .. }
            | SchemaError::Reference { .. }
            | SchemaError::Invalid { .. } => return false,
        };
        let before = self.left.len();
        for (at, reason) in places {
            if self.left.len() < MOST
                && let Some(at) = leave_out(&mut self.schema, &at)
            {
                self.left.push(UncheckedKeyword { at, reason });
            }
        }
        let changed = self.left.len() > before;
        if changed {
            loosen_references(&mut self.schema);
        }
        changed
    }
}

/// A place as the schema has it that was read: `oneOf` may have been loosened on the way to it.
pub(crate) fn as_written(source: &Value, at: &str) -> String {
    let mut here = Some(source);
    let mut written = String::new();
    for token in tokens(at) {
        let renamed = token == "anyOf"
            && here.is_some_and(|here| here.get("anyOf").is_none() && here.get("oneOf").is_some());
        let token = if renamed { "oneOf" } else { token.as_str() };
        here = here.and_then(|here| match here.as_array() {
            Some(items) => token.parse().ok().and_then(|place: usize| items.get(place)),
            None => here.get(token),
        });
        push_token(&mut written, token);
    }
    written
}

/// Leaves out the keyword that a place belongs to, and tells where it stood. A subschema that is
/// none says nothing, and its name is still declared.
fn leave_out(schema: &mut Value, at: &str) -> Option<String> {
    let mut tokens = tokens(at);
    loosen(schema, &mut tokens);
    let (steps, is_subschema) = way(schema, &tokens);
    let last = steps.last()?;
    let (holder, keyword) = (last.at.clone(), last.keyword.to_owned());
    let Value::Object(members) = schema.pointer_mut(&holder)? else { return None };
    let mut place = holder;
    push_token(&mut place, &keyword);
    if keyword == "patternProperties" && is_subschema {
        // What the pattern let through would be refused as being none of the others.
        let Some(Value::Object(patterns)) = members.get_mut(&keyword) else { return None };
        let name = tokens.last()?;
        patterns.shift_remove(name);
        push_token(&mut place, name);
        for others in ["additionalProperties", "unevaluatedProperties"] {
            members.shift_remove(others);
        }
    } else if is_subschema {
        let name = tokens.last()?;
        push_token(&mut place, name);
        *schema.pointer_mut(&place)? = Value::Bool(true);
    } else {
        // Where `not` or `if` around it went, it went with them.
        members.shift_remove(&keyword);
    }
    Some(place)
}

/// Loosens what turns round what stands within it.
fn loosen(schema: &mut Value, tokens: &mut Vec<String>) {
    let (steps, _) = way(schema, tokens);
    let turning = |keyword: &str| matches!(keyword, "not" | "if" | "oneOf" | "contains");
    let found = steps.into_iter().filter(|step| turning(step.keyword));
    let found: Vec<_> = found.map(|step| (step.at, step.keyword.to_owned())).collect();
    for (at, keyword) in found {
        let Some(Value::Object(members)) = schema.pointer_mut(&at) else { return };
        match turn(members, &keyword) {
            KeywordChange::Gone => {
                tokens.truncate(super::walk::tokens(&at).len());
                tokens.push(keyword);
                return;
            }
            KeywordChange::Renamed(name) => {
                let place = super::walk::tokens(&at).len();
                if let Some(token) = tokens.get_mut(place) {
                    name.clone_into(token);
                }
                // What stands deeper has another place now.
                return loosen(schema, tokens);
            }
            KeywordChange::Kept => {}
        }
    }
}

enum KeywordChange {
    Kept,
    Gone,
    Renamed(&'static str),
}

/// Makes of a keyword one that admits no less when what is within it admits more.
fn turn(members: &mut Map<String, Value>, keyword: &str) -> KeywordChange {
    match keyword {
        "oneOf" if !members.contains_key("anyOf") => {
            if let Some(held) = members.shift_remove("oneOf") {
                members.insert("anyOf".to_owned(), held);
            }
            return KeywordChange::Renamed("anyOf");
        }
        "contains" => {
            members.shift_remove("maxContains");
            return KeywordChange::Kept;
        }
        "if" => {
            members.shift_remove("then");
            members.shift_remove("else");
        }
        _ => {}
    }
    members.shift_remove(keyword);
    KeywordChange::Gone
}

/// The same where the place that was left out is only referred to.
fn loosen_references(schema: &mut Value) {
    visit(schema, &mut String::new(), &mut |schema, _| {
        let Value::Object(members) = schema else { return };
        for keyword in ["not", "if", "oneOf", "contains"] {
            if members.get(keyword).is_some_and(refers) {
                turn(members, keyword);
            }
        }
    });
}

fn refers(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(key, held)| {
            matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef") || refers(held)
        }),
        Value::Array(items) => items.iter().any(refers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Where the patterns stand that cannot be used, and why each cannot.
fn unusable(schema: &mut Value, bounds: &SchemaBounds) -> Vec<(String, String)> {
    let mut known: HashMap<String, Option<&'static str>> = HashMap::new();
    let (mut taken, mut tried) = (0, 0);
    let mut places = Vec::new();
    visit(schema, &mut String::new(), &mut |schema, at| {
        let single = schema.get("pattern").and_then(Value::as_str);
        let single = single.map(|text| (text.to_owned(), vec!["pattern"]));
        let keyed = schema.get("patternProperties").and_then(Value::as_object);
        let keyed = keyed.into_iter().flat_map(|map| map.keys());
        let keyed = keyed.map(|text| (text.clone(), vec!["patternProperties", text.as_str()]));
        for (text, tokens) in single.into_iter().chain(keyed) {
            let why = *known.entry(text.clone()).or_insert_with(|| {
                tried += 1;
                if taken >= bounds.patterns || tried > MOST_TRIED {
                    return Some("there are more patterns than are checked");
                }
                let why = pattern::unusable(&text, bounds.pattern_bytes);
                taken += usize::from(why.is_none());
                why
            });
            if let Some(why) = why {
                let mut place = at.to_owned();
                for token in tokens {
                    push_token(&mut place, token);
                }
                places.push((place, format!("`{}`: {why}", shorten(&text, 60))));
            }
        }
    });
    places
}
