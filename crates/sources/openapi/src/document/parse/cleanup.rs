//! What a document says without a meaning: `null` where something else belongs, and the `required`
//! of a property by the third draft of JSON Schema.
//!
//! Programs write `null` for what they have not: nothing is said there. It costs itself.

use serde_json::{Map, Value};

use super::members::MemberContent;
use crate::document::text;

/// Takes it out of a document; what is to be told of it.
pub(crate) fn tidy(document: &mut Value) -> Vec<String> {
    let mut flags = RequiredFlags::default();
    walk(document, MemberContent::Keywords, &mut flags);
    flags.told().into_iter().collect()
}

/// Properties that say `required` of themselves.
#[derive(Default)]
struct RequiredFlags {
    first: String,
    count: usize,
}

impl RequiredFlags {
    fn told(self) -> Option<String> {
        let Self { first, count } = self;
        let first = text::line(&first, 60);
        (count > 0).then(|| {
            format!(
                "`required` of a property is no list and is left out at {count} (the first is \
                 `{first}`): list its name in `required` of the object"
            )
        })
    }
}

/// The depth is bounded where the document is read.
fn walk(value: &mut Value, holds: MemberContent, flags: &mut RequiredFlags) {
    match value {
        Value::Object(members) if holds != MemberContent::Data => object(members, holds, flags),
        Value::Array(items) if holds != MemberContent::Data => {
            let holds = holds.listed();
            items.retain(|item| !item.is_null());
            for item in items {
                walk(item, holds, flags);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {}
    }
}

fn object(members: &mut Map<String, Value>, holds: MemberContent, flags: &mut RequiredFlags) {
    if holds == MemberContent::Names {
        members.values_mut().filter(|value| value.is_null()).for_each(|value| {
            *value = Value::Object(Map::new());
        });
    } else if holds == MemberContent::Keywords {
        name_null(members);
        let is_value = |key: &str| holds.within(key) == MemberContent::Data && key != "enum";
        members.retain(|key, value| !value.is_null() || is_value(key));
        if let Some(Value::Object(properties)) = members.get_mut("properties") {
            unflag(properties, flags);
        }
    }
    for (key, value) in members {
        walk(value, holds.within(key), flags);
    }
}

/// The type of nothing is a word, which quotes are often forgotten around.
fn name_null(members: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = members.get_mut("type") {
        for one in types.iter_mut().filter(|one| one.is_null()) {
            *one = Value::from("null");
        }
    }
}

fn unflag(properties: &mut Map<String, Value>, flags: &mut RequiredFlags) {
    for (name, property) in properties {
        let Value::Object(property) = property else { continue };
        let Some(Value::Bool(is_required)) = property.get("required") else { continue };
        if *is_required {
            if flags.count == 0 {
                flags.first.clone_from(name);
            }
            flags.count += 1;
        }
        property.shift_remove("required");
    }
}
