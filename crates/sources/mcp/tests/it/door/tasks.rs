//! Calls that become tasks, at the door of a crib over HTTP.

mod people;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use toolcrib_core::{
    CallContext, Content, Effect, Progress, Tool, ToolError, ToolOutcome, Toolset, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::{McpEra, McpServerSettings};
use toolcrib_testkit::{Oracle, spec};

use super::own_client::in_front_of;
use super::support::open;
use super::wire::{self, modern, old};
use crate::support::{crib, source};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const SOON: Duration = Duration::from_millis(200);

/// A client that takes tasks and has nobody to ask.
fn takes() -> Value {
    json!({ "extensions": { EXTENSION: {} } })
}

/// The same with a person behind it.
fn asks() -> Value {
    json!({ "extensions": { EXTENSION: {} }, "elicitation": { "form": {} } })
}

fn settings() -> McpServerSettings {
    McpServerSettings { task_after: SOON, ..McpServerSettings::default() }
}

async fn call(url: &str, caller: &str, name: &str, can: Value) -> Value {
    let params = json!({ "name": name, "arguments": { "n": 1 } });
    modern(url, caller, "tools/call", params, can).await.answer()
}

/// Calls what becomes a task, and gives its name.
async fn begin(url: &str, caller: &str, name: &str, can: Value) -> String {
    let answer = call(url, caller, name, can).await;
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    answer["result"]["taskId"].as_str().unwrap().to_owned()
}

async fn ask(url: &str, caller: &str, method: &str, id: &str) -> Value {
    modern(url, caller, method, json!({ "taskId": id }), takes()).await.answer()
}

async fn get(url: &str, caller: &str, id: &str) -> Value {
    ask(url, caller, "tasks/get", id).await["result"].clone()
}

/// The task once it has this status.
async fn until(url: &str, id: &str, status: &str) -> Value {
    for _ in 0..400 {
        let task = get(url, "ann", id).await;
        if task["status"] == status {
            return task;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it does not become {status}: {}", get(url, "ann", id).await);
}

async fn update(url: &str, caller: &str, id: &str, answers: Value) -> Value {
    let params = json!({ "taskId": id, "inputResponses": answers });
    modern(url, caller, "tasks/update", params, takes()).await.answer()
}

fn acknowledged() -> Value {
    json!({ "resultType": "complete" })
}

/// A tool that runs until it is let go, and tells when it begins and how it ends.
struct Held {
    tool: Arc<dyn Tool>,
    go: Arc<Semaphore>,
    said: mpsc::UnboundedReceiver<&'static str>,
}

fn held(name: &str) -> Held {
    let (say, said) = mpsc::unbounded_channel();
    let go = Arc::new(Semaphore::new(0));
    let gate = Arc::clone(&go);
    let tool = raw_tool(spec(name, Effect::Read), move |_, context: CallContext| {
        let (say, gate) = (say.clone(), Arc::clone(&gate));
        async move {
            let _ = say.send("begun");
            let (end, outcome) = tokio::select! {
                _ = gate.acquire() => ("ended", ToolOutcome::Done(Content::text("Here."))),
                () = context.cancelled() => {
                    ("cancelled", ToolOutcome::Failed(ToolError::told("Stopped.")))
                }
            };
            let _ = say.send(end);
            outcome
        }
    });
    Held { tool, go, said }
}

async fn heard(held: &mut Held) -> &'static str {
    let said = tokio::time::timeout(Duration::from_secs(20), held.said.recv()).await;
    said.unwrap().unwrap()
}

async fn door_of(held: &Held, settings: McpServerSettings) -> String {
    open(Crib::of(Toolset::of([Arc::clone(&held.tool)]).unwrap()), &["held"], settings).await
}

/// Of a task without what is another each time.
fn plain(mut task: Value) -> Value {
    let fields = task.as_object_mut().unwrap();
    for key in ["taskId", "createdAt", "lastUpdatedAt"] {
        assert!(fields.remove(key).unwrap().is_string(), "{key}");
    }
    assert!(fields.remove("ttlMs").unwrap().as_u64().unwrap() >= 30 * 60 * 1_000);
    task
}

#[tokio::test]
async fn a_call_that_takes_long_becomes_a_task_that_is_asked_for_its_result() {
    let mut held = held("held");
    let url = door_of(&held, settings()).await;
    let answer = call(&url, "ann", "held", takes()).await;
    let id = answer["result"]["taskId"].as_str().unwrap().to_owned();
    let right = json!({ "resultType": "task", "status": "working", "pollIntervalMs": 1_000 });
    assert_eq!(plain(answer["result"].clone()), right);
    assert_eq!(heard(&mut held).await, "begun");
    let working = get(&url, "ann", &id).await;
    assert_eq!(working["taskId"], id.as_str());
    let right = json!({ "resultType": "complete", "status": "working", "pollIntervalMs": 1_000 });
    assert_eq!(plain(working), right);
    held.go.add_permits(1);
    let ended = until(&url, &id, "completed").await;
    let right = json!({
        "resultType": "complete", "status": "completed", "pollIntervalMs": 1_000, "result": {
            "resultType": "complete", "content": [{ "type": "text", "text": "Here." }],
            "isError": false,
        },
    });
    assert_eq!(plain(ended), right);
    // It is told as often as it is asked for, and cancelling it changes nothing.
    assert_eq!(ask(&url, "ann", "tasks/cancel", &id).await["result"], acknowledged());
    assert_eq!(plain(get(&url, "ann", &id).await), right);
}

#[tokio::test]
async fn progress_is_told_of_a_task_that_runs() {
    let go = Arc::new(Semaphore::new(0));
    let gate = Arc::clone(&go);
    let told = raw_tool(spec("told", Effect::Read), move |_, context: CallContext| {
        let gate = Arc::clone(&gate);
        async move {
            let progress = |done, message: Option<&str>| Progress {
                done,
                total: Some(4.0),
                message: message.map(str::to_owned),
            };
            for step in [progress(1.0, Some("On\u{202e} and on.")), progress(3.0, None)] {
                gate.acquire().await.unwrap().forget();
                context.progress(step);
            }
            context.cancelled().await;
            ToolOutcome::Done(Content::default())
        }
    });
    let url = open(Crib::of(Toolset::of([told]).unwrap()), &[], settings()).await;
    let id = begin(&url, "ann", "told", takes()).await;
    go.add_permits(1);
    let mut heard = Vec::new();
    while heard.last() != Some(&json!("3 of 4")) {
        let message = get(&url, "ann", &id).await["statusMessage"].clone();
        if !message.is_null() && heard.last() != Some(&message) {
            heard.push(message);
            go.add_permits(1);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(heard, ["On\\u{202e} and on.", "3 of 4"]);
}

#[tokio::test]
async fn a_quick_call_is_answered_directly_and_a_client_without_tasks_waits() {
    let mut held = held("held");
    let quick = Oracle::default().echo("quick", Effect::Read);
    // Late enough for a busy machine.
    let late = McpServerSettings { task_after: SOON * 10, ..McpServerSettings::default() };
    let url = open(Crib::of(Toolset::of([quick]).unwrap()), &[], late).await;
    let answer = call(&url, "ann", "quick", takes()).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    let url = door_of(&held, settings()).await;
    for can in [json!({}), json!({ "extensions": {} })] {
        let asked = url.clone();
        let waits = tokio::spawn(async move { call(&asked, "ann", "held", can).await });
        assert_eq!(heard(&mut held).await, "begun");
        tokio::time::sleep(SOON * 3).await;
        assert!(!waits.is_finished());
        held.go.add_permits(1);
        let answer = waits.await.unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], "Here.", "{answer}");
        assert_eq!(heard(&mut held).await, "ended");
        held.go.forget_permits(1);
        let params = json!({ "taskId": "any" });
        for method in ["tasks/get", "tasks/cancel"] {
            let answer = modern(&url, "ann", method, params.clone(), json!({})).await.answer();
            assert_eq!(answer["error"]["code"], -32021, "{answer}");
        }
    }
}

#[tokio::test]
async fn a_task_is_there_for_its_caller_and_profile_and_for_nobody_else() {
    let mut held = held("held");
    let url = door_of(&held, settings()).await;
    let id = begin(&url, "ann", "held", asks()).await;
    assert_eq!(heard(&mut held).await, "begun");
    let unknown = ask(&url, "ann", "tasks/get", "3e1c7f1e-0000-4000-8000-000000000000").await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let small = format!("{url}/small");
    for (url, caller) in [(&url, "bob"), (&small, "ann"), (&small, "bob")] {
        for method in ["tasks/get", "tasks/cancel"] {
            assert_eq!(ask(url, caller, method, &id).await, unknown, "{caller} {method} {url}");
        }
        assert_eq!(update(url, caller, &id, json!({})).await, unknown, "{caller} {url}");
    }
    assert_eq!(get(&url, "ann", &id).await["status"], "working");
    held.go.add_permits(1);
    until(&url, &id, "completed").await;
    assert_eq!(heard(&mut held).await, "ended");
}

#[tokio::test]
async fn cancelling_a_task_cancels_its_call() {
    let mut held = held("held");
    let url = door_of(&held, settings()).await;
    let id = begin(&url, "ann", "held", takes()).await;
    assert_eq!(heard(&mut held).await, "begun");
    for _ in 0..2 {
        assert_eq!(ask(&url, "ann", "tasks/cancel", &id).await["result"], acknowledged());
    }
    assert_eq!(heard(&mut held).await, "cancelled");
    let task = until(&url, &id, "cancelled").await;
    let right = json!({
        "resultType": "complete", "status": "cancelled", "statusMessage": "Stopped.",
        "pollIntervalMs": 1_000,
    });
    assert_eq!(plain(task), right);
}

#[tokio::test]
async fn a_cancelled_call_under_a_key_ends_as_well() {
    let mut held = held("held");
    let url = door_of(&held, settings()).await;
    let params = json!({
        "name": "held", "arguments": {}, "_meta": { "toolcrib/idempotencyKey": "once" },
    });
    let answer = modern(&url, "ann", "tools/call", params, takes()).await.answer();
    let id = answer["result"]["taskId"].as_str().unwrap();
    assert_eq!(heard(&mut held).await, "begun");
    ask(&url, "ann", "tasks/cancel", id).await;
    assert_eq!(heard(&mut held).await, "cancelled");
    until(&url, id, "cancelled").await;
}

#[tokio::test]
async fn the_tasks_of_a_door_in_front_of_one_server_are_its_own() {
    let fixtures = Crib::of(Toolset::of(super::long::tools(super::long::LONG)).unwrap());
    let behind = open(fixtures, &[], McpServerSettings::default()).await;
    for era in [McpEra::Legacy, McpEra::Modern] {
        let through = crib(&source(in_front_of(&behind, era))).await;
        assert!(through.sole().is_some(), "{era:?}");
        let task_after = super::long::TASK_AFTER;
        let url =
            open(through, &[], McpServerSettings { task_after, ..McpServerSettings::default() })
                .await;
        let said = modern(&url, "ann", "server/discover", json!({}), json!({})).await.answer();
        let extensions = &said["result"]["capabilities"]["extensions"];
        assert_eq!(extensions, &json!({ EXTENSION: {} }), "{era:?} {said}");
        let params = json!({ "name": "slow_compute", "arguments": { "seconds": 1 } });
        let answer = modern(&url, "ann", "tools/call", params, takes()).await.answer();
        assert_eq!(answer["result"]["resultType"], "task", "{era:?} {answer}");
        let done = until(&url, answer["result"]["taskId"].as_str().unwrap(), "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "Computed.", "{era:?} {done}");
    }
}

#[tokio::test]
async fn a_client_of_an_older_revision_is_offered_no_tasks_and_gets_none() {
    let mut held = held("held");
    let url = door_of(&held, settings()).await;
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": takes(),
            "clientInfo": { "name": "t", "version": "1" },
        },
    });
    let greeting = old(&url, "ann", None, hello).await.answer();
    let offered = &greeting["result"]["capabilities"];
    assert!(offered.is_object() && offered.get("extensions").is_none(), "{greeting}");
    let session = wire::begin(&url, "ann", "2025-11-25", takes()).await;
    let params = json!({ "name": "held", "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let asked = url.clone();
    let waits = tokio::spawn(async move { old(&asked, "ann", Some(&session), call).await });
    assert_eq!(heard(&mut held).await, "begun");
    tokio::time::sleep(SOON * 3).await;
    assert!(!waits.is_finished());
    held.go.add_permits(1);
    let answer = waits.await.unwrap().answer();
    assert_eq!(answer["result"]["content"][0]["text"], "Here.", "{answer}");
}

#[tokio::test]
async fn a_tenant_has_its_share_of_tasks_and_beyond_it_a_request_is_held_open() {
    let mut held = held("held");
    let url = door_of(&held, McpServerSettings { most_tasks: 8, ..settings() }).await;
    let mut tasks = Vec::new();
    for caller in ["ann", "bob"] {
        tasks.push(begin(&url, caller, "held", takes()).await);
        assert_eq!(heard(&mut held).await, "begun");
    }
    let asked = url.clone();
    let waits = tokio::spawn(async move { call(&asked, "ann", "held", takes()).await });
    assert_eq!(heard(&mut held).await, "begun");
    tokio::time::sleep(SOON * 3).await;
    assert!(!waits.is_finished());
    held.go.add_permits(8);
    let answer = waits.await.unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "Here.", "{answer}");
    until(&url, &tasks[0], "completed").await;
}

#[tokio::test]
async fn a_task_that_nobody_asks_about_ends_and_is_gone() {
    let mut held = held("held");
    let task_life = Duration::from_millis(1_500);
    let url = door_of(&held, McpServerSettings { task_life, most_tasks: 4, ..settings() }).await;
    let id = begin(&url, "ann", "held", takes()).await;
    assert_eq!(heard(&mut held).await, "begun");
    // Who asks keeps it.
    let mut last = 0;
    for _ in 0..6 {
        tokio::time::sleep(task_life / 3).await;
        let task = get(&url, "ann", &id).await;
        let ttl = task["ttlMs"].as_u64().unwrap();
        assert!(task["status"] == "working" && ttl > last, "{task}");
        last = ttl;
    }
    assert_eq!(heard(&mut held).await, "cancelled");
    let gone = ask(&url, "ann", "tasks/get", &id).await;
    assert_eq!(gone["error"]["code"], -32602, "{gone}");
    // Its place is free again.
    begin(&url, "ann", "held", takes()).await;
}

#[tokio::test]
async fn a_tool_that_must_be_a_task_refuses_who_takes_none() {
    let oracle = Oracle::default();
    let mut long = spec("long", Effect::Read);
    long.extra.edit(|extra| {
        extra.insert("_meta".to_owned(), json!({ "toolcrib/tasks": "required" })).is_none()
    });
    let tools = Toolset::of([oracle.tool(long, toolcrib_testkit::Behaviour::Echo)]).unwrap();
    let url = open(Crib::of(tools), &["long"], settings()).await;
    let refused = call(&url, "ann", "long", json!({})).await;
    let right = json!({ "extensions": { EXTENSION: {} } });
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], right, "{refused}");
    // Where it is not there, it is not told of.
    let absent = call(&format!("{url}/small"), "ann", "long", json!({})).await;
    assert_eq!(absent["error"]["code"], -32602, "{absent}");
    assert_eq!(oracle.runs(), []);
    let done = call(&url, "ann", "long", takes()).await;
    assert_eq!(done["result"]["structuredContent"], json!({ "n": 1 }), "{done}");
}
