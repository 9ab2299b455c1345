//! A list or an object that came as text is read by the schema or refused, never one element.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_json::schema::Schema;

/// What becomes of a text under a schema; `None`: it is refused.
fn read(schema: &Value, text: &str) -> Option<Value> {
    let schema = Schema::compile(schema).unwrap();
    let (value, _) = schema.coerce(json!(text));
    schema.is_valid(&value).then_some(value)
}

fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

#[test]
fn every_way_of_writing_a_list_is_read() {
    for text in [
        r#"["a","b"]"#,
        "['a', 'b']",
        "['a', 'b',]",
        "('a', 'b')",
        "{'a', 'b'}",
        "[u'a', b'b']",
        "[a, b]",
        "[“a”, “b”]",
        " [ 'a' , 'b' ] \n",
        "```json\n[\"a\", \"b\"]\n```",
        "```\n['a', 'b']\n```",
        r#""[\"a\", \"b\"]""#,
        r#""['a', 'b']""#,
        r#"[\"a\", \"b\"]"#,
        "['a', 'b'",
        "['a' 'b']",
        "['a', /* and */ 'b']",
    ] {
        assert_eq!(read(&texts(), text), Some(json!(["a", "b"])), "{text}");
    }
    let numbers = json!({"type": "array", "items": {"type": "integer"}});
    for text in ["[1, 2,]", "(1, 2)", "['1', '2']", "{1, 2}", "[1, 2]", "[0x1, +2]"] {
        assert_eq!(read(&numbers, text), Some(json!([1, 2])), "{text}");
    }
    assert_eq!(read(&texts(), "[]"), Some(json!([])));
    assert_eq!(read(&texts(), "()"), Some(json!([])));
    let any = json!({"type": "array"});
    let mixed = json!([true, false, null, {"k": [1, "x"]}]);
    assert_eq!(read(&any, "[True, False, None, {'k': (1, 'x')}]"), Some(mixed));
}

#[test]
fn what_cannot_be_read_as_a_list_is_refused() {
    for text in [
        "",
        "   ",
        "\n",
        "null",
        "None",
        "undefined",
        "['a', 'b",
        "['a', b",
        "['a',",
        "[",
        "{",
        "(",
        "]",
        "'a', 'b'",
        "a, b",
        "- a\n- b",
        "a\nb",
        "set()",
        "list(['a'])",
        "<item>a</item>",
        "['a'] and ['b']",
        "['a', 'b'] or so",
        "```",
        "{'a': 1}",
        r#"{"a": 1}"#,
        "\"",
        "'a'",
        "[TODO] buy milk",
    ] {
        assert_eq!(read(&texts(), text), None, "{text:?}");
    }
    let objects = json!({"type": "object"});
    for text in ["", " ", "None", "[1]", "['a']", "{'a': 'b", "{broken", "a: 1", "a=1", "{'a': 1"] {
        assert_eq!(read(&objects, text), None, "{text:?}");
    }
}

#[test]
fn every_way_of_writing_an_object_is_read() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}},
        "b": {"type": ["boolean", "null"]}}, "additionalProperties": false});
    let expected = json!({"a": [1, 2], "b": null});
    for text in [
        "{'a': [1, 2], 'b': None}",
        "{'a': (1, 2), 'b': None,}",
        "{a: [1, 2], b: null}",
        r#""{\"a\": [1, 2], \"b\": null}""#,
        "```json\n{\"a\": [1, 2], \"b\": null}\n```",
        r#"{"a": "[1, 2]", "b": null}"#,
        r#"{"a": "(1, 2)", "b": None}"#,
    ] {
        assert_eq!(read(&schema, text), Some(expected.clone()), "{text}");
    }
    let maps = json!({"type": "object", "additionalProperties": {"type": "array"}});
    assert_eq!(read(&maps, "{'x': '[1]', 'y': (2,)}"), Some(json!({"x": [1], "y": [2]})));
}

#[test]
fn one_element_is_made_of_what_is_no_container() {
    for text in ["a", "a b", "3", "true", " a", "Zürich", "it's", "a(b", "10:30", "a/b"] {
        assert_eq!(read(&texts(), text), Some(json!([text])), "{text}");
    }
    let objects = json!({"type": "array", "items": {"type": "object"}});
    assert_eq!(read(&objects, "{'a': 1}"), Some(json!([{"a": 1}])));
    assert_eq!(read(&objects, r#"{"a": 1}"#), Some(json!([{"a": 1}])));
}

#[test]
fn a_text_that_is_admitted_stays_as_it_is() {
    for schema in [
        json!({"type": "string"}),
        json!({"type": ["string", "array"]}),
        json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}),
        json!({"oneOf": [{"type": "object"}, {"type": "string"}]}),
        json!({}),
    ] {
        for text in ["['a', 'b']", "[1]", "{}", "", "None"] {
            assert_eq!(read(&schema, text), Some(json!(text)), "{schema} {text}");
        }
    }
}

#[test]
fn unions_and_references_decide_as_the_schema_has_it() {
    let list = texts();
    for schema in [
        json!({"anyOf": [list, {"type": "null"}]}),
        json!({"oneOf": [{"type": "null"}, list]}),
        json!({"type": ["array", "null"], "items": {"type": "string"}}),
        json!({"$defs": {"l": list}, "$ref": "#/$defs/l"}),
        json!({"anyOf": [list, {"type": "integer"}]}),
    ] {
        assert_eq!(read(&schema, "['a', 'b']"), Some(json!(["a", "b"])), "{schema}");
        assert_eq!(read(&schema, ""), None, "{schema}");
    }
    let nullable = json!({"type": ["array", "null"]});
    assert_eq!(read(&nullable, "None"), Some(Value::Null));
    let either =
        json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "object"}]});
    assert_eq!(read(&either, "{'a': 1}"), Some(json!({"a": 1})));
    assert_eq!(read(&either, "['a']"), Some(json!(["a"])));
}

/// A value as Python prints it.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(flag) => if *flag { "True" } else { "False" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("'{key}': {}", python(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-zA-Z éß'\"\\\\,:]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,6}", inner), 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn a_list_that_was_printed_is_the_list_or_is_refused(
        items in prop::collection::vec(any_value(), 0..5),
        cut: prop::sample::Index,
    ) {
        let value = Value::from(items);
        let any = json!({"type": "array"});
        let json = value.to_string();
        prop_assert_eq!(read(&any, &json), Some(value.clone()));
        prop_assert_eq!(read(&any, &Value::from(json).to_string()), Some(value.clone()));
        let printed = python(&value);
        // Some quotes within quotes are beyond repair, and then nothing may come of them.
        if let Some(read) = read(&any, &printed)
            && !printed.contains('"') && !printed.contains('\\')
        {
            prop_assert_eq!(&read, &value, "{}", printed);
        }
        // A list that was cut is a beginning of the list, never one text.
        let place = printed.char_indices().nth(cut.index(printed.chars().count())).map_or(0, |it| it.0);
        if let Some(Value::Array(read)) = read(&any, &printed[..place]) {
            prop_assert!(!matches!(read.as_slice(), [Value::String(text)] if text.starts_with('[')));
        }
    }

    #[test]
    fn no_text_that_opens_a_container_is_ever_one_element(text in "[\\[{(][ -~\n]{0,24}") {
        let one = json!([text]);
        prop_assert_ne!(read(&texts(), &text), Some(one));
    }
}
