//! A reply cut into pieces gives the calls of the whole reply.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_core::Call;
use toolcrib_dialect::{Dialect, NotAReply, dialect};

use crate::fixture;

/// A call of a streamed reply: a name and the text of its arguments.
fn calls() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = prop::sample::select(vec!["add", "now", "book", "nobody"]);
    let arguments = prop::sample::select(vec![
        "",
        "{}",
        "{\"x\":1,\"y\":2}",
        "{\"room\":\"Zürich 世界\",\"minutes\":null}",
        "{\"a\":{\"b\":[1,2,3]}}",
    ]);
    prop::collection::vec(
        (name.prop_map(ToOwned::to_owned), arguments.prop_map(ToOwned::to_owned)),
        0..5,
    )
}

/// Cuts a text at characters that the seed picks.
fn pieces(text: &str, mut seed: u64) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in text.chars() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if seed >> 62 == 0 {
            pieces.push(String::new());
        }
        pieces.last_mut().unwrap().push(c);
    }
    pieces
}

fn streamed(dialect: &dyn Dialect, chunks: &[Value]) -> Vec<Call> {
    let mut stream = dialect.stream();
    for chunk in chunks {
        stream.push(chunk);
    }
    stream.finish(&fixture::plan()).unwrap()
}

fn whole(dialect: &dyn Dialect, reply: &Value) -> Vec<Call> {
    dialect.calls(&fixture::plan(), reply).unwrap()
}

/// How a server of the chat API numbers its pieces.
#[derive(Debug, Clone, Copy)]
enum Numbering {
    Index,
    /// No index; the id begins a call.
    IdOnce,
    /// Every piece has the id, and the index is always 0.
    IdAlways,
}

