//! A lazy list, and calls that come through the tool that passes them on: nobody can tell by the
//! answer.

use serde_json::{Value, json};
use toolcrib_core::{Discovery, Effect, Toolset, Verdict};
use toolcrib_engine::Crib;
use toolcrib_engine::discovery::DiscoverySettings;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::{FixedPolicy, Oracle};

use super::fixtures;
use super::plain::seen;
use super::support::open;
use super::wire::modern;

fn lazy() -> DiscoverySettings {
    DiscoverySettings { mode: Discovery::Lazy, ..DiscoverySettings::default() }
}

fn crib(oracle: &Oracle, discovery: DiscoverySettings) -> (Crib, Vec<String>) {
    let mut tools = fixtures::all();
    tools.push(oracle.echo("asked_about", Effect::Write));
    tools.push(oracle.echo("secret", Effect::Read));
    let names = tools.iter().map(|tool| tool.spec().name.to_string()).collect();
    let policy = FixedPolicy::default()
        .with("secret", Verdict::Deny("no".to_owned()))
        .with("asked_about", Verdict::Ask("it writes".to_owned()));
    let tools = Toolset::of(tools).unwrap();
    (Crib::builder().policy(policy).discovery(discovery).build_fixed(tools), names)
}

#[tokio::test]
async fn a_relayed_call_is_answered_as_a_direct_one() {
    let oracle = Oracle::default();
    let ((direct, names), (relaying, _)) =
        (crib(&oracle, DiscoverySettings::default()), crib(&oracle, lazy()));
    let direct = open(direct, &[], McpServerSettings::default()).await;
    let relaying = open(relaying, &[], McpServerSettings::default()).await;
    let mut compared = 0;
    for name in names.iter().filter(|name| *name != "secret") {
        for can in [json!({}), json!({ "elicitation": { "form": {} }, "sampling": {} })] {
            for arguments in [json!({}), json!({ "n": 1, "a": 2, "b": 3 })] {
                let plain = json!({ "name": name, "arguments": arguments });
                let through = json!({ "name": name, "parameters": arguments });
                let through = json!({ "name": "invoke_tool", "arguments": through });
                let plain = modern(&direct, "ann", "tools/call", plain, can.clone()).await;
                let through = modern(&relaying, "ann", "tools/call", through, can.clone()).await;
                // What a schema of results promises is promised of the tool that is listed.
                let mut expected = seen(&plain).2;
                let mut found = seen(&through).2;
                // It is bound to what the client sent, which is another thing on either way.
                for answer in [&mut expected, &mut found] {
                    if let Some(state) = answer.pointer_mut("/result/requestState") {
                        *state = json!(state.is_number());
                    }
                }
                if expected["result"]["isError"] != found["result"]["isError"] {
                    expected["result"]["isError"] = found["result"]["isError"].clone();
                }
                assert_eq!(expected, found, "{name} {can} {arguments}");
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared} of {}", names.len());
}

#[tokio::test]
async fn a_lazy_list_holds_the_core_and_the_tools_that_find_the_rest() {
    let oracle = Oracle::default();
    let (crib, names) = crib(&oracle, lazy());
    let url = open(crib, &[], McpServerSettings { page: 2, ..McpServerSettings::default() }).await;
    let mut listed = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let params = json!({ "cursor": cursor });
        let page = modern(&url, "ann", "tools/list", params.clone(), json!({})).await;
        let again = modern(&url, "ann", "tools/list", params, json!({})).await;
        assert_eq!(seen(&page), seen(&again));
        let answer = page.answer();
        for tool in answer["result"]["tools"].as_array().unwrap() {
            listed.push(tool["name"].as_str().unwrap().to_owned());
        }
        cursor = answer["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let rest = listed.split_off(listed.len() - 3);
    assert_eq!(rest, ["discover_tools", "get_tool_schema", "invoke_tool"]);
    assert!(listed.iter().all(|name| names.contains(name)) && listed.len() < names.len());
    // A wrong name is for the model to read, and no error of the protocol.
    let wrong = json!({ "name": "invoke_tool", "arguments": { "name": "secrets" } });
    let wrong = modern(&url, "ann", "tools/call", wrong, json!({})).await.answer();
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    assert!(wrong.to_string().contains("there is no tool `secrets`"), "{wrong}");
}

#[tokio::test]
async fn the_question_about_a_relayed_call_names_the_tool_that_would_run() {
    let oracle = Oracle::default();
    let url = open(crib(&oracle, lazy()).0, &[], McpServerSettings::default()).await;
    let can = json!({ "elicitation": { "form": {} } });
    let arguments = json!({ "name": "asked_about", "parameters": { "n": 1 } });
    let call = json!({ "name": "invoke_tool", "arguments": arguments });
    let asked = modern(&url, "ann", "tools/call", call.clone(), can.clone()).await.answer();
    let question = asked["result"]["inputRequests"]["approval"].to_string();
    assert!(question.contains("May `asked_about` run?"), "{question}");
    assert_eq!(oracle.count("asked_about"), 0);
    let mut again = call;
    again["requestState"] = asked["result"]["requestState"].clone();
    again["inputResponses"] =
        json!({ "approval": { "action": "accept", "content": { "approve": true } } });
    let done = modern(&url, "ann", "tools/call", again, can).await.answer();
    assert_eq!(done["result"]["structuredContent"], json!({ "n": 1 }), "{done}");
    assert_eq!(oracle.runs(), [("asked_about".to_owned(), json!({ "n": 1 }))]);
}
