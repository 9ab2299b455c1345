//! Properties that hold for any schema and any value.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolcrib_json::schema::{Schema, signature};

/// Time for one small schema with one small value, unoptimised and on a busy machine.
const ENOUGH: Duration = Duration::from_secs(2);

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "A", "start_date", "startDate", "", "a/b~c", "%"]),
        1 => prop::sample::select(vec!["0", "x\u{0}", "ü", "$ref", "properties"]),
    ]
    .prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "3",
            "3.0",
            "true",
            "a",
            " A ",
            "[1]",
            "{\"a\": \"3\"}",
            "null",
            "x\u{202e}"
        ])
        .prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..4)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

const TYPES: &[&str] =
    &["string", "integer", "number", "boolean", "null", "array", "object", "dict"];
const REFERENCES: &[&str] = &[
    "#",
    "",
    "#/$defs/a",
    "#/$defs/b",
    "#/properties/a",
    "#a",
    "a.json",
    "urn:x",
    "http://127.0.0.1:9/x",
    "file:///etc/passwd",
    "#/%",
    "#/%zz",
    "//x",
    ":",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2020-12/schema",
    "?",
    "#/items/0",
    "\u{fc}",
    "http://[",
];
const DRAFTS: &[&str] = &[
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "urn:none",
    "",
];
const PATTERNS: &[&str] = &[
    "^a",
    "(a|aa)+$",
    "(?=a)",
    "(",
    r"\p{L}{1,9}",
    "[",
    r"\d{2,3}",
    r"\cA",
    "a{1,999}{1,999}",
    "",
];
const LIMITS: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "uniqueItems",
];

/// Keywords whose values are no subschemas, right or wrong.
fn assertion() -> impl Strategy<Value = (String, Value)> {
    let one_type = prop::sample::select(TYPES);
    let reference = prop::sample::select(REFERENCES);
    prop_oneof![
        4 => one_type.clone().prop_map(|one| ("type".to_owned(), json!(one))),
        1 => prop::collection::vec(one_type, 0..4).prop_map(|set| ("type".to_owned(), json!(set))),
        2 => prop::collection::vec(name(), 0..3).prop_map(|names| ("required".to_owned(), json!(names))),
        2 => prop::collection::vec(value(), 0..4).prop_map(|options| ("enum".to_owned(), json!(options))),
        1 => value().prop_map(|constant| ("const".to_owned(), constant)),
        2 => (prop::sample::select(LIMITS), scalar()).prop_map(|(key, limit)| (key.to_owned(), limit)),
        1 => prop::sample::select(PATTERNS).prop_map(|pattern| ("pattern".to_owned(), json!(pattern))),
        4 => (prop::sample::select(vec!["$ref", "$ref", "$dynamicRef", "$recursiveRef", "$id", "id"]), reference)
            .prop_map(|(key, reference)| (key.to_owned(), json!(reference))),
        1 => (prop::sample::select(vec!["$anchor", "$dynamicAnchor"]), prop::sample::select(vec!["a", "b", "#"]))
            .prop_map(|(key, anchor)| (key.to_owned(), json!(anchor))),
        1 => any::<bool>().prop_map(|flag| ("$recursiveAnchor".to_owned(), json!(flag))),
        1 => prop::sample::select(DRAFTS).prop_map(|draft| ("$schema".to_owned(), json!(draft))),
        1 => value().prop_map(|anything| ("format".to_owned(), anything)),
    ]
}

const SINGLE: &[&str] = &[
    "not",
    "if",
    "then",
    "else",
    "items",
    "additionalProperties",
    "propertyNames",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
];
const LISTS: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const MAPS: &[&str] =
    &["properties", "properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => prop::collection::vec(assertion(), 0..3)
            .prop_map(|members| Value::from(members.into_iter().collect::<Map<_, _>>())),
        1 => any::<bool>().prop_map(Value::from),
        1 => scalar(),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let child = prop_oneof![
            (prop::sample::select(SINGLE), inner.clone())
                .prop_map(|(key, one)| (key.to_owned(), one)),
            (prop::sample::select(LISTS), prop::collection::vec(inner.clone(), 0..4))
                .prop_map(|(key, list)| (key.to_owned(), json!(list))),
            (prop::sample::select(MAPS), prop::collection::vec((name(), inner), 0..4)).prop_map(
                |(key, map)| {
                    (key.to_owned(), Value::from(map.into_iter().collect::<Map<_, _>>()))
                }
            ),
        ];
        (prop::collection::vec(assertion(), 0..3), prop::collection::vec(child, 0..4)).prop_map(
            |(assertions, children)| {
                Value::from(assertions.into_iter().chain(children).collect::<Map<_, _>>())
            },
        )
    })
}