fn chat_chunks(calls: &[(String, String)], seed: u64, numbering: Numbering) -> Vec<Value> {
    let mut chunks =
        vec![json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": null}}]})];
    for (place, (name, arguments)) in calls.iter().enumerate() {
        for (piece, text) in pieces(arguments, seed + place as u64).into_iter().enumerate() {
            let mut delta = json!({"function": {"arguments": text}});
            if piece == 0 || matches!(numbering, Numbering::IdAlways) {
                delta["id"] = format!("c{place}").into();
                delta["type"] = "function".into();
            }
            if piece == 0 {
                delta["function"]["name"] = name.as_str().into();
            }
            match numbering {
                Numbering::Index => delta["index"] = place.into(),
                Numbering::IdOnce => {}
                Numbering::IdAlways => delta["index"] = 0.into(),
            }
            chunks.push(json!({"choices": [{"delta": {"tool_calls": [delta]}}]}));
        }
    }
    chunks.push(json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}));
    chunks.push(json!({"choices": [], "usage": {}}));
    chunks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn chat_deltas_are_the_whole_message(calls in calls(), seed: u64) {
        let dialect = dialect("openai-chat").unwrap();
        let items: Vec<_> = calls.iter().enumerate().map(|(place, (name, arguments))| {
            json!({"id": format!("c{place}"), "type": "function", "function": {"name": name, "arguments": arguments}})
        }).collect();
        let expected = whole(dialect.as_ref(), &json!({"role": "assistant", "tool_calls": items}));
        for numbering in [Numbering::Index, Numbering::IdOnce, Numbering::IdAlways] {
            let chunks = chat_chunks(&calls, seed >> 8, numbering);
            prop_assert_eq!(&streamed(dialect.as_ref(), &chunks), &expected, "{:?}", numbering);
        }
    }

    #[test]
    fn responses_events_are_the_whole_response(calls in calls(), seed: u64, with_end: bool) {
        let dialect = dialect("openai-responses").unwrap();
        let item = |place: usize, name: &str, arguments: &str| json!({
            "type": "function_call", "id": format!("fc{place}"), "call_id": format!("c{place}"),
            "name": name, "arguments": arguments,
        });
        let mut events = vec![json!({"type": "response.created", "response": {"output": []}})];
        let mut output = Vec::new();
        for (place, (name, arguments)) in calls.iter().enumerate() {
            events.push(json!({"type": "response.output_item.added", "output_index": place, "item": item(place, name, "")}));
            for text in pieces(arguments, (seed >> 8) + place as u64) {
                events.push(json!({"type": "response.function_call_arguments.delta",
                    "output_index": place, "item_id": format!("fc{place}"), "delta": text}));
            }
            output.push(item(place, name, arguments));
            if with_end {
                events.push(json!({"type": "response.output_item.done", "output_index": place, "item": output[place]}));
            }
        }
        let last = if with_end { output.clone() } else { Vec::new() };
        events.push(json!({"type": "response.completed", "response": {"status": "completed", "output": last}}));
        let expected = whole(dialect.as_ref(), &json!({"output": output}));
        prop_assert_eq!(streamed(dialect.as_ref(), &events), expected);
    }

    #[test]
    fn anthropic_events_are_the_whole_message(calls in calls(), seed: u64) {
        let dialect = dialect("anthropic").unwrap();
        let mut events = vec![
            json!({"type": "message_start", "message": {"role": "assistant", "content": []}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hm"}}),
        ];
        let mut content = vec![json!({"type": "text", "text": "Hm"})];
        for (place, (name, arguments)) in calls.iter().enumerate() {
            let block = |input: Value| json!({"type": "tool_use", "id": format!("c{place}"), "name": name, "input": input});
            events.push(json!({"type": "content_block_start", "index": place + 1, "content_block": block(json!({}))}));
            for text in pieces(arguments, (seed >> 8) + place as u64) {
                events.push(json!({"type": "content_block_delta", "index": place + 1,
                    "delta": {"type": "input_json_delta", "partial_json": text}}));
            }
            events.push(json!({"type": "content_block_stop", "index": place + 1}));
            content.push(block(serde_json::from_str(arguments).unwrap_or_else(|_| json!({}))));
        }
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
        events.push(json!({"type": "message_stop"}));
        let reply = json!({"role": "assistant", "content": content, "stop_reason": "tool_use"});
        let mut stream = dialect.stream();
        for event in &events {
            stream.push(event);
        }
        prop_assert_eq!(stream.reply(), reply.clone());
        prop_assert_eq!(stream.finish(&fixture::plan()).unwrap(), whole(dialect.as_ref(), &reply));
    }

    #[test]
    fn gemini_chunks_are_the_whole_content(calls in calls(), cuts in prop::collection::vec(any::<bool>(), 8)) {
        let dialect = dialect("gemini").unwrap();
        let mut parts = vec![json!({"text": "Hm"})];
        parts.extend(calls.iter().map(|(name, arguments)| json!({
            "functionCall": {"name": name, "args": serde_json::from_str::<Value>(arguments).unwrap_or_else(|_| json!({}))},
            "thoughtSignature": "s",
        })));
        let mut chunks: Vec<Vec<Value>> = vec![Vec::new()];
        for (part, cut) in parts.iter().zip(cuts) {
            if cut {
                chunks.push(Vec::new());
            }
            chunks.last_mut().unwrap().push(part.clone());
        }
        let chunk = |parts: Vec<Value>| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
        let mut chunks: Vec<_> = chunks.into_iter().map(chunk).collect();
        chunks.push(json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {}}));
        let expected = whole(dialect.as_ref(), &json!({"parts": parts}));
        prop_assert_eq!(streamed(dialect.as_ref(), &chunks), expected);
    }
}

#[test]
fn calls_without_ids_and_indexes_are_kept_apart_by_their_names() {
    let dialect = dialect("openai-chat").unwrap();
    let call = |name: &str, arguments: &str| json!({"choices": [{"delta": {"tool_calls": [{"function": {"name": name, "arguments": arguments}}]}}]});
    let chunks = [
        call("add", "{\"x\":1}"),
        call("now", "{}"),
        call("now", "{}"),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
    ];
    let found = streamed(dialect.as_ref(), &chunks);
    let said: Vec<_> = found.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
    assert_eq!(said, [("call_1", "add"), ("call_2", "now"), ("call_3", "now")]);
}

#[test]
fn a_stream_that_breaks_off_runs_no_half_call() {
    let plan = fixture::plan();
    let streams = [
        (
            "openai-chat",
            vec![
                json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "archive_files", "arguments": "{\"path\":\"/sr"}}]}}]}),
            ],
        ),
        (
            "openai-responses",
            vec![
                json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call", "call_id": "a", "name": "archive_files", "arguments": ""}}),
                json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"path\":\"/sr"}),
            ],
        ),
        (
            "anthropic",
            vec![
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "archive_files", "input": {}}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"partial_json": "{\"path\":\"/sr"}}),
            ],
        ),
    ];
    for (name, chunks) in streams {
        let mut stream = dialect(name).unwrap().stream();
        for chunk in chunks {
            stream.push(&chunk);
        }
        let calls = stream.finish(&plan).unwrap();
        assert_eq!((calls.len(), calls[0].id.as_str()), (1, "a"), "{name}");
        assert!(calls[0].fault.is_some(), "{name}: {calls:?}");
    }
}

