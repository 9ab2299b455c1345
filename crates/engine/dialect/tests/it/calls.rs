//! Replies of every shape, and of none.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_core::{PlanRequest, RawArguments};

use crate::fixture::{self, plan_of, spec, variants};

/// Words of replies and of schemas.
const WORDS: &str = "choices message tool_calls function name arguments id type output \
    function_call call_id content tool_use input candidates parts functionCall args add custom \
    custom_tool_call role now properties items anyOf oneOf allOf $ref # #/$defs/a $defs a required \
    enum const object array string not if minimum default additionalProperties null pattern \
    prefixItems description";

/// Any JSON, with words in it so that it often looks like a reply or a schema.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(WORDS.split_whitespace().collect::<Vec<_>>());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..6)
                .prop_map(|fields| fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_and_every_call_has_an_id(reply in any_json()) {
        let plan = fixture::plan();
        for (_, dialect) in variants() {
            for call in dialect.calls(&plan, &reply).unwrap_or_default() {
                prop_assert!(!call.id.is_empty());
                prop_assert!(call.fault.is_some() || !call.name.is_empty());
            }
            dialect.echo(&reply);
            let mut stream = dialect.stream();
            stream.push(&reply);
            stream.push(&reply);
            let found = stream.finish(&plan);
            prop_assert_eq!(found.err(), stream.not_a_reply());
        }
    }

    #[test]
    fn every_item_of_a_list_of_calls_is_answered(mut items in prop::collection::vec(any_json(), 0..6)) {
        // What has a type is something else of the API's, which is not ours to answer.
        for item in &mut items {
            if let Some(fields) = item.as_object_mut() {
                fields.retain(|key, _| !["type", "text"].contains(&key.as_str()));
            }
        }
        let plan = fixture::plan();
        for (folder, dialect) in variants() {
            let reply = match dialect.name() {
                "openai-chat" => json!({"role": "assistant", "tool_calls": items}),
                "openai-responses" => json!({"output": items}),
                "anthropic" => json!({"role": "assistant", "content": items}),
                _ => json!({"role": "model", "parts": items}),
            };
            prop_assert_eq!(dialect.calls(&plan, &reply).unwrap().len(), items.len(), "{}", folder);
        }
    }
}

#[test]
fn what_is_no_reply_at_all_is_one_malformed_call() {
    let plan = fixture::plan();
    for (folder, dialect) in variants() {
        let error = json!({"error": {"code": 1}});
        let why = dialect.not_a_reply(&error);
        assert!(why.is_some());
        assert_eq!(dialect.calls(&plan, &error).err(), why, "an error of the API is no call");
        for reply in [json!(null), json!("add"), json!(7), json!({})] {
            assert_eq!(dialect.not_a_reply(&reply), None);
            let calls = dialect.calls(&plan, &reply).unwrap();
            let [call] = calls.as_slice() else { panic!("{folder}: {reply}: {calls:?}") };
            assert!(call.fault.is_some() && call.id == "call_1", "{folder}: {call:?}");
        }
    }
}

#[test]
fn a_reply_without_calls_has_none() {
    let plan = fixture::plan();
    let replies = [
        (
            "openai-chat",
            json!({"choices": [{"message": {"role": "assistant", "content": "hi", "tool_calls": null}}]}),
        ),
        ("openai-chat", json!({"choices": []})),
        ("openai-responses", json!({"output": [{"type": "message", "content": []}]})),
        ("anthropic", json!({"role": "assistant", "content": "hi"})),
        ("gemini", json!({"candidates": [{"content": {"parts": [{"text": "hi"}]}}]})),
        ("gemini", json!({"candidates": [{"finishReason": "SAFETY"}]})),
    ];
    for (name, reply) in replies {
        let calls = toolcrib_dialect::dialect(name).unwrap().calls(&plan, &reply).unwrap();
        assert_eq!(calls, vec![], "{name}: {reply}");
    }
}

