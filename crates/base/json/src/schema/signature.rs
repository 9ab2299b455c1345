//! A schema told as the parameters of a function, on one line.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt::Write;

use serde_json::{Map, Value};

use super::excerpt;

/// Characters of a signature.
const LONGEST: usize = 400;
/// Objects within the parameters that are told with their members; deeper ones are `object`.
const DEEPEST: usize = 2;
/// References and alternatives that are followed within one type.
const LONGEST_CHAIN: usize = 8;
/// Values of an `enum` and branches of a union that are told.
const TOLD: usize = 6;
/// Types that are told in one signature.
const FUEL: usize = 1_000;

/// A tool as a function: `create_event(title: string, duration?: "30m"|"1h")`.
///
/// Required parameters come first, both kinds in the schema's order. What cannot be told in
/// short is `any`; a signature that grows too long ends in `…`. Takes any JSON value.
pub fn signature(name: &str, schema: &Value) -> String {
    let fuel = Cell::new(FUEL);
    let teller = SignatureWriter { root: schema, fuel: &fuel };
    let mut line = SignatureText(excerpt::shorten(name, 128));
    line.push("(");
    if let Some((properties, required)) = teller.object(schema, LONGEST_CHAIN) {
        teller.members(&mut line, properties, &required, DEEPEST);
    }
    line.push(")");
    line.0
}

/// Text that stops growing at [`LONGEST`] characters.
struct SignatureText(String);

impl SignatureText {
    fn push(&mut self, part: &str) {
        if self.is_full() {
            return;
        }
        let room = LONGEST - self.0.chars().count();
        if part.chars().count() <= room {
            self.0.push_str(part);
        } else {
            self.0.extend(part.chars().take(room));
            self.0.push('…');
        }
    }

    fn is_full(&self) -> bool {
        self.0.chars().count() >= LONGEST
    }
}

struct SignatureWriter<'s, 'f> {
    root: &'s Value,
    /// Types that may still be told: alternatives of alternatives multiply.
    fuel: &'f Cell<usize>,
}

/// The names that an object must have.
type RequiredNames<'s> = HashSet<&'s str>;

impl<'s> SignatureWriter<'s, '_> {
    fn members(
        &self,
        line: &mut SignatureText,
        properties: &'s Map<String, Value>,
        required: &RequiredNames<'s>,
        levels: usize,
    ) {
        let is_required = |name: &str| required.contains(name);
        let first = properties.iter().filter(|(name, _)| is_required(name));
        let rest = properties.iter().filter(|(name, _)| !is_required(name));
        for (index, (name, schema)) in first.chain(rest).enumerate() {
            if line.is_full() {
                return;
            }
            let mark = if is_required(name) { "" } else { "?" };
            let comma = if index > 0 { ", " } else { "" };
            line.push(&format!("{comma}{}{mark}: ", excerpt::shorten(name, 64)));
            line.push(&self.type_of(schema, levels, LONGEST_CHAIN));
        }
    }

    /// The members of an object schema, through references and single `allOf`.
    fn object(
        &self,
        schema: &'s Value,
        chain: usize,
    ) -> Option<(&'s Map<String, Value>, RequiredNames<'s>)> {
        let properties = schema.get("properties").and_then(Value::as_object);
        if let Some(properties) = properties {
            let required = schema.get("required").and_then(Value::as_array);
            let names = required.into_iter().flatten().filter_map(Value::as_str);
            return Some((properties, names.collect()));
        }
        let chain = chain.checked_sub(1)?;
        let target = self.target(schema).or_else(|| only_branch(schema))?;
        self.object(target, chain)
    }

    /// The schema that a reference within the document leads to.
    fn target(&self, schema: &'s Value) -> Option<&'s Value> {
        let reference = schema.get("$ref").and_then(Value::as_str)?;
        match reference.strip_prefix('#')? {
            "" => Some(self.root),
            pointer => self.root.pointer(pointer),
        }
    }

    fn type_of(&self, schema: &'s Value, levels: usize, chain: usize) -> String {
        let (Some(chain), Some(fuel)) = (chain.checked_sub(1), self.fuel.get().checked_sub(1))
        else {
            return "any".to_owned();
        };
        self.fuel.set(fuel);
        if let Some(target) = self.target(schema) {
            return self.type_of(target, levels, chain);
        }
        if let Some(value) = schema.get("const") {
            return excerpt::show(value, 40);
        }
        if let Some(Value::Array(options)) = schema.get("enum") {
            let told = options.iter().take(TOLD).map(|option| excerpt::show(option, 40)).collect();
            return union(told, options.len() > TOLD);
        }
        if let Some(Value::Array(branches)) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
            let told = branches.iter().take(TOLD).map(|branch| self.type_of(branch, levels, chain));
            return union(told.collect(), branches.len() > TOLD);
        }
        if let Some(branch) = only_branch(schema) {
            return self.type_of(branch, levels, chain);
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.named(name, schema, levels, chain),
            Some(Value::Array(names)) => {
                let names = names.iter().take(TOLD).filter_map(Value::as_str);
                let told = names.map(|name| self.named(name, schema, levels, chain));
                union(told.collect(), false)
            }
            _ if schema.get("properties").is_some() => self.named("object", schema, levels, chain),
            _ if schema.get("items").is_some() => self.named("array", schema, levels, chain),
            _ => "any".to_owned(),
        }
    }

    fn named(&self, name: &str, schema: &'s Value, levels: usize, chain: usize) -> String {
        match name {
            "array" => {
                let items = schema.get("items").filter(|items| items.is_object());
                let item =
                    items.map_or("any".to_owned(), |items| self.type_of(items, levels, chain));
                if item.contains('|') { format!("({item})[]") } else { format!("{item}[]") }
            }
            "object" => match (self.object(schema, chain), levels.checked_sub(1)) {
                (Some((properties, required)), Some(levels)) if !properties.is_empty() => {
                    let mut inner = SignatureText(String::new());
                    self.members(&mut inner, properties, &required, levels);
                    format!("{{{}}}", inner.0)
                }
                _ => "object".to_owned(),
            },
            other => excerpt::shorten(other, 40),
        }
    }
}

/// The schema that an `allOf` of one only wraps.
fn only_branch(schema: &Value) -> Option<&Value> {
    match schema.get("allOf").and_then(Value::as_array)?.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// Types joined by `|`, each once.
fn union(told: Vec<String>, more: bool) -> String {
    let mut line = String::new();
    let mut known: Vec<String> = Vec::new();
    for one in told {
        if !known.contains(&one) {
            let bar = if known.is_empty() { "" } else { "|" };
            // Writing to a string does not fail.
            let _ = write!(line, "{bar}{one}");
            known.push(one);
        }
    }
    match (line.is_empty(), more) {
        (true, _) => "any".to_owned(),
        (false, true) => line + "|…",
        (false, false) => line,
    }
}
