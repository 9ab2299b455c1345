//! A reply that its API says was cut off runs no call that may be cut.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_core::Call;
use toolcrib_dialect::dialect;

use crate::fixture;

const NAMES: [&str; 4] = ["openai-chat", "openai-responses", "anthropic", "gemini"];

/// A whole reply with calls named `a`, `b`, ... that ended as told.
fn reply(name: &str, calls: usize, ending: &Value) -> Value {
    let ids = (b'a'..).take(calls).map(|id| char::from(id).to_string());
    let items: Vec<Value> = ids
        .map(|id| match name {
            "openai-chat" => json!({"id": id, "function": {"name": "now", "arguments": "{}"}}),
            "openai-responses" => {
                json!({"type": "function_call", "call_id": id, "name": "now", "arguments": "{}"})
            }
            "anthropic" => json!({"type": "tool_use", "id": id, "name": "now", "input": {}}),
            _ => json!({"functionCall": {"id": id, "name": "now", "args": {}}}),
        })
        .collect();
    match name {
        "openai-chat" => json!({"choices": [{"finish_reason": ending,
            "message": {"role": "assistant", "tool_calls": items}}]}),
        "openai-responses" => {
            let mut reply = json!({"output": items});
            reply.as_object_mut().unwrap().extend(ending.as_object().cloned().unwrap());
            reply
        }
        "anthropic" => json!({"role": "assistant", "content": items, "stop_reason": ending}),
        _ => json!({"candidates": [{"content": {"role": "model", "parts": items},
            "finishReason": ending}]}),
    }
}

/// The ids of the calls that run; all others must be answered as cut off.
fn running(calls: &[Call]) -> Vec<&str> {
    let (run, cut): (Vec<_>, Vec<_>) = calls.iter().partition(|call| call.fault.is_none());
    for call in cut {
        let fault = call.fault.as_deref().unwrap_or_default();
        assert!(fault.contains("cut off") && fault.contains("again"), "{fault}");
        assert_eq!(call.name, "now", "the answer names the tool");
    }
    run.into_iter().map(|call| call.id.as_str()).collect()
}

