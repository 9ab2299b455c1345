//! Calls that need a person: approvals and the questions of tools, in both eras.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{CallContext, Content, Effect, ToolOutcome, Toolset, raw_tool};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::{Oracle, spec};

use super::fixtures;
use super::support::open;
use super::wire::{begin, modern, old};

const FORM: &str = r#"{"elicitation":{"form":{}}}"#;

fn form() -> Value {
    serde_json::from_str(FORM).unwrap()
}

/// One tool that may destroy, so that it is asked about.
async fn door(oracle: &Oracle) -> String {
    let tools = Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap();
    open(Crib::builder().build_fixed(tools), &[], McpServerSettings::default()).await
}

fn wipe(arguments: &Value, state: &Value, answer: &Value) -> Value {
    let mut params = json!({ "name": "wipe", "arguments": arguments });
    if !state.is_null() {
        params["requestState"] = state.clone();
        params["inputResponses"] = json!({ "approval": answer });
    }
    params
}

fn accept() -> Value {
    json!({ "action": "accept", "content": { "approve": true } })
}

/// Asks for a call and gives the state under which it may go on.
async fn asked(url: &str, caller: &str, arguments: &Value) -> Value {
    let params = wipe(arguments, &Value::Null, &Value::Null);
    let answer = modern(url, caller, "tools/call", params, form()).await.answer();
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    let question = &result["inputRequests"]["approval"];
    assert_eq!(question["method"], "elicitation/create");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("`wipe`") && message.contains(&arguments.to_string()), "{message}");
    result["requestState"].clone()
}

#[tokio::test]
async fn a_person_reads_a_long_call_on_one_line_that_hides_its_middle_alone() {
    let url = door(&Oracle::default()).await;
    let text = format!("begin \u{202e}\u{200b}\n{}, then everything", "x".repeat(3_000_000));
    let params = wipe(&json!({ "text": text }), &Value::Null, &Value::Null);
    let answer = modern(&url, "ann", "tools/call", params, form()).await.answer();
    let message = &answer["result"]["inputRequests"]["approval"]["params"]["message"];
    let message = message.as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(message.contains("{\"text\":\"begin \\u202e\\u200b\\nxxx"), "{message}");
    assert!(
        message.contains("xxx, then everything\"}") && message.contains(" more…]"),
        "{message}"
    );
    let is_seen = |c: char| !c.is_control() && !matches!(c, '\u{202e}' | '\u{200b}');
    assert!(message.len() < 2_000 && message.chars().all(is_seen), "{message:?}");
}

#[tokio::test]
async fn a_modern_client_approves_one_call_once() {
    let oracle = Oracle::default();
    let url = door(&oracle).await;
    let arguments = json!({ "n": 1, "more": "x" });
    let state = asked(&url, "ann", &arguments).await;
    assert_eq!(oracle.runs(), []);
    // The same arguments in another order are the same call.
    let again = json!({ "more": "x", "n": 1 });
    let params = wipe(&again, &state, &accept());
    let done = modern(&url, "ann", "tools/call", params.clone(), form()).await.answer();
    assert_eq!(done["result"]["structuredContent"], arguments, "{done}");
    let replayed = modern(&url, "ann", "tools/call", params, form()).await.answer();
    // It is told what came of the one call.
    assert_eq!(replayed["result"], done["result"], "{replayed}");
    assert_eq!(oracle.count("wipe"), 1);
}

