//! An agent of the SDK in JavaScript, where the run of the tests installed it: each version over
//! each way.

use std::sync::Arc;

use serde_json::json;
use toolcrib_core::{Caller, Decision, Run, ToolOutcome};
use toolcrib_testkit::TestFolder;

use crate::crib::{Agency, Listener, heard_by, settings};
use crate::other_agent::{OtherAgent, WAYS, peer};

const AGENT: &str = include_str!("agent.mjs");

/// The agent, and the folder that its modules are found in.
async fn agent() -> Option<(OtherAgent, TestFolder)> {
    let modules = peer("TOOLCRIB_NODE_PEERS")?;
    let folder = TestFolder::new();
    let script = folder.write("agent.mjs", AGENT);
    std::os::unix::fs::symlink(&modules, folder.path().join("node_modules")).unwrap();
    let agent = OtherAgent::start(&modules.join(".bin/node"), &[script.to_str().unwrap()]).await;
    Some((agent, folder))
}

#[tokio::test]
async fn an_agent_in_javascript_is_heard_while_it_works_and_fails_in_its_own_words() {
    let Some((agent, _folder)) = agent().await else { return };
    for way in WAYS {
        let host = Arc::new(Listener::default());
        let agency = Agency::open(settings(&format!("{}/{way}", agent.base))).await;
        let said = agency.call("ask", &json!({ "message": "say" }), heard_by(&host)).await;
        assert_eq!(said.text(), "Once upon a time.", "{way}: {said:?}");
        let heard = host.heard.lock().unwrap().clone();
        assert_eq!(heard.first(), Some(&json!("thinking")), "{way}");
        assert_eq!(agency.say("hello").await.text(), "Hello yourself.", "{way}");
        let failed = agency.say("fail").await.text();
        assert!(failed.contains("the agent failed: The oven is broken."), "{way}: {failed}");
    }
}

#[tokio::test]
async fn what_an_agent_in_javascript_asks_is_answered_in_the_same_task() {
    let Some((agent, _folder)) = agent().await else { return };
    for way in WAYS {
        let agency = Agency::open(settings(&format!("{}/{way}", agent.base))).await;
        let asked = agency.say("ask").await;
        let ToolOutcome::Pending(pending) = &asked.outcome else { panic!("{way}: {asked:?}") };
        let answer = Decision::Answer { content: json!({ "answer": "red" }) };
        let (caller, run) = (Caller::local(), Run::default());
        let decided = agency.0.decide(&caller, &run, &pending.ticket, answer).await.unwrap();
        assert_eq!(decided.text(), "It is red.", "{way}");
    }
}
