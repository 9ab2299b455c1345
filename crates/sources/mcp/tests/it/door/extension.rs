//! Methods that the protocol does not define, and prompts that no list names: those of the only
//! server behind a door.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{AllowAll, AskBeforeDestroying, Policy, QuarantineReason, SourceId, Verdict};
use toolcrib_engine::ledger::MemoryLedger;
use toolcrib_engine::rules::Rules;
use toolcrib_engine::{Crib, CribBuilder};
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::FixedPolicy;

use super::support::open;
use super::wire::{begin, modern, old};
use crate::support::{settings, source, until};

const ECHO: &str = "com.example/echo";

async fn behind(era: &str, builder: CribBuilder) -> String {
    let server = source(settings(&[era, "prompts"]));
    let placed = (SourceId::new("far"), server as _, Duration::from_mins(1));
    let crib = builder.placed(placed).build().await;
    until("it is known what the server is", || crib.sole().is_some()).await;
    open(crib, &[], McpServerSettings::default()).await
}

async fn under(era: &str, policy: impl Policy + 'static) -> String {
    behind(era, Crib::builder().policy(policy)).await
}

/// A client that may be asked things, in either way.
enum Client<'a> {
    Modern(&'a str),
    Old(&'a str, String),
}

fn form() -> Value {
    json!({ "elicitation": { "form": {} } })
}

impl Client<'_> {
    async fn ask(&self, method: &str, params: Value) -> Value {
        match self {
            Self::Modern(url) => modern(url, "ann", method, params, form()).await.answer(),
            Self::Old(url, session) => {
                let asked =
                    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
                old(url, "ann", Some(session), asked).await.answer()
            }
        }
    }
}

async fn both(url: &str) -> [Client<'_>; 2] {
    [Client::Modern(url), Client::Old(url, begin(url, "ann", "2025-11-25", form()).await)]
}

#[tokio::test]
async fn a_method_of_an_extension_is_answered_by_the_only_server_and_comes_back_whole() {
    for era in ["modern", "legacy"] {
        let ledger = Arc::new(MemoryLedger::default());
        let builder = Crib::builder().policy(AllowAll).ledger(Arc::clone(&ledger) as _);
        let url = behind(era, builder).await;
        for client in both(&url).await {
            let is_modern = matches!(client, Client::Modern(_));
            let params = json!({ "a": { "b": [1.5, null] }, "name": "x" });
            let mut sent = params.clone();
            sent["_meta"] = json!({ "com.example/k": "canary" });
            let answer = client.ask(ECHO, sent).await;
            let mut whole =
                json!({ "content": params, "x-new": [1], "_meta": { "com.example/a": false } });
            if era == "modern" {
                whole["resultType"] = json!("com.example/own");
            } else if is_modern {
                whole["resultType"] = json!("complete");
            }
            assert_eq!(answer["result"], whole, "{era}: {answer}");
            let refused = client.ask("com.example/refuse", json!({})).await;
            let error = json!({ "code": -32050, "message": "not today", "data": { "why": [1] } });
            assert_eq!(refused["error"], error, "{era}: {refused}");
            // Also the server has no such method.
            assert_eq!(client.ask("com.example/none", json!({})).await["error"]["code"], -32601);
        }
        let recorded = ledger.rows().iter().filter(|row| row.tool.name.as_str() == ECHO).count();
        assert_eq!(recorded, 2);
    }
}

