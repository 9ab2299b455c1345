//! Whatever JSON comes in, every call of it is answered.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};

use crate::process::Folder;

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["calculate", "id", "function", "tool_use", "{", "{\"a\":"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![
            ".{0,6}",
            prop::sample::select(vec![
                "id",
                "type",
                "function",
                "name",
                "arguments",
                "input",
                "call_id",
                "args",
                "functionCall",
                "custom",
                "tool_calls",
            ])
            .prop_map(str::to_owned),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Something between a good call and nonsense.
fn call(dialect: &'static str) -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just(json!("calculate")),
        Just(json!("text_count")),
        Just(json!("nobody")),
        value(),
    ];
    let arguments = prop_oneof![
        Just(json!("{\"expression\": \"6 * 7\"}")),
        Just(json!("{'expression': '6 * 7',}")),
        Just(json!({"expression": "1 / 0"})),
        Just(json!({"text": "a b"})),
        value(),
    ];
    let good = (value(), name, arguments).prop_map(move |(id, name, arguments)| match dialect {
        "openai-responses" => {
            json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
        }
        "anthropic" => json!({"type": "tool_use", "id": id, "name": name, "input": arguments}),
        "gemini" => json!({"functionCall": {"id": id, "name": name, "args": arguments}}),
        _ => {
            let function = json!({"name": name, "arguments": arguments});
            json!({"id": id, "type": "function", "function": function})
        }
    });
    // In a list of items an object may be something else than a call; in a list of calls not.
    let junk = value().prop_filter("no item of another kind", move |value| {
        dialect == "openai-chat" || !value.is_object()
    });
    prop_oneof![3 => good, 2 => junk]
}

/// The batches of one seed; set it here to see others.
const SEED: u64 = 7;

/// A quarter of the 1,000 batches: the tests run beside each other, and a process takes its time.
fn answers_each_call(dialect: &'static str) {
    let config = Config { rng_seed: RngSeed::Fixed(SEED), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let folder = Folder::new();
    let batch = prop::collection::vec(call(dialect), 0..6);
    for round in 0..250 {
        let calls = batch.new_tree(&mut runner).unwrap().current();
        let input = Value::from(calls.clone()).to_string();
        let ran = folder.run_with(&["run", "--json", "--dialect", dialect], &input);
        let told = || format!("seed {SEED}, batch {round}: {input}\n{ran:#?}");
        assert!([0, 1].contains(&ran.code), "{}", told());
        let answer = ran.json();
        let responses = answer["responses"].as_array().unwrap();
        assert_eq!(responses.len(), calls.len(), "{}", told());
        for (call, response) in calls.iter().zip(responses) {
            assert!(response["text"].is_string() && response["error"].is_boolean(), "{}", told());
            match id(call) {
                Some(id) => assert_eq!(response["id"], id, "{}", told()),
                None => assert!(response["id"].is_string(), "{}", told()),
            }
        }
        let failed = responses.iter().any(|response| response["error"] == true);
        assert_eq!(ran.code == 1, failed, "{}", told());
    }
}

/// The id that the answer must carry; a call without a usable one is given one.
fn id(call: &Value) -> Option<&str> {
    let places = ["/id", "/call_id", "/functionCall/id"];
    let id = places.iter().find_map(|place| call.pointer(place))?.as_str()?;
    let is_call = ["type", "functionCall"].iter().any(|key| call.get(key).is_some());
    (is_call && !id.is_empty()).then_some(id)
}

#[test]
fn random_batches_of_openai_chat_get_one_response_for_each_call() {
    answers_each_call("openai-chat");
}

#[test]
fn random_batches_of_openai_responses_get_one_response_for_each_call() {
    answers_each_call("openai-responses");
}

#[test]
fn random_batches_of_anthropic_get_one_response_for_each_call() {
    answers_each_call("anthropic");
}

#[test]
fn random_batches_of_gemini_get_one_response_for_each_call() {
    answers_each_call("gemini");
}

#[test]
fn what_is_no_reply_of_the_api_is_told_to_the_person_and_not_to_the_model() {
    let folder = Folder::new();
    for (dialect, input, told) in [
        (
            "openai-chat",
            r#"{"error": {"message": "rate limit"}}"#,
            "this is an error of the API and no message: rate limit",
        ),
        (
            "anthropic",
            r#"{"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}"#,
            "this is an error of the API and no message: busy",
        ),
        (
            "gemini",
            r#"{"promptFeedback": {"blockReason": "SAFETY"}}"#,
            "the API blocked the request: SAFETY; change it and send it again",
        ),
        (
            "openai-chat",
            r#"{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "x"}]}"#,
            "this looks like a reply of `anthropic`: read it with that dialect",
        ),
    ] {
        let ran = folder.run_with(&["run", "--json", "--dialect", dialect], input);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert_eq!(ran.json(), json!({"error": {"message": told, "because": []}}));
        assert_eq!(ran.err, format!("error: {told}\n"));
    }
    let silent = folder.run_with(&["run"], r#"{"role": "assistant", "content": "hello"}"#);
    assert_eq!((silent.code, silent.err.as_str()), (0, "the message calls no tool\n"));
}

#[test]
fn any_json_at_all_is_answered_and_anything_else_is_refused_with_its_place() {
    let folder = Folder::new();
    for input in ["null", "1", "\"call it\"", "{}", "[]", "[[]]", "{\"tool_calls\": 3}"] {
        for dialect in ["openai-chat", "openai-responses", "anthropic", "gemini"] {
            let ran = folder.run_with(&["run", "--json", "--dialect", dialect], input);
            assert!([0, 1].contains(&ran.code), "{input}: {ran:?}");
            assert!(ran.json()["messages"].is_array());
        }
    }
    let ran = folder.run_with(&["run"], "{\n  oops");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert_eq!(
        ran.err,
        "error: standard input is no JSON: send a model's message or a list of calls\n  because \
         key must be a string at line 2 column 3\n"
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(folder.run_with(&["run"], &deep).code, 2);
}