/// An API, and its endings: whole, short and stopped.
type Row = (&'static str, Vec<Value>, Vec<Value>, Vec<Value>);

#[test]
fn every_ending_of_every_api_runs_what_is_surely_whole_and_nothing_else() {
    let incomplete =
        |reason: &str| json!({"status": "incomplete", "incomplete_details": {"reason": reason}});
    let table: [Row; 4] = [
        (
            "openai-chat",
            vec![json!("tool_calls"), json!("stop"), json!("function_call")],
            vec![json!("length"), json!("max_tokens"), json!("abort"), Value::Null, json!(7)],
            vec![json!("content_filter"), json!("error")],
        ),
        (
            "openai-responses",
            vec![json!({}), json!({"status": "completed", "incomplete_details": null})],
            vec![
                incomplete("max_output_tokens"),
                incomplete("content_filter"),
                json!({"status": "incomplete"}),
                json!({"status": "in_progress"}),
                json!({"status": "completed", "incomplete_details": {"reason": "x"}}),
                json!({"incomplete_details": {}}),
            ],
            vec![json!({"status": "failed"}), json!({"status": "cancelled"})],
        ),
        (
            "anthropic",
            vec![json!("tool_use"), json!("end_turn"), json!("stop_sequence")],
            vec![
                json!("max_tokens"),
                json!("model_context_window_exceeded"),
                json!("pause_turn"),
                json!("a_new_reason"),
                Value::Null,
            ],
            vec![json!("refusal")],
        ),
        (
            "gemini",
            vec![json!("STOP"), json!("FINISH_REASON_UNSPECIFIED")],
            vec![json!("MAX_TOKENS"), Value::Null],
            ["SAFETY", "RECITATION", "MALFORMED_FUNCTION_CALL", "OTHER", "PROHIBITED_CONTENT"]
                .map(Value::from)
                .to_vec(),
        ),
    ];
    let plan = fixture::plan();
    for (name, whole, short, stopped) in table {
        let dialect = dialect(name).unwrap();
        for (endings, expected) in [
            (whole, ["a", "b", "c"].as_slice()),
            (short, ["a", "b"].as_slice()),
            (stopped, [].as_slice()),
        ] {
            for ending in endings {
                let calls = dialect.calls(&plan, &reply(name, 3, &ending)).unwrap();
                assert_eq!(running(&calls), expected, "{name}: {ending}");
                assert_eq!(calls.len(), 3, "{name}: every call is answered");
            }
        }
    }
}

#[test]
fn what_follows_a_call_says_that_it_is_whole() {
    let plan = fixture::plan();
    let mut message = reply("anthropic", 1, &json!("max_tokens"));
    message["content"].as_array_mut().unwrap().push(json!({"type": "text", "text": "And n"}));
    let calls = dialect("anthropic").unwrap().calls(&plan, &message).unwrap();
    assert_eq!(running(&calls), ["a"]);
}

#[test]
fn the_status_of_an_item_is_believed() {
    let plan = fixture::plan();
    let responses = dialect("openai-responses").unwrap();
    let item = |id: &str, status: &str| json!({"type": "function_call", "call_id": id, "name": "now", "arguments": "{}", "status": status});
    let output = json!([item("a", "incomplete"), item("b", "completed"), item("c", "in_progress")]);
    for status in ["completed", "incomplete"] {
        let calls = responses.calls(&plan, &json!({"status": status, "output": output})).unwrap();
        assert_eq!(running(&calls), ["b"], "{status}");
    }
    assert_eq!(running(&responses.calls(&plan, &output).unwrap()), ["b"], "a bare list");
    assert_eq!(running(&responses.calls(&plan, &output[0]).unwrap()), [""; 0], "a bare item");
    let last = json!({"status": "incomplete", "output": [item("a", "completed")]});
    assert_eq!(
        running(&responses.calls(&plan, &last).unwrap()),
        ["a"],
        "the API says that it is whole"
    );
}

#[test]
fn the_old_form_and_free_text_are_held_back_too() {
    let plan = fixture::plan();
    let legacy = json!({"choices": [{"finish_reason": "length", "message": {"role": "assistant",
        "function_call": {"name": "now", "arguments": "{}"}}}]});
    let calls = dialect("openai-chat").unwrap().calls(&plan, &legacy).unwrap();
    assert_eq!((running(&calls).len(), calls.len()), (0, 1));
    let custom = json!({"status": "incomplete", "output": [
        {"type": "custom_tool_call", "call_id": "a", "name": "now", "input": "half of i"}]});
    let calls = dialect("openai-responses").unwrap().calls(&plan, &custom).unwrap();
    assert_eq!((running(&calls).len(), calls.len()), (0, 1));
}

/// The events of a stream with two calls, the last of which ends it.
fn events(name: &str) -> Vec<Value> {
    match name {
        "openai-chat" => {
            let piece = |index: u32, id: &str, text: &str| {
                json!({"choices": [{"delta": {"tool_calls": [
                {"index": index, "id": id, "function": {"name": "now", "arguments": text}}]}}]})
            };
            vec![
                piece(0, "a", "{"),
                piece(0, "a", "}"),
                piece(1, "b", "{}"),
                json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
            ]
        }
        "openai-responses" => {
            let item = |id: &str, text: &str, status: &str| json!({"type": "function_call", "call_id": id, "name": "now", "arguments": text, "status": status});
            let added = |place: u32, id: &str| json!({"type": "response.output_item.added", "output_index": place, "item": item(id, "", "in_progress")});
            let text = |place: u32| json!({"type": "response.function_call_arguments.delta", "output_index": place, "delta": "{}"});
            let done = |place: u32, id: &str| json!({"type": "response.output_item.done", "output_index": place, "item": item(id, "{}", "completed")});
            let output = [item("a", "{}", "completed"), item("b", "{}", "completed")];
            vec![
                added(0, "a"),
                text(0),
                done(0, "a"),
                added(1, "b"),
                text(1),
                json!({"type": "response.completed", "response": {"status": "completed", "output": output}}),
            ]
        }
        "anthropic" => {
            let start = |place: u32, id: &str| json!({"type": "content_block_start", "index": place, "content_block": {"type": "tool_use", "id": id, "name": "now", "input": {}}});
            let text = |place: u32| json!({"type": "content_block_delta", "index": place, "delta": {"partial_json": "{}"}});
            let stop = |place: u32| json!({"type": "content_block_stop", "index": place});
            vec![
                start(0, "a"),
                text(0),
                stop(0),
                start(1, "b"),
                text(1),
                stop(1),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            ]
        }
        _ => {
            let chunk = |id: &str| {
                json!({"candidates": [{"content": {"role": "model", "parts": [
                {"functionCall": {"id": id, "name": "now", "args": {}}}]}}]})
            };
            vec![chunk("a"), chunk("b"), json!({"candidates": [{"finishReason": "STOP"}]})]
        }
    }
}

proptest! {
    #[test]
    fn a_stream_that_breaks_anywhere_never_runs_its_last_call(place: prop::sample::Index) {
        let plan = fixture::plan();
        for name in NAMES {
            let events = events(name);
            let kept = place.index(events.len());
            let mut stream = dialect(name).unwrap().stream();
            for event in &events[..kept] {
                stream.push(event);
            }
            let calls = stream.finish(&plan).unwrap();
            prop_assert!(!running(&calls).contains(&"b"), "{}: {} events", name, kept);
            prop_assert_eq!(&calls, &dialect(name).unwrap().calls(&plan, &stream.reply()).unwrap());
            stream.push(&events[kept]);
            for event in &events[kept + 1..] {
                stream.push(event);
            }
            let calls = stream.finish(&plan).unwrap();
            prop_assert_eq!(running(&calls), ["a", "b"], "{}: whole", name);
        }
    }
}

#[test]
fn a_stream_tells_how_its_reply_was_cut() {
    let plan = fixture::plan();
    for (name, last, expected) in [
        (
            "openai-chat",
            json!({"choices": [{"delta": {}, "finish_reason": "content_filter"}]}),
            [].as_slice(),
        ),
        (
            "openai-responses",
            json!({"type": "response.incomplete", "response": {"output": [],
                "incomplete_details": {"reason": "max_output_tokens"}}}),
            ["a"].as_slice(),
        ),
        (
            "openai-responses",
            json!({"type": "response.cancelled", "response": {"output": []}}),
            [].as_slice(),
        ),
        (
            "anthropic",
            json!({"type": "message_delta", "delta": {"stop_reason": "refusal"}}),
            [].as_slice(),
        ),
        (
            "anthropic",
            json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
            ["a"].as_slice(),
        ),
        (
            "gemini",
            json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}),
            [].as_slice(),
        ),
    ] {
        let mut events = events(name);
        *events.last_mut().unwrap() = last.clone();
        let mut stream = dialect(name).unwrap().stream();
        for event in &events {
            stream.push(event);
        }
        assert_eq!(running(&stream.finish(&plan).unwrap()), expected, "{name}: {last}");
    }
}

#[test]
fn a_block_that_has_not_ended_is_cut_wherever_it_stands() {
    let mut events = events("anthropic");
    // Neither the input nor the end of the first block came.
    events.drain(1..3);
    events.pop();
    let mut stream = dialect("anthropic").unwrap().stream();
    for event in &events {
        stream.push(event);
    }
    assert_eq!(running(&stream.finish(&fixture::plan()).unwrap()), [""; 0]);
}