#[tokio::test]
async fn no_other_call_caller_or_answer_redeems_an_approval() {
    let oracle = Oracle::default();
    let url = door(&oracle).await;
    let arguments = json!({ "n": 1 });
    let state = asked(&url, "ann", &arguments).await;
    let bent = Value::from(format!("{}x", state.as_str().unwrap()));
    // The ticket of one call under the mark of another, which anybody can reckon out.
    let other = asked(&url, "ann", &json!({ "n": 2 })).await;
    let (ticket, _) = other.as_str().unwrap().split_once('.').unwrap();
    let (_, mark) = state.as_str().unwrap().split_once('.').unwrap();
    let swapped = Value::from(format!("{ticket}.{mark}"));
    let unknown = json!("w_0000");
    for (caller, arguments, state, answer) in [
        ("bob", json!({ "n": 1 }), &state, accept()),
        ("ann", json!({ "n": 2 }), &state, accept()),
        ("ann", json!({ "n": 1 }), &bent, accept()),
        ("ann", json!({ "n": 1 }), &swapped, accept()),
        ("ann", json!({ "n": 1 }), &unknown, accept()),
        ("ann", json!({ "n": 1 }), &state, json!({ "action": "cancel" })),
        ("ann", json!({ "n": 1 }), &state, json!({ "action": "accept" })),
        ("ann", json!({ "n": 1 }), &state, json!("yes")),
    ] {
        let params = wipe(&arguments, state, &answer);
        let reply = modern(&url, caller, "tools/call", params, form()).await.answer();
        let refused = reply.get("error").is_some() || reply["result"]["isError"] == true;
        assert!(refused, "{caller} {arguments} {answer}: {reply}");
        assert_eq!(oracle.runs(), [], "{caller} {arguments} {answer}");
    }
    let params = wipe(&arguments, &state, &json!({ "action": "decline" }));
    let reply = modern(&url, "ann", "tools/call", params, form()).await.answer();
    assert!(reply.to_string().contains("the user refused it"), "{reply}");
    let params = wipe(&arguments, &state, &accept());
    modern(&url, "ann", "tools/call", params, form()).await;
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn of_many_who_redeem_an_approval_at_once_one_runs_it() {
    let oracle = Oracle::default();
    let url = door(&oracle).await;
    let state = asked(&url, "ann", &json!({})).await;
    let redeem = |_| modern(&url, "ann", "tools/call", wipe(&json!({}), &state, &accept()), form());
    let replies = futures_util::future::join_all((0..64).map(redeem)).await;
    // The others are told what came of it.
    let told = replies.iter().filter(|reply| reply.answer()["result"]["isError"] == false).count();
    assert_eq!((told, oracle.count("wipe")), (64, 1));
}

#[tokio::test]
async fn a_call_whose_client_can_ask_nobody_waits_under_a_ticket() {
    let oracle = Oracle::default();
    let url = door(&oracle).await;
    let params = wipe(&json!({}), &Value::Null, &Value::Null);
    let told = modern(&url, "ann", "tools/call", params.clone(), json!({})).await.answer();
    let ticket = told["result"]["_meta"]["toolcrib/ticket"].as_str().unwrap();
    let text = told["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Waiting for approval") && text.contains(ticket), "{told}");
    let session = begin(&url, "ann", "2025-11-25", json!({})).await;
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    let told = old(&url, "ann", Some(&session), call).await.answer();
    assert!(told.to_string().contains("Waiting for approval"), "{told}");
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn a_call_whose_client_does_not_come_back_ends_and_is_gone() {
    let patience = Duration::from_millis(300);
    let settings = McpServerSettings { patience, most_waiting: 4, ..McpServerSettings::default() };
    let crib = Crib::builder().build_fixed(fixtures::tools());
    let url = open(crib, &[], settings).await;
    let name = "test_input_required_result_elicitation";
    let call = json!({ "name": name, "arguments": {} });
    let first = modern(&url, "ann", "tools/call", call.clone(), form()).await.answer();
    let state = first["result"]["requestState"].clone();
    assert!(state.is_string(), "{first}");
    // The tenant has its share of places, so the next one is told that nobody can be asked.
    let second = modern(&url, "ann", "tools/call", call.clone(), form()).await.answer();
    assert_eq!(second["result"]["isError"], true, "{second}");
    tokio::time::sleep(patience * 3).await;
    let mut late = call;
    late["requestState"] = state;
    late["inputResponses"] = json!({ "user_name": { "action": "decline" } });
    let late = modern(&url, "ann", "tools/call", late, form()).await.answer();
    assert_eq!(late["error"]["code"], -32602, "{late}");
}

#[tokio::test]
async fn a_modern_client_that_closes_its_stream_cancels_its_call() {
    let (ends, mut ended) = tokio::sync::mpsc::unbounded_channel();
    let slow = raw_tool(spec("slow", Effect::Read), move |_, context: CallContext| {
        let ends = ends.clone();
        async move {
            let _ = ends.send("begun");
            context.cancelled().await;
            let _ = ends.send("cancelled");
            ToolOutcome::Done(Content::text("never read"))
        }
    });
    let crib = Crib::of(Toolset::of([slow]).unwrap());
    let url = open(crib, &[], McpServerSettings::default()).await;
    let call = json!({ "name": "slow", "arguments": {} });
    let asked = url.clone();
    let client =
        tokio::spawn(async move { modern(&asked, "ann", "tools/call", call, json!({})).await });
    assert_eq!(ended.recv().await, Some("begun"));
    client.abort();
    let waited = tokio::time::timeout(Duration::from_secs(20), ended.recv()).await;
    assert_eq!(waited.unwrap(), Some("cancelled"));
}