/// Well-formed schemas as tools have them.
fn parameter() -> impl Strategy<Value = Value> {
    let types = vec!["string", "integer", "number", "boolean", "null", "array", "object"];
    let leaf = prop_oneof![
        4 => prop::sample::select(types.clone()).prop_map(|one| json!({"type": one})),
        1 => prop::collection::btree_set(prop::sample::select(types), 1..3)
            .prop_map(|set| json!({"type": set})),
        1 => prop::collection::vec(scalar(), 1..4).prop_map(|options| json!({"enum": options})),
        1 => Just(json!({"$ref": "#"})),
        1 => Just(json!({"$ref": "#/$defs/count"})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            (
                prop::sample::select(vec!["anyOf", "oneOf", "allOf"]),
                prop::collection::vec(inner.clone(), 1..4)
            )
                .prop_map(|(keyword, branches)| json!({keyword: branches})),
            members(inner),
        ]
    })
}

fn members(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let properties = prop::collection::vec((name(), inner), 0..4);
    (properties, any::<bool>(), any::<bool>()).prop_map(
        |(properties, is_closed, is_first_needed)| {
            let required: Vec<String> = properties
                .iter()
                .take(usize::from(is_first_needed))
                .map(|(name, _)| name.clone())
                .collect();
            json!({
                "$defs": {"count": {"type": "integer"}},
                "type": "object",
                "properties": properties.into_iter().collect::<Map<_, _>>(),
                "required": required,
                "additionalProperties": !is_closed,
            })
        },
    )
}

/// What must hold for any schema with any value.
fn holds(source: &Value, instance: &Value) -> Result<(), TestCaseError> {
    let begun = Instant::now();
    let line = signature("f", source);
    prop_assert!(line.chars().count() <= 401 && !line.contains('\n'));
    match Schema::compile(source) {
        Ok(schema) => {
            let valid = schema.is_valid(instance);
            prop_assert_eq!(schema.check(instance).is_ok(), valid);
            if let Err(violations) = schema.check(instance) {
                prop_assert!(!violations.places.is_empty());
                let told = violations.to_string();
                prop_assert!(!told.contains(['\n', '\u{202e}', '\u{0}']), "{}", told);
            }
            let (value, coercions) = schema.coerce(instance.clone());
            if valid || coercions.is_empty() {
                prop_assert_eq!(&value, instance);
                prop_assert!(coercions.is_empty());
            } else {
                prop_assert!(schema.is_valid(&value));
            }
            let again = schema.coerce(value.clone());
            prop_assert_eq!(again, (value, Vec::new()));
        }
        Err(refusal) => prop_assert!(!refusal.to_string().is_empty()),
    }
    prop_assert!(begun.elapsed() < ENOUGH, "{:?}", begun.elapsed());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_compiles_or_is_refused_and_is_checked_in_bounded_time(
        source in schema(),
        instance in value(),
    ) {
        holds(&source, &instance)?;
    }

    #[test]
    fn coercion_keeps_what_is_valid_and_makes_valid_what_it_changes(
        source in members(parameter()),
        instance in value(),
        arguments in prop::collection::vec((name(), value()), 0..4),
    ) {
        prop_assert!(Schema::compile(&source).is_ok(), "{:?}", Schema::compile(&source));
        holds(&source, &instance)?;
        holds(&source, &arguments.into_iter().collect::<Map<_, _>>().into())?;
    }

    #[test]
    fn arbitrary_json_never_panics(source in value(), instance in value()) {
        holds(&source, &instance)?;
    }
}
