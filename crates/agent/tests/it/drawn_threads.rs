//! Whatever a thread has, what is left of it after its oldest part was summed up is a thread.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_agent::model::ModelApi;
use toolcrib_agent::{
    AgentRun, Budget, CallText, Echo, ResultText, RunOrder, StopReason, ThreadItem,
};
use toolcrib_testkit::{Oracle, ScriptedModel, ScriptedTurn};

use crate::compaction::{ROOM, ended, is_summary, narrow};
use crate::fixture::{agent, crib, go, order};
use crate::thread_rules::faults;

/// A turn of a thread as a test draws it.
#[derive(Debug, Clone)]
enum Drawn {
    System(usize),
    User(usize),
    /// Letters of its words, whether it thinks, and letters of the result of each of its calls.
    Turn(usize, bool, Vec<usize>),
}

fn drawn() -> impl Strategy<Value = Drawn> {
    prop_oneof![
        1 => (1..200_usize).prop_map(Drawn::System),
        3 => (1..1_500_usize).prop_map(Drawn::User),
        6 => (0..800_usize, any::<bool>(), prop::collection::vec(1..6_000_usize, 0..4))
            .prop_map(|(said, thinks, results)| Drawn::Turn(said, thinks, results)),
    ]
}

fn thread(api: ModelApi, drawn: &[Drawn]) -> Vec<ThreadItem> {
    let mut items = Vec::new();
    for (number, drawn) in drawn.iter().enumerate() {
        match drawn {
            Drawn::System(length) => items.push(ThreadItem::System { text: "s".repeat(*length) }),
            Drawn::User(length) => {
                items.push(ThreadItem::user(format!("ask-{number} {}.", "u".repeat(*length))));
            }
            Drawn::Turn(said, thinks, results) => {
                items.extend(turn(api, number, (*said, *thinks), results));
            }
        }
    }
    items
}

fn turn(
    api: ModelApi,
    number: usize,
    (said, thinks): (usize, bool),
    results: &[usize],
) -> Vec<ThreadItem> {
    let text = "w".repeat(said.max(usize::from(results.is_empty())));
    let ids: Vec<_> = (0..results.len()).map(|call| format!("call_{number}_{call}")).collect();
    let calls: Vec<_> = ids
        .iter()
        .map(|id| CallText { id: id.clone(), name: "look".into(), arguments: "{}".into() })
        .collect();
    let messages = echo(api, number, &text, thinks, &ids);
    let echo = Some(Echo { dialect: api.dialect().name().to_owned(), messages });
    let mut items = vec![ThreadItem::Assistant { text, calls, echo }];
    if !results.is_empty() {
        let results = ids.iter().zip(results).map(|(id, length)| ResultText {
            call_id: id.clone(),
            name: "look".into(),
            text: "r".repeat(*length),
            is_error: false,
        });
        items.push(ThreadItem::Results { results: results.collect(), echo: None });
    }
    items
}

fn put(message: &mut Value, key: &str, value: Value) {
    if let Value::Object(fields) = message {
        fields.insert(key.to_owned(), value);
    }
}

/// A turn as its API gives it, with a thought that belongs to what follows.
fn echo(api: ModelApi, number: usize, text: &str, thinks: bool, ids: &[String]) -> Vec<Value> {
    match api {
        ModelApi::OpenAiChat => {
            let calls: Vec<_> = ids
                .iter()
                .map(|id| {
                    json!({ "id": id, "type": "function",
                        "function": { "name": "look", "arguments": "{}" } })
                })
                .collect();
            let mut message = json!({ "role": "assistant", "content": text });
            if !calls.is_empty() {
                put(&mut message, "tool_calls", calls.into());
            }
            if thinks {
                put(&mut message, "reasoning_content", "t".into());
            }
            vec![message]
        }
        ModelApi::OpenAiResponses => {
            let thought = json!({
                "type": "reasoning", "id": format!("rs_{number}"), "summary": [],
                "encrypted_content": "sealed",
            });
            let said = json!({
                "type": "message", "role": "assistant", "id": format!("msg_{number}"),
                "status": "completed",
                "content": [{ "type": "output_text", "text": text, "annotations": [] }],
            });
            let calls = ids.iter().map(|id| {
                json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
                    "name": "look", "arguments": "{}" })
            });
            let said = (!text.is_empty()).then_some(said);
            thinks.then_some(thought).into_iter().chain(said).chain(calls).collect()
        }
        ModelApi::Anthropic => {
            let thought = json!({ "type": "thinking", "thinking": "t", "signature": "sealed" });
            let said = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
            let calls = ids
                .iter()
                .map(|id| json!({ "type": "tool_use", "id": id, "name": "look", "input": {} }));
            let blocks = thinks.then_some(thought).into_iter().chain(said).chain(calls);
            vec![json!({ "role": "assistant", "content": blocks.collect::<Vec<_>>() })]
        }
        ModelApi::Gemini => {
            let said = (!text.is_empty()).then(|| json!({ "text": text }));
            let calls = ids.iter().enumerate().map(|(place, _)| {
                let mut part = json!({ "functionCall": { "name": "look", "args": {} } });
                if thinks && place == 0 {
                    put(&mut part, "thoughtSignature", "sealed".into());
                }
                part
            });
            let parts: Vec<_> = said.into_iter().chain(calls).collect();
            vec![json!({ "role": "model", "parts": parts })]
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Compaction that parts calls and results makes a thread unusable for ever.
    #[test]
    fn whatever_a_thread_has_every_api_takes_what_is_left_of_it(
        mut drawn in prop::collection::vec(drawn(), 1..24),
        asks in any::<bool>(),
    ) {
        if asks || !drawn.iter().any(|one| matches!(one, Drawn::User(_))) {
            drawn.push(Drawn::User(40));
        }
        for (name, api) in ModelApi::WORDS {
            let model = ScriptedModel::by(|_, body| {
                ScriptedTurn::says(if is_summary(body) { "It was long." } else { "done" })
            })
            .unwrap();
            let agent = agent(narrow(&model, api), crib(&Oracle::default()), Budget::default());
            let thread = thread(api, &drawn);
            let asked = thread.iter().rev().find_map(|item| {
                let told = json!(item);
                (told["kind"] == "user").then(|| told["parts"][0]["text"].as_str().unwrap().to_owned())
            });
            let mut run = AgentRun::new(RunOrder { thread, ..order(&agent, "") });
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let (pause, _) = runtime.block_on(go(&mut run));
            prop_assert_eq!(ended(pause).stop, StopReason::Done, "{}", name);
            for body in model.asked().into_iter().map(|asked| asked.body) {
                let text = body.to_string();
                prop_assert!(text.len() <= ROOM, "{}: {} bytes", name, text.len());
                if !is_summary(&body) {
                    prop_assert_eq!(faults(api, &body), Vec::<String>::new(), "{}: {}", name, body);
                    prop_assert!(text.contains(asked.as_deref().unwrap()), "{}: {}", name, body);
                }
            }
        }
    }
}