#[tokio::test]
async fn a_method_of_an_extension_may_ask_and_is_asked_about_as_what_may_destroy() {
    let url = under("modern", AskBeforeDestroying).await;
    let client = Client::Modern(&url);
    let mut params = json!({ "a": 1 });
    let asked = client.ask("com.example/ask", params.clone()).await;
    let question = &asked["result"]["inputRequests"]["approve"]["params"];
    let message = question["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("May the method `com.example/ask` run? "), "{asked}");
    assert!(message.ends_with(r#"Arguments: {"a":1}"#), "{asked}");
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] =
        json!({ "approve": { "action": "accept", "content": { "approve": true } } });
    let asked = client.ask("com.example/ask", params.clone()).await;
    assert_eq!(asked["result"]["inputRequests"]["sure"]["params"]["message"], "Sure?", "{asked}");
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({ "sure": { "action": "accept", "content": {} } });
    let done = client.ask("com.example/ask", params).await;
    let told = done["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(told.contains(r#"{"sure":{"action":"accept","content":{}}}"#), "{done}");
    // Whoever can be asked nothing is refused, and nothing is sent.
    let refused = modern(&url, "ann", ECHO, json!({}), json!({})).await.answer();
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
}

#[tokio::test]
async fn a_notification_of_an_extension_reaches_the_only_server() {
    for era in ["modern", "legacy"] {
        let ledger = Arc::new(MemoryLedger::default());
        let builder = Crib::builder().policy(AllowAll).ledger(Arc::clone(&ledger) as _);
        let url = behind(era, builder).await;
        let session = begin(&url, "ann", "2025-11-25", json!({})).await;
        let method = "notifications/com.example/note";
        let said = json!({ "said": 1, "_meta": { "com.example/k": "canary" } });
        let told = json!({ "jsonrpc": "2.0", "method": method, "params": said });
        assert_eq!(old(&url, "ann", Some(&session), told).await.status, 202);
        let is_over = || ledger.rows().iter().any(|row| row.ending.is_some());
        until("it is recorded", is_over).await;
        let mut noted = json!([]);
        for _ in 0..1_000 {
            let answer = modern(&url, "ann", "com.example/noted", json!({}), form()).await.answer();
            noted = answer["result"]["noted"].clone();
            if noted != json!([]) {
                break;
            }
        }
        assert_eq!(noted, json!([{ "said": 1 }]), "{era}");
    }
}

#[tokio::test]
async fn a_prompt_that_no_list_names_is_the_only_servers_to_answer() {
    let url = under("legacy", AskBeforeDestroying).await;
    for client in both(&url).await {
        let params = json!({ "name": "unlisted", "arguments": { "a": "b" } });
        let answer = client.ask("prompts/get", params).await;
        assert_eq!(answer["result"]["description"], json!({ "a": "b" }), "{answer}");
        let unknown = client.ask("prompts/get", json!({ "name": "nowhere" })).await;
        assert_eq!(unknown["error"], json!({ "code": -32601, "message": "no such method" }));
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "unlisted" },
            "argument": { "name": "a", "value": "" },
        });
        let completed = client.ask("completion/complete", params).await;
        assert_eq!(completed["result"]["completion"]["values"], json!(["unlisted"]), "{completed}");
    }
}

#[tokio::test]
async fn neither_is_there_where_it_could_be_another_name_of_what_is_kept_from_a_caller() {
    let rules = |text: &str| Rules::parse(text).unwrap();
    for url in [
        under("legacy", rules("allow = [\"*\"]\ndeny = [\"greet\"]")).await,
        under("legacy", rules("allow = [\"*\"]\nask = [\"tag:dear\"]")).await,
        under("legacy", rules("allow = [\"greet\"]")).await,
        under("legacy", FixedPolicy::default().with("greet", Verdict::Deny("no".to_owned()))).await,
        // As pins do.
        behind(
            "legacy",
            Crib::builder()
                .policy(AllowAll)
                .judge(Box::new(|_, _| Some(QuarantineReason::NotPinned))),
        )
        .await,
    ] {
        let client = Client::Modern(&url);
        let method = client.ask(ECHO, json!({})).await;
        assert_eq!(method["error"], json!({ "code": -32601, "message": ECHO }), "{method}");
        let prompt = client.ask("prompts/get", json!({ "name": "unlisted" })).await;
        let told = prompt["error"]["message"].as_str().unwrap_or_default();
        assert!(told.starts_with("there is no prompt `unlisted`"), "{prompt}");
    }
    // A method may destroy, and a prompt is read.
    let url = under("legacy", rules("allow = [\"effect:read\"]")).await;
    let client = Client::Modern(&url);
    assert_eq!(client.ask(ECHO, json!({})).await["error"]["code"], -32601);
    let prompt = client.ask("prompts/get", json!({ "name": "unlisted" })).await;
    assert_eq!(prompt["result"]["messages"], json!([]), "{prompt}");
}
