//! Tasks that wait for a person: for an approval, or for an answer to a question of their tool.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, CallContext, Caller, Content, CribLimits, Decision, Effect, Redemption, Run,
    ToolOutcome, Toolset, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::{Oracle, spec};

use super::{SOON, acknowledged, ask, asks, begin, call, get, settings, takes, until, update};
use crate::door::cribs::FixtureCribs;
use crate::door::fixtures::form;
use crate::door::long;
use crate::door::support::{open, open_home};
use crate::door::wire::modern;

/// A crib with one tool that may destroy, so that it is asked about.
fn wiping(oracle: &Oracle) -> Crib {
    Crib::builder().build_fixed(Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap())
}

fn accept() -> Value {
    json!({ "approval": { "action": "accept", "content": { "approve": true } } })
}

#[tokio::test]
async fn an_approval_is_asked_for_and_given_within_a_task() {
    let oracle = Oracle::default();
    let url = open(wiping(&oracle), &[], settings()).await;
    let id = begin(&url, "ann", "wipe", asks()).await;
    let task = until(&url, &id, "input_required").await;
    let question = &task["inputRequests"]["approval"];
    assert_eq!(question["method"], "elicitation/create", "{task}");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("`wipe`") && message.contains(r#"{"n":1}"#), "{message}");
    // Of others' questions, and of others' answers, nothing is taken.
    assert_eq!(update(&url, "bob", &id, accept()).await["error"]["code"], -32602);
    let nothing = json!({ "other": accept()["approval"] });
    assert_eq!(update(&url, "ann", &id, nothing).await["result"], acknowledged());
    assert_eq!(get(&url, "ann", &id).await["status"], "input_required");
    assert_eq!(oracle.runs(), []);
    assert_eq!(update(&url, "ann", &id, accept()).await["result"], acknowledged());
    let done = until(&url, &id, "completed").await;
    assert_eq!(done["result"]["structuredContent"], json!({ "n": 1 }), "{done}");
    update(&url, "ann", &id, accept()).await;
    assert_eq!(get(&url, "ann", &id).await["status"], "completed");
    assert_eq!(oracle.count("wipe"), 1);
}

#[tokio::test]
async fn a_refusal_and_a_question_put_away_end_a_task_without_a_run() {
    let oracle = Oracle::default();
    let crib = wiping(&oracle);
    let url = open(crib.clone(), &[], settings()).await;
    for (answer, told, open) in [
        (json!({ "action": "decline" }), "the user refused it", 0),
        (json!({ "action": "cancel" }), "Nobody decided", 1),
    ] {
        let id = begin(&url, "ann", "wipe", asks()).await;
        until(&url, &id, "input_required").await;
        update(&url, "ann", &id, json!({ "approval": answer })).await;
        let done = until(&url, &id, "completed").await;
        assert_eq!(done["result"]["isError"], true, "{done}");
        assert!(done.to_string().contains(told), "{done}");
        assert_eq!(crib.tickets(&Caller::new("house", "ann")).await.unwrap().len(), open);
    }
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn a_task_that_is_cancelled_while_a_person_thinks_cannot_be_approved_any_more() {
    let oracle = Oracle::default();
    let crib = wiping(&oracle);
    let url = open(crib.clone(), &[], settings()).await;
    let ann = Caller::new("house", "ann");
    let id = begin(&url, "ann", "wipe", asks()).await;
    until(&url, &id, "input_required").await;
    assert_eq!(crib.tickets(&ann).await.unwrap().len(), 1);
    ask(&url, "ann", "tasks/cancel", &id).await;
    until(&url, &id, "cancelled").await;
    assert_eq!(crib.tickets(&ann).await.unwrap(), []);
    update(&url, "ann", &id, accept()).await;
    assert_eq!(
        (oracle.runs(), get(&url, "ann", &id).await["status"].clone()),
        (vec![], json!("cancelled"))
    );
}

#[tokio::test]
async fn a_task_hears_of_an_approval_that_was_given_elsewhere() {
    let oracle = Oracle::default();
    let crib = wiping(&oracle);
    let cribs = FixtureCribs::of(crib.clone());
    let url = open_home(cribs, settings()).await;
    let ann = Caller::new("house", "ann");
    for can in [takes(), asks()] {
        let id = begin(&url, "ann", "wipe", can.clone()).await;
        let status = if can == asks() { "input_required" } else { "working" };
        until(&url, &id, status).await;
        let parked = crib.tickets(&ann).await.unwrap().pop().unwrap();
        let mut task = get(&url, "ann", &id).await;
        while task["statusMessage"].is_null() {
            task = get(&url, "ann", &id).await;
        }
        let message = task["statusMessage"].as_str().unwrap();
        assert!(message.starts_with("Waiting for approval: "), "{message}");
        assert!(message.contains(parked.ticket.as_str()), "{message}");
        assert_eq!(task["status"], status);
        let (ticket, run) = (&parked.ticket, &Run::default());
        let (decision, options) = (Decision::Approve, BatchOptions::default());
        let redemption = Redemption { caller: &ann, ticket, decision, run, options };
        crib.redeem(redemption).await.unwrap();
        let done = until(&url, &id, "completed").await;
        assert_eq!(done["result"]["structuredContent"], json!({ "n": 1 }), "{done}");
    }
    assert_eq!(oracle.count("wipe"), 2);
}

#[tokio::test]
async fn a_task_whose_ticket_has_expired_says_so() {
    let oracle = Oracle::default();
    let tools = Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap();
    let limits = CribLimits { ticket_lifetime: Duration::from_secs(4), ..CribLimits::default() };
    let url = open(Crib::builder().limits(limits).build_fixed(tools), &[], settings()).await;
    let id = begin(&url, "ann", "wipe", asks()).await;
    until(&url, &id, "input_required").await;
    let done = until(&url, &id, "completed").await;
    assert_eq!(done["result"]["isError"], true, "{done}");
    assert!(done.to_string().contains("the ticket has expired"), "{done}");
    update(&url, "ann", &id, accept()).await;
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn a_running_task_asks_and_no_key_of_a_question_comes_twice() {
    let asking = raw_tool(spec("asking", Effect::Read), |_, context: CallContext| async move {
        tokio::time::sleep(SOON * 3).await;
        let mut answers = Vec::new();
        for _ in 0..3 {
            let name = form("Your name?", &json!({ "name": { "type": "string" } }));
            answers.push(context.ask(name).await.unwrap());
        }
        ToolOutcome::Done(Content::text(json!(answers).to_string()))
    });
    let url = open(Crib::of(Toolset::of([asking]).unwrap()), &[], settings()).await;
    let id = begin(&url, "ann", "asking", asks()).await;
    let mut keys = Vec::new();
    for n in 0..3 {
        let task = until(&url, &id, "input_required").await;
        let open: Vec<_> = task["inputRequests"].as_object().unwrap().keys().cloned().collect();
        let [key] = <[String; 1]>::try_from(open).unwrap();
        let mut answers = json!({ &key: n });
        // Answers of before are no answers of now.
        for before in &keys {
            answers[before] = json!("again");
        }
        update(&url, "ann", &id, answers).await;
        keys.push(key);
        while get(&url, "ann", &id).await["inputRequests"].get(&keys[n]).is_some() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let done = until(&url, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "[0,1,2]", "{done}");
    assert!(keys[0] == "name" && keys[1] != keys[2] && !keys[1..].contains(&keys[0]), "{keys:?}");
}

#[tokio::test]
async fn a_question_before_the_task_is_put_by_the_call_itself() {
    let crib = Crib::of(Toolset::of(long::tools(long::LONG)).unwrap());
    let task_after = long::TASK_AFTER;
    let url =
        open(crib, &[], McpServerSettings { task_after, ..McpServerSettings::default() }).await;
    let mut params = json!({ "name": "test_tool_with_task", "arguments": {} });
    let first = modern(&url, "ann", "tools/call", params.clone(), asks()).await.answer();
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    params["requestState"] = first["result"]["requestState"].clone();
    let user = json!({ "action": "accept", "content": { "user_name": "Ann" } });
    params["inputResponses"] = json!({ "user_name": user });
    let second = modern(&url, "ann", "tools/call", params, asks()).await.answer();
    assert_eq!(second["result"]["resultType"], "task", "{second}");
    let id = second["result"]["taskId"].as_str().unwrap();
    let done = until(&url, id, "completed").await;
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("Ann"), "{done}");
}

#[tokio::test]
async fn an_approval_without_a_place_for_a_task_is_put_by_the_call_itself() {
    let oracle = Oracle::default();
    let url = open(wiping(&oracle), &[], McpServerSettings { most_tasks: 0, ..settings() }).await;
    let answer = call(&url, "ann", "wipe", asks()).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
}
