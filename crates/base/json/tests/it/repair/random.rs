//! Random texts, and random values written and broken in many ways.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_json::repair::{RepairKind, RepairedJson, read, read_strict};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ a-z{}\\[\\]()\"',:`#/*\\\\\n.0-9“”-]{0,24}",
        "(true|None|\\{\"k\": 1\\}|', 'a': 1|\", \"a\": 1|```json|//|\\}\\]|é|\\.\\.\\.| ){0,5}",
    ]
}

/// Any value without repeated keys.
fn value() -> impl Strategy<Value = Value> {
    value_of(text().boxed())
}

fn value_of(text: BoxedStrategy<String>) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    (text(), value()).prop_map(|(key, value)| json!({ key: value, "last": [true] }))
}

/// The value as Python writes it.
fn python(value: &Value) -> String {
    let quoted = |text: &str| {
        let escaped = text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n");
        format!("'{escaped}'")
    };
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| format!("{}: {}", quoted(key), python(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Cuts, deletes, inserts or swaps quotes at some places.
fn broken(text: &str, changes: &[(u8, prop::sample::Index, char)]) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for (kind, place, character) in changes {
        let at = place.index(text.len() + 1);
        match kind {
            0 => text.truncate(at),
            1 if at < text.len() => drop(text.remove(at)),
            2 => text.insert(at, *character),
            _ => text.iter_mut().skip(at).take(40).for_each(|place| match place {
                '"' => *place = '\'',
                '\'' => *place = '"',
                _ => {}
            }),
        }
    }
    text.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_text_makes_it_panic_and_what_is_changed_is_noted(text in text()) {
        if let Ok(RepairedJson { repairs, .. }) = read(&text) {
            prop_assert_eq!(repairs.is_empty(), serde_json::from_str::<Value>(&text).is_ok());
        }
    }

    #[test]
    fn no_broken_json_makes_it_panic(
        value in value(),
        changes in prop::collection::vec((0..4_u8, any::<prop::sample::Index>(), any::<char>()), 1..4),
    ) {
        let text = broken(&value.to_string(), &changes);
        match read(&text) {
            Ok(read) => prop_assert_eq!(read.repairs.is_empty(), read_strict(&text).is_ok()),
            Err(refusal) => prop_assert!(!refusal.to_string().contains('\n')),
        }
    }

    #[test]
    fn valid_json_is_read_as_serde_json_reads_it(value in value()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let plain: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read_strict(&text), Ok(plain.clone()));
            prop_assert_eq!(read(&text), Ok(RepairedJson { value: plain, repairs: Vec::new() }));
        }
    }

    #[test]
    fn valid_json_keeps_its_value_between_prose_and_with_a_trailing_comma(value in object()) {
        let json = value.to_string();
        let plain: Value = serde_json::from_str(&json).unwrap();
        let comma = format!("{},}}", json.strip_suffix('}').unwrap());
        let fenced = format!("Here:\n```json\n{json}\n```\nDone.");
        for text in [fenced, format!("Here: {json}\nDone."), comma] {
            let read = read(&text);
            prop_assert_eq!(read.as_ref().map(|read| &read.value), Ok(&plain), "{}", text);
            prop_assert!(read.is_ok_and(|read| !read.repairs.is_empty()));
        }
    }

    #[test]
    fn python_literals_keep_their_value(value in object()) {
        let plain: Value = serde_json::from_str(&value.to_string()).unwrap();
        let text = python(&plain);
        prop_assert_eq!(read(&text).map(|read| read.value), Ok(plain), "{}", text);
    }

    #[test]
    fn cut_json_is_closed_and_the_cut_is_told(
        value in value_of("[a-z .!?'é\n-]{0,12}".boxed()),
        cut in any::<prop::sample::Index>(),
    ) {
        let json = json!({ "first": value, "last": [true] }).to_string();
        let kept = 1 + cut.index(json.chars().count() - 1);
        let text: String = json.chars().take(kept).collect();
        let read = read(&text).unwrap();
        prop_assert!(read.value.is_object(), "{text}: {}", read.value);
        let told = [RepairKind::MissingBracket, RepairKind::MissingQuote];
        prop_assert!(read.repairs.iter().any(|repair| told.contains(&repair.change)), "{}", text);
    }
}
