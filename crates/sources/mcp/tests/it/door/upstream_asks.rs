//! What a server behind the door asks reaches the person in front of it, between all eras.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, BoxFuture, CallKey, Host, HostQuestion, LogEntry, Progress, QuestionError,
    QuestionKind,
};
use toolcrib_mcp::{McpEra, McpServerSettings};

use super::cribs::FixtureCribs;
use super::own_client::in_front_of;
use super::pipes::Pipe;
use super::support::open;
use super::wire::modern;
use crate::support::{crib, run_with, settings, source};

/// Says yes to every form, and writes down what it hears.
#[derive(Default)]
struct Person(Mutex<Vec<Value>>);

impl Host for Person {
    fn progress(&self, _: CallKey, progress: Progress) {
        self.0.lock().unwrap().push(json!(progress.done));
    }

    fn log(&self, _: CallKey, entry: LogEntry) {
        self.0.lock().unwrap().push(entry.data);
    }

    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Form]
    }

    fn ask(&self, _: CallKey, ask: HostQuestion) -> BoxFuture<'_, Result<Value, QuestionError>> {
        self.0.lock().unwrap().push(ask.params["message"].clone());
        let yes = json!({ "action": "accept", "content": { "yes": true } });
        Box::pin(std::future::ready(Ok(yes)))
    }
}

#[tokio::test]
async fn a_question_goes_through_the_door_and_its_answer_comes_back() {
    for (upstream, tool) in [("legacy", "ask"), ("modern", "ask_modern")] {
        let inner = crib(&source(settings(&[upstream]))).await;
        let url = open(inner, &[], McpServerSettings::default()).await;
        for era in [McpEra::Legacy, McpEra::Modern] {
            let outer = crib(&source(in_front_of(&url, era))).await;
            let person = Arc::new(Person::default());
            let host = Some(Arc::clone(&person) as Arc<dyn Host>);
            let options = BatchOptions { host, ..BatchOptions::default() };
            let answer = run_with(&outer, tool, json!({}), options).await.text();
            let cell = format!("{upstream} behind, {era:?} in front");
            assert!(
                answer.contains(r#"{"action":"accept","content":{"yes":true}}"#),
                "{cell}: {answer}"
            );
            assert_eq!(*person.0.lock().unwrap(), [json!("Sure?")], "{cell}");
        }
    }
}

#[tokio::test]
async fn progress_goes_through_the_door_in_order() {
    for upstream in ["legacy", "modern"] {
        let inner = crib(&source(settings(&[upstream]))).await;
        let url = open(inner, &[], McpServerSettings::default()).await;
        for era in [McpEra::Legacy, McpEra::Modern] {
            let outer = crib(&source(in_front_of(&url, era))).await;
            let person = Arc::new(Person::default());
            let host = Some(Arc::clone(&person) as Arc<dyn Host>);
            let options = BatchOptions { host, ..BatchOptions::default() };
            run_with(&outer, "progress", json!({ "pause": 5 }), options).await;
            let heard = person.0.lock().unwrap().clone();
            assert_eq!(heard, [1.0, 2.0, 3.0].map(Value::from), "{upstream} {era:?}");
        }
    }
}

#[tokio::test]
async fn what_a_server_says_besides_its_questions_reaches_a_client_of_its_revision() {
    let url =
        open(crib(&source(settings(&["modern"]))).await, &[], McpServerSettings::default()).await;
    let can = json!({ "elicitation": { "form": {} } });
    let beside = json!({ "_meta": { "com.example/q": 1 }, "x-new": [2] });
    let around = json!({ "_meta": { "com.example/r": { "a": 1 } }, "x-new": "top", "ttlMs": 7 });
    let question = json!({ "message": "Sure?", "_meta": { "com.example/p": true }, "x-odd": 3 });
    let arguments = json!({ "beside": beside, "around": around, "question": question });
    let mut params = json!({ "name": "ask_modern", "arguments": arguments });
    let asked = modern(&url, "ann", "tools/call", params.clone(), can.clone()).await.answer();
    let mut result = asked["result"].clone();
    // It is ours: theirs stays here.
    let state = result["requestState"].take();
    let mut sure = json!({ "method": "elicitation/create", "params": question });
    sure.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
    let mut whole = around;
    whole["resultType"] = json!("input_required");
    whole["inputRequests"] = json!({ "sure": sure });
    whole["requestState"] = Value::Null;
    assert_eq!(result, whole, "{asked}");
    params["requestState"] = state;
    params["inputResponses"] = json!({ "sure": { "action": "accept", "x-new": 4 } });
    let done = modern(&url, "ann", "tools/call", params, can).await.answer();
    let told = done["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert!(told.contains(r#"{"sure":{"action":"accept","x-new":4}}"#), "{done}");
}

#[tokio::test]
async fn an_older_client_hears_that_what_it_was_to_open_is_done() {
    let cribs = FixtureCribs::of(crib(&source(settings(&["legacy"]))).await);
    let mut pipe = Pipe::at(cribs, McpServerSettings::default());
    pipe.say(json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": { "elicitation": { "url": {} } },
            "clientInfo": { "name": "t", "version": "1" },
        },
    }))
    .await;
    assert_eq!(pipe.hear().await["result"]["protocolVersion"], "2025-11-25");
    pipe.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    let question = json!({
        "mode": "url", "elicitationId": "e1", "url": "https://a.example/", "message": "Sign in",
    });
    let params = json!({ "name": "ask", "arguments": { "question": question } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    pipe.say(call).await;
    let asked = pipe.hear().await;
    assert_eq!(asked["params"]["elicitationId"], "e1", "{asked}");
    let answer = json!({ "action": "accept" });
    pipe.say(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer })).await;
    let told = json!({
        "jsonrpc": "2.0", "method": "notifications/elicitation/complete",
        "params": { "elicitationId": "e1", "x-new": 1 },
    });
    assert_eq!(pipe.hear().await, told);
    assert_eq!(pipe.hear().await["result"]["content"][0]["text"], answer.to_string());
    pipe.hang_up().await;
}
