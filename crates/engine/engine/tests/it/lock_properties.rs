//! Whether what is called wider is wider, by a validator's judgement of random arguments.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use toolcrib_core::{Effect, ToolSpec};
use toolcrib_engine::pins::{DriftKind, PinFile};
use toolcrib_json::schema::Schema;
use toolcrib_testkit::spec;

const NAMES: [&str; 5] = ["a", "b", "c", "v", "n"];

fn kind(before: &Value, after: &Value) -> Option<DriftKind> {
    let with =
        |input: &Value| ToolSpec { input: input.clone().into(), ..spec("tool", Effect::Read) };
    let mut lock = PinFile::default();
    lock.accept(&with(before));
    lock.drift([&with(after)]).pop().map(|drift| drift.kind)
}

fn leaf() -> impl Strategy<Value = Value> {
    let known = [
        json!({ "type": "string" }),
        json!({ "type": "string", "enum": ["x", "yy"] }),
        json!({ "type": "integer" }),
        json!({ "type": "number", "minimum": 0, "maximum": 4 }),
        json!({ "type": ["string", "null"], "minLength": 1 }),
        json!({ "enum": [1, "x", null] }),
        json!({ "type": "array", "items": { "type": "integer" }, "maxItems": 2 }),
        json!({ "$ref": "#/$defs/d" }),
        json!({ "type": "integer", "not": { "minimum": 3 } }),
        json!(true),
        json!({}),
    ];
    prop::sample::select(known.to_vec())
}

fn an_object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let names = || prop::sample::select(NAMES.to_vec());
    let extra = prop::sample::select(vec![
        None,
        None,
        None,
        Some(json!(false)),
        Some(json!(true)),
        Some(json!({ "type": "integer" })),
    ]);
    let properties = prop::collection::btree_map(names(), inner, 0..4);
    (properties, prop::collection::btree_set(names(), 0..2), extra).prop_map(
        |(properties, required, extra)| {
            let mut schema =
                json!({ "type": "object", "properties": properties, "required": required });
            if let Some(extra) = extra {
                schema["additionalProperties"] = extra;
            }
            schema
        },
    )
}

/// Schemas in which no properties are spread over several keywords.
fn schema() -> impl Strategy<Value = Value> {
    let nested = leaf().prop_recursive(2, 12, 3, |inner| {
        prop_oneof![
            an_object(inner.clone()),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|list| json!({ "anyOf": list })),
            inner.prop_map(|items| json!({ "type": "array", "items": items })),
        ]
    });
    let definition = prop_oneof![
        leaf().prop_filter("no circle", |leaf| leaf.get("$ref").is_none()),
        Just(json!({ "type": "object", "properties": {
            "v": { "type": "integer" }, "n": { "$ref": "#/$defs/d" },
        } })),
    ];
    (an_object(nested), definition).prop_map(|(mut root, definition)| {
        root["$defs"] = json!({ "d": definition });
        root
    })
}