#[test]
fn one_call_and_a_bare_list_are_read_too() {
    let plan = fixture::plan();
    let call = [
        (
            "openai-chat",
            json!({"id": "a", "type": "function", "function": {"name": "now", "arguments": ""}}),
        ),
        (
            "openai-responses",
            json!({"type": "function_call", "call_id": "a", "name": "now", "arguments": ""}),
        ),
        ("anthropic", json!({"type": "tool_use", "id": "a", "name": "now", "input": ""})),
        ("gemini", json!({"functionCall": {"id": "a", "name": "now", "args": ""}})),
    ];
    for (name, call) in call {
        let dialect = toolcrib_dialect::dialect(name).unwrap();
        let one = dialect.calls(&plan, &call).unwrap();
        assert_eq!(
            (one.len(), one[0].id.as_str(), one[0].name.as_str()),
            (1, "a", "now"),
            "{name}"
        );
        assert_eq!(dialect.calls(&plan, &json!([call])).unwrap(), one, "{name}");
    }
}

#[test]
fn a_call_in_the_old_form_is_answered_in_the_old_form() {
    let plan = fixture::plan();
    let dialect = toolcrib_dialect::dialect("openai-chat").unwrap();
    let reply = json!({"role": "assistant", "content": null, "function_call": {"name": "now", "arguments": "{}"}});
    let calls = dialect.calls(&plan, &reply).unwrap();
    assert_eq!(calls.len(), 1);
    assert_eq!((calls[0].id.as_str(), calls[0].name.as_str()), ("call_1", "now"));
    assert_eq!(calls[0].wire.echo["type"], "function_call");
}

#[test]
fn an_invented_id_is_none_that_the_model_gave() {
    let plan = fixture::plan();
    let dialect = toolcrib_dialect::dialect("gemini").unwrap();
    let parts = json!([{"functionCall": {"name": "now"}}, {"functionCall": {"name": "now", "id": "call_1"}}]);
    let ids: Vec<_> =
        dialect.calls(&plan, &parts).unwrap().into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["call_2", "call_1"]);
}

#[test]
fn arguments_that_were_cut_off_are_not_run() {
    let plan = fixture::plan();
    let text = "{\"path\": \"/srv";
    let cut = [
        (
            "openai-chat",
            json!({"choices": [{"finish_reason": "length", "message": {"role": "assistant", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "archive_files", "arguments": text}}]}}]}),
        ),
        (
            "openai-responses",
            json!({"status": "incomplete", "output": [
            {"type": "function_call", "call_id": "a", "name": "archive_files", "arguments": text}]}),
        ),
        (
            "anthropic",
            json!({"stop_reason": "max_tokens", "content": [
            {"type": "tool_use", "id": "a", "name": "archive_files", "input": text}]}),
        ),
    ];
    for (name, reply) in cut {
        let calls = toolcrib_dialect::dialect(name).unwrap().calls(&plan, &reply).unwrap();
        assert_eq!(
            (calls.len(), calls[0].id.as_str(), calls[0].name.as_str()),
            (1, "a", "archive_files")
        );
        assert!(calls[0].fault.as_ref().is_some_and(|fault| fault.contains("cut off")), "{name}");
    }
}

#[test]
fn strict_arguments_lose_the_nulls_that_say_nothing_and_no_others() {
    let input = json!({
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": ["integer", "null"]},
            "c": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "d": {"$ref": "#/$defs/d"},
            "list": {"type": "array", "items": {"$ref": "#/$defs/d"}},
        },
        "required": ["list"],
        "$defs": {"d": {"type": "object", "properties": {"e": {"type": "string"}, "f": {"type": "null"}}}},
    });
    let plan = plan_of([spec("t", "T.", input)], PlanRequest::default());
    let arguments = json!({"a": null, "b": null, "c": null, "d": {"e": null, "f": null},
        "list": [{"e": null, "f": null}, {"e": "x", "f": null}], "x": null});
    let kept = json!({"b": null, "c": null, "d": {"f": null},
        "list": [{"f": null}, {"e": "x", "f": null}], "x": null});
    let reply = json!([{"id": "1", "function": {"name": "t", "arguments": arguments.to_string()}}]);
    for (folder, dialect) in variants().into_iter().filter(|(_, d)| d.name() == "openai-chat") {
        let found = dialect.calls(&plan, &reply).unwrap().remove(0).arguments;
        let expected = match folder {
            "openai-chat-strict" => RawArguments::Value(kept.clone()),
            _ => RawArguments::Text(arguments.to_string()),
        };
        assert_eq!(found, expected, "{folder}");
    }
}