#[test]
fn what_only_some_servers_send_is_kept_for_the_echo() {
    let mut stream = dialect("openai-chat").unwrap().stream();
    for text in ["Let ", "me see."] {
        stream.push(&json!({"choices": [{"delta": {"reasoning_content": text, "content": null}}]}));
    }
    stream.push(&json!({"choices": [{"delta": {"content": "Hm"}, "finish_reason": "stop"}]}));
    let message = json!({"role": "assistant", "content": "Hm", "reasoning_content": "Let me see."});
    assert_eq!(dialect("openai-chat").unwrap().echo(&stream.reply()), [message]);
}

/// What each API says when it fails in the midst of a stream.
fn failures() -> Vec<(&'static str, Value, Vec<Value>)> {
    let error = json!({ "type": "overloaded_error", "code": 503, "message": "Overloaded" });
    let bare = json!({ "error": error });
    let call = |arguments: &str| json!({ "index": 0, "id": "a", "function": { "name": "now", "arguments": arguments } });
    let item = json!({ "type": "function_call", "call_id": "a", "name": "now", "arguments": "{}" });
    let part = json!({ "functionCall": { "name": "now", "args": {} } });
    let begun = json!({
        "type": "content_block_start", "index": 0,
        "content_block": { "type": "tool_use", "id": "a", "name": "now", "input": {} },
    });
    let typed = json!({ "type": "error", "error": error });
    let failed = |output: Value| {
        let response = json!({ "status": "failed", "error": error, "output": output });
        json!({ "type": "response.failed", "response": response })
    };
    let last = json!({ "choices": [{ "delta": {}, "finish_reason": "error" }], "error": error });
    let flat = json!({
        "type": "error", "code": "server_error", "message": "Overloaded", "param": null,
        "sequence_number": 7,
    });
    let done = json!({ "type": "response.output_item.done", "output_index": 0, "item": item });
    vec![
        (
            "openai-chat",
            json!({ "choices": [{ "delta": { "tool_calls": [call("{}")] } }] }),
            vec![bare.clone(), last, json!({ "error": "Overloaded" })],
        ),
        (
            "openai-responses",
            done,
            vec![flat, typed.clone(), failed(json!([])), failed(json!([item])), bare.clone()],
        ),
        ("anthropic", begun, vec![typed]),
        (
            "gemini",
            json!({ "candidates": [{ "content": { "role": "model", "parts": [part] } }] }),
            vec![bare],
        ),
    ]
}

#[test]
fn a_stream_that_ends_with_an_error_tells_it_and_calls_nothing() {
    let plan = fixture::plan();
    for (name, call, errors) in failures() {
        let dialect = dialect(name).unwrap();
        let mut stream = dialect.stream();
        stream.push(&call);
        assert_eq!(stream.not_a_reply(), None, "{name}");
        assert_eq!(stream.finish(&plan).unwrap().len(), 1, "{name}");
        for error in errors {
            for has_begun in [true, false] {
                let mut stream = dialect.stream();
                if has_begun {
                    stream.push(&call);
                }
                stream.push(&error);
                // Whatever comes behind it.
                stream.push(&call);
                stream.push(&json!({ "error": { "message": "another" } }));
                let told = NotAReply::ApiError { message: "Overloaded".to_owned() };
                assert_eq!(stream.not_a_reply().as_ref(), Some(&told), "{name}: {error}");
                let reply = stream.reply();
                assert_eq!(dialect.not_a_reply(&reply), Some(told.clone()), "{name}: {reply}");
                assert_eq!(stream.finish(&plan), Err(told), "{name}: {error}");
                assert_eq!(dialect.echo(&reply), [] as [Value; 0], "{name}: {reply}");
            }
        }
    }
}

#[test]
fn a_stream_whose_prompt_was_blocked_says_why() {
    let mut stream = dialect("gemini").unwrap().stream();
    stream.push(&json!({ "promptFeedback": { "blockReason": "SAFETY" } }));
    let told = NotAReply::Blocked { reason: "SAFETY".to_owned() };
    assert_eq!(stream.not_a_reply(), Some(told.clone()));
    assert_eq!(stream.finish(&fixture::plan()), Err(told));
}
