//! Tools that the only server behind a door answers to and does not list.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{AllowAll, AskBeforeDestroying, Policy, QuarantineReason, SourceId, Verdict};
use toolcrib_engine::rules::Rules;
use toolcrib_engine::{Crib, CribBuilder};
use toolcrib_mcp::{McpServerSettings, McpSource};
use toolcrib_testkit::FixedPolicy;

use super::support::open;
use super::wire::{begin, modern, old};
use crate::lists::{List, tool};
use crate::support::{settings, source};

/// A server that lists one tool and has more.
fn server(name: &str) -> (List, Arc<McpSource>) {
    let list = List::new(name, &json!([tool("count"), { "name": "fail", "inputSchema": 7 }]));
    let server = source(settings(&["modern", &list.option()]));
    (list, server)
}

async fn behind(server: &Arc<McpSource>, builder: CribBuilder) -> String {
    let placed = (SourceId::new("far"), Arc::clone(server) as _, Duration::from_mins(1));
    open(builder.placed(placed).build().await, &[], McpServerSettings::default()).await
}

async fn under(server: &Arc<McpSource>, policy: impl Policy + 'static) -> String {
    behind(server, Crib::builder().policy(policy)).await
}

async fn call(url: &str, tool: &str) -> Value {
    let params = json!({ "name": tool, "arguments": { "n": 1 } });
    modern(url, "ann", "tools/call", params, json!({})).await.answer()
}

const ECHOED: &str = r#"{"n":1}"#;

#[tokio::test]
async fn what_a_sole_server_does_not_list_is_its_own_to_answer() {
    let (_list, server) = server("unlisted");
    let url = under(&server, AllowAll).await;
    assert_eq!(call(&url, "echo").await["result"]["content"][0]["text"], ECHOED);
    let unknown = json!({ "code": -32602, "message": "unknown tool" });
    assert_eq!(call(&url, "nowhere").await["error"], unknown);
    let session = begin(&url, "ann", "2025-11-25", json!({})).await;
    let params = json!({ "name": "echo", "arguments": { "n": 1 } });
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answer = old(&url, "ann", Some(&session), asked).await.answer();
    assert_eq!(answer["result"]["content"][0]["text"], ECHOED);
    // It is listed, in a way that is none.
    let left_out = call(&url, "fail").await["error"]["message"].clone();
    assert!(left_out.as_str().unwrap().contains("there is no tool `fail`"), "{left_out}");
}

#[tokio::test]
async fn it_is_asked_about_as_what_may_destroy_and_runs_once_after_a_yes() {
    let (_list, server) = server("unlisted-asked");
    let url = under(&server, AskBeforeDestroying).await;
    let can = json!({ "elicitation": { "form": {} } });
    let mut params = json!({ "name": "echo", "arguments": { "n": 1 } });
    let asked = modern(&url, "ann", "tools/call", params.clone(), can.clone()).await.answer();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] =
        json!({ "approval": { "action": "accept", "content": { "approve": true } } });
    let done = modern(&url, "ann", "tools/call", params.clone(), can).await.answer();
    assert_eq!(done["result"]["content"][0]["text"], ECHOED, "{done}");
    // Whoever can be asked nothing is told that it waits.
    let told = call(&url, "echo").await["result"]["content"][0]["text"].clone();
    assert!(told.as_str().unwrap().contains("approval"), "{told}");
}

#[tokio::test]
async fn it_is_nowhere_where_it_could_be_another_name_of_what_is_kept_from_a_caller() {
    let (_list, server) = server("unlisted-kept");
    let rules = |text: &str| Rules::parse(text).unwrap();
    for url in [
        under(&server, rules("allow = [\"*\"]\ndeny = [\"count\"]")).await,
        under(&server, rules("allow = [\"*\"]\nask = [\"tag:dear\"]")).await,
        under(&server, rules("allow = [\"*\"]\ndeny = [\"effect:read\"]")).await,
        under(&server, rules("allow = [\"effect:read\", \"effect:write\"]")).await,
        under(&server, rules("allow = [\"count\"]")).await,
        under(&server, FixedPolicy::default().with("count", Verdict::Deny("no".to_owned()))).await,
        // As pins do.
        behind(
            &server,
            Crib::builder().policy(AllowAll).judge(Box::new(|spec, _| {
                (spec.name.as_str() != "count").then_some(QuarantineReason::NotPinned)
            })),
        )
        .await,
    ] {
        let answer = call(&url, "echo").await;
        let told = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(told.contains("there is no tool `echo`"), "{answer}");
    }
    for open in
        ["allow = [\"*\"]", "allow = [\"*\"]\ndeny = [\"tenant:other\"]", "allow = [\"ec*\"]"]
    {
        let url = under(&server, rules(open)).await;
        assert_eq!(call(&url, "echo").await["result"]["content"][0]["text"], ECHOED, "{open}");
    }
}