/// One change of one schema within a document.
#[derive(Debug, Clone)]
enum Edit {
    Set(&'static str, Value),
    Remove(Index),
    AddProperty(&'static str, Value),
    RemoveProperty(Index),
    Require(&'static str),
    AddBranch(Value),
    RemoveBranch(Index),
    AddValue(Value),
    RemoveValue,
}

fn edit() -> impl Strategy<Value = Edit> {
    let set = vec![
        ("type", json!("integer")),
        ("type", json!(["string", "null"])),
        ("type", json!(["integer", "string", "object"])),
        ("enum", json!(["x", 1])),
        ("const", json!("x")),
        ("minimum", json!(1)),
        ("exclusiveMinimum", json!(1)),
        ("maximum", json!(2)),
        ("exclusiveMaximum", json!(4.5)),
        ("minLength", json!(2)),
        ("maxItems", json!(1)),
        ("maxProperties", json!(2)),
        ("uniqueItems", json!(true)),
        ("multipleOf", json!(2)),
        ("additionalProperties", json!(false)),
        ("additionalProperties", json!(true)),
        ("additionalProperties", json!({ "type": "string" })),
        ("propertyNames", json!({ "enum": ["a", "b"] })),
        ("not", json!({ "type": "null" })),
        ("not", json!({ "minimum": 2 })),
        ("description", json!("other words")),
        ("required", json!([])),
    ];
    let name = || prop::sample::select(NAMES.to_vec());
    let index = any::<Index>;
    let value = prop::sample::select(vec![json!("red"), json!(2), json!(null)]);
    prop_oneof![
        4 => prop::sample::select(set).prop_map(|(key, value)| Edit::Set(key, value)),
        3 => index().prop_map(Edit::Remove),
        2 => (name(), leaf()).prop_map(|(name, leaf)| Edit::AddProperty(name, leaf)),
        1 => index().prop_map(Edit::RemoveProperty),
        1 => name().prop_map(Edit::Require),
        1 => leaf().prop_map(Edit::AddBranch),
        1 => index().prop_map(Edit::RemoveBranch),
        1 => value.prop_map(Edit::AddValue),
        1 => Just(Edit::RemoveValue),
    ]
}

/// JSON pointers of all schemas within a document.
fn places(schema: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    for key in ["properties", "$defs"] {
        for (name, child) in schema.get(key).and_then(Value::as_object).into_iter().flatten() {
            places(child, &format!("{at}/{key}/{name}"), found);
        }
    }
    if let Some(items) = schema.get("items") {
        places(items, &format!("{at}/items"), found);
    }
    for (place, child) in
        schema.get("anyOf").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        places(child, &format!("{at}/anyOf/{place}"), found);
    }
}

fn apply(document: &mut Value, at: Index, edit: &Edit) {
    let mut all = Vec::new();
    places(document, "", &mut all);
    let Some(schema) = document.pointer_mut(at.get::<String>(&all)).and_then(Value::as_object_mut)
    else {
        return;
    };
    let list = |schema: &mut Map<String, Value>, key: &str, change: &dyn Fn(&mut Vec<Value>)| {
        if let Some(list) = schema.get_mut(key).and_then(Value::as_array_mut) {
            change(list);
        }
    };
    // What stands beside a choice or a reference is another test's matter.
    let alone = schema.contains_key("anyOf") || schema.contains_key("$ref");
    match edit {
        Edit::AddBranch(branch) => list(schema, "anyOf", &|list| list.push(branch.clone())),
        Edit::RemoveBranch(index) => list(schema, "anyOf", &|list| {
            if list.len() > 1 {
                list.remove(index.index(list.len()));
            }
        }),
        Edit::Set("description", text) => drop(schema.insert("description".into(), text.clone())),
        _ if alone => {}
        Edit::Set(key, value) => drop(schema.insert((*key).into(), value.clone())),
        Edit::Remove(index) => {
            let keys: Vec<_> = schema.keys().filter(|key| *key != "$defs").cloned().collect();
            if !keys.is_empty() {
                schema.remove(index.get(&keys));
            }
        }
        Edit::AddProperty(name, leaf) => {
            if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
                properties.insert((*name).into(), leaf.clone());
            }
        }
        Edit::RemoveProperty(index) => {
            if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
                let names: Vec<_> = properties.keys().cloned().collect();
                if !names.is_empty() {
                    properties.remove(index.get(&names));
                }
            }
        }
        Edit::Require(name) => list(schema, "required", &|list| {
            let name = json!(name);
            if list.contains(&name) { list.retain(|other| *other != name) } else { list.push(name) }
        }),
        Edit::AddValue(value) => list(schema, "enum", &|list| {
            if !list.contains(value) {
                list.push(value.clone());
            }
        }),
        Edit::RemoveValue => list(schema, "enum", &|list| {
            if list.len() > 1 {
                list.pop();
            }
        }),
    }
}

fn pair() -> impl Strategy<Value = (Value, Value)> {
    let edits = prop::collection::vec((any::<Index>(), edit()), 1..3);
    (schema(), edits, any::<bool>()).prop_map(|(before, edits, exclusive)| {
        let mut after = before.clone();
        for (at, edit) in &edits {
            apply(&mut after, *at, edit);
        }
        let key = if exclusive { "oneOf" } else { "anyOf" };
        let written = |schema: &Value| {
            serde_json::from_str(&schema.to_string().replace("anyOf", key)).unwrap()
        };
        (written(&before), written(&after))
    })
}