#[test]
fn a_field_that_had_to_be_renamed_comes_back_under_its_own_name() {
    let input = json!({"type": "object", "properties": {"page[size]": {"type": "integer"},
        "list": {"type": "array", "items": {"type": "object", "properties": {"$x y": {}}}}}});
    let plan = plan_of([spec("t", "T.", input)], PlanRequest::default());
    for name in ["anthropic", "gemini"] {
        let dialect = toolcrib_dialect::dialect(name).unwrap();
        let tools = dialect.tools(&plan);
        let path = if name == "gemini" {
            "/0/functionDeclarations/0/parametersJsonSchema/properties"
        } else {
            "/0/input_schema/properties"
        };
        let shown = tools.pointer(path).unwrap();
        let page = shown.as_object().unwrap().keys().next().unwrap().clone();
        let inner = shown
            .pointer("/list/items/properties")
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .next()
            .unwrap()
            .clone();
        assert!(page.starts_with("page_size__x") && inner.starts_with("_x_y_x"), "{page} {inner}");
        let arguments = json!({page: 3, "list": [{inner: 1}]});
        let reply = match name {
            "gemini" => json!([{"functionCall": {"name": "t", "args": arguments}}]),
            _ => json!([{"type": "tool_use", "id": "1", "name": "t", "input": arguments}]),
        };
        let call = dialect.calls(&plan, &reply).unwrap().remove(0);
        let expected = json!({"page[size]": 3, "list": [{"$x y": 1}]});
        assert_eq!(call.arguments, RawArguments::Value(expected), "{name}");
    }
}

#[test]
fn a_bad_call_of_a_custom_tool_is_answered_in_the_shape_of_its_kind() {
    let dialect = toolcrib_dialect::dialect("openai-responses").unwrap();
    let reply = json!([{"type": "custom_tool_call", "call_id": "a", "name": 7, "input": "x"}]);
    let call = dialect.calls(&fixture::plan(), &reply).unwrap().remove(0);
    assert_eq!((call.id.as_str(), call.fault.is_some()), ("a", true));
    assert_eq!(call.wire.echo["type"], "custom_tool_call");
}

#[test]
fn a_call_without_an_id_meets_its_result_in_the_echoed_turn() {
    let plan = fixture::fresh_plan();
    let arguments = || json!({});
    for (name, reply, place) in [
        (
            "openai-chat",
            json!({"role": "assistant", "tool_calls": [
                {"id": "call_1", "function": {"name": "a", "arguments": "{}"}},
                {"function": {"name": "b", "arguments": "{}"}}]}),
            "/0/tool_calls/1/id",
        ),
        (
            "anthropic",
            json!({"role": "assistant", "content": [
                {"type": "text", "text": "x"},
                {"type": "tool_use", "id": "call_1", "name": "a", "input": arguments()},
                {"type": "tool_use", "name": "b", "input": arguments()}]}),
            "/0/content/2/id",
        ),
        (
            "openai-responses",
            json!({"output": [
                {"type": "function_call", "call_id": "call_1", "name": "a", "arguments": "{}"},
                {"type": "function_call", "name": "b", "arguments": "{}"}]}),
            "/1/call_id",
        ),
    ] {
        let dialect = toolcrib_dialect::dialect(name).unwrap();
        let calls = dialect.calls(&plan, &reply).unwrap();
        let echo = Value::from(dialect.echo(&reply));
        assert_eq!(calls[1].id, "call_2", "{name}");
        assert_eq!(echo.pointer(place), Some(&json!("call_2")), "{name}: {echo}");
    }
}