/// The schema as it is documented: what it does not list, it refuses.
fn documented(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut closed = keywords.clone();
    for (key, value) in &mut closed {
        match (key.as_str(), value) {
            ("items" | "additionalProperties", child) => *child = documented(child),
            ("properties" | "$defs", Value::Object(children)) => {
                children.values_mut().for_each(|child| *child = documented(child));
            }
            ("anyOf" | "oneOf", Value::Array(branches)) => {
                for branch in branches {
                    *branch = documented(branch);
                }
            }
            _ => {}
        }
    }
    if closed.contains_key("properties") && !closed.contains_key("additionalProperties") {
        closed.insert("additionalProperties".into(), json!(false));
        let required = closed.get("required").and_then(Value::as_array).cloned();
        for name in required.unwrap_or_default() {
            let name = name.as_str().unwrap();
            if closed["properties"].get(name).is_none() {
                closed["properties"][name] = json!(true);
            }
        }
    }
    Value::Object(closed)
}

fn instance() -> impl Strategy<Value = Value> {
    let scalar = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!("x"),
        json!("yy"),
        json!("red"),
        json!(""),
        json!(-1),
        json!(1),
        json!(2),
        json!(3),
        json!(4.5),
        json!(1.0),
    ]);
    let nested =
        scalar.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                fields(inner),
            ]
        });
    fields(nested)
}

fn fields(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::btree_map(prop::sample::select(NAMES.to_vec()), inner, 0..4)
        .prop_map(|fields| json!(fields))
}

/// Fails if the kind promises what an instance disproves.
fn hold(
    kind: Option<DriftKind>,
    schemas: (&Value, &Value),
    instances: &[Value],
) -> Result<(), TestCaseError> {
    let (Ok(before), Ok(after)) = (Schema::compile(schemas.0), Schema::compile(schemas.1)) else {
        return Ok(());
    };
    for instance in instances {
        let (before, after) = (before.is_valid(instance), after.is_valid(instance));
        let kept = match kind {
            None | Some(DriftKind::Cosmetic) => before == after,
            Some(DriftKind::Widened) => after || !before,
            Some(DriftKind::Narrowed) => before || !after,
            Some(DriftKind::Breaking) => true,
            Some(DriftKind::Added | DriftKind::Removed) => false,
        };
        prop_assert!(kept, "{:?}: {} of {} -> {}", kind, instance, schemas.0, schemas.1);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn wider_arguments_take_every_documented_call_and_narrower_no_new_one(
        (before, after) in pair(),
        instances in prop::collection::vec(instance(), 40),
    ) {
        let kind = kind(&before, &after);
        hold(kind, (&documented(&before), &documented(&after)), &instances)?;
    }

    #[test]
    fn where_properties_are_spread_the_same_holds_to_the_letter(
        (before, after) in pair(),
        instances in prop::collection::vec(instance(), 40),
    ) {
        let spread = |schema: &Value| {
            let mut schema = schema.clone();
            let definitions = schema.as_object_mut().unwrap().remove("$defs");
            json!({ "$defs": definitions, "allOf": [schema, { "maxProperties": 9 }] })
        };
        let (before, after) = (spread(&before), spread(&after));
        hold(kind(&before, &after), (&before, &after), &instances)?;
    }

    #[test]
    fn what_is_wider_one_way_is_never_wider_the_other((before, after) in pair()) {
        let there = kind(&before, &after);
        let back = kind(&after, &before);
        if there == Some(DriftKind::Widened) {
            prop_assert!(matches!(back, Some(DriftKind::Narrowed | DriftKind::Breaking)), "{back:?}");
        }
        prop_assert_eq!(there.is_none(), back.is_none());
    }

    #[test]
    fn any_two_values_can_be_compared(before in wild(), after in wild()) {
        let with = |input: &Value| ToolSpec { input: input.clone().into(), ..spec("tool", Effect::Read) };
        let mut lock = PinFile::default();
        lock.accept(&with(&before));
        let read = PinFile::parse(&lock.to_text()).unwrap();
        prop_assert_eq!(&read, &lock);
        let changed = with(&before).fingerprint() != with(&after).fingerprint();
        prop_assert_eq!(read.drift([&with(&after)]).len(), usize::from(changed));
    }
}

/// Values full of keywords that mean something, at places where they mean nothing.
fn wild() -> impl Strategy<Value = Value> {
    let words = [
        "type",
        "enum",
        "const",
        "properties",
        "required",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "#",
        "#/$defs/a",
        "$defs",
        "a",
        "minimum",
        "not",
        "additionalProperties",
        "$id",
        "patternProperties",
        "object",
        "string",
    ];
    let word = move || prop::sample::select(words.to_vec());
    let scalar = prop_oneof![
        word().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        (-3..3i64).prop_map(Value::from),
        Just(Value::Null),
    ];
    scalar.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(word(), inner, 0..4).prop_map(|fields| json!(fields)),
        ]
    })
}
