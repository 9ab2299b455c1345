//! What a server asks whose caller cannot be asked waits for a person under a ticket.

use serde_json::{Value, json};
use toolcrib_core::{
    AllowAll, BatchOptions, Caller, CribLimits, Decision, FormFallback, PlanRequest, Response, Run,
    ToolOutcome,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpSourceSettings;

use crate::support::{call, crib, crib_within, only, run, settings, source};

/// The servers of both revisions, each with a tool that asks.
const BOTH: [(&str, &str); 2] = [("legacy", "ask"), ("modern", "ask_modern")];

fn question() -> Value {
    json!({
        "message": "Who\u{200b} comes?",
        "requestedSchema": {
            "type": "object",
            "properties": { "name": { "type": "string" } },
            "required": ["name"],
        },
    })
}

fn bob() -> Decision {
    Decision::Answer { content: json!({ "name": "Bob" }) }
}

/// What a call of that tool says that asks this.
async fn asks(crib: &Crib, tool: &str) -> Response {
    run(crib, tool, json!({ "question": question() })).await
}

async fn decide(crib: &Crib, response: &Response, decision: Decision) -> String {
    let ToolOutcome::Pending(pending) = &response.outcome else { panic!("{response:?}") };
    let decided = crib.decide(&Caller::local(), &Run::default(), &pending.ticket, decision).await;
    decided.unwrap().text()
}

#[tokio::test]
async fn a_server_of_either_revision_hears_what_a_person_answers_under_a_ticket() {
    for (revision, tool) in BOTH {
        let crib = crib(&source(settings(&[revision]))).await;
        let response = asks(&crib, tool).await;
        let open = crib.tickets(&Caller::local()).await.unwrap();
        let shown = open[0].question.as_deref().unwrap();
        assert_eq!(shown["message"], "Who\\u{200b} comes?", "{revision}");
        let done = decide(&crib, &response, bob()).await;
        let accepted = json!({ "action": "accept", "content": { "name": "Bob" } }).to_string();
        assert!(done.contains(&accepted), "{revision}: {done}");
        let declined = Decision::Deny { reason: "no".to_owned() };
        let declined = decide(&crib, &asks(&crib, tool).await, declined).await;
        assert!(declined.contains(r#"{"action":"decline"}"#), "{revision}: {declined}");
    }
    // One of the later revision is told that forms are answered.
    let crib = crib(&source(settings(&["modern"]))).await;
    let response = run(&crib, "ask_modern", json!({})).await;
    let answered = decide(&crib, &response, Decision::Approve).await;
    let expected = json!([
        { "sure": { "action": "accept", "content": {} } }, { "elicitation": { "form": {} } },
    ]);
    assert_eq!(serde_json::from_str::<Value>(&answered).unwrap(), expected);
}

#[tokio::test]
async fn a_call_may_take_a_persons_time_beyond_its_own() {
    let mut settings = settings(&["legacy"]);
    settings.timeouts.call = std::time::Duration::from_millis(300);
    let limits =
        CribLimits { timeout: settings.timeouts.call, retries: 0, ..CribLimits::default() };
    let crib = crib_within(&source(settings), limits).await;
    let response = asks(&crib, "ask").await;
    // Longer than it may take without a sign of life, and than it may run.
    tokio::time::sleep(std::time::Duration::from_millis(900)).await;
    assert!(decide(&crib, &response, bob()).await.contains("Bob"));
}

#[tokio::test]
async fn a_source_whose_questions_are_put_away_is_told_so_as_before() {
    for (revision, tool) in BOTH {
        let plain = settings(&[revision]);
        let put_away = McpSourceSettings { questions: FormFallback::PutAway, ..plain };
        let crib = crib(&source(put_away)).await;
        let told = asks(&crib, tool).await.text();
        assert!(told.contains(r#"{"action":"cancel"}"#), "{revision}: {told}");
        assert!(!told.contains("elicitation"), "{revision}: {told}");
        assert_eq!(crib.tickets(&Caller::local()).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_question_is_gone_with_its_server() {
    let source = source(settings(&["legacy"]));
    let placed = (
        toolcrib_core::SourceId::new("far"),
        std::sync::Arc::clone(&source) as _,
        std::time::Duration::from_mins(1),
    );
    let limits = CribLimits { retries: 0, ..CribLimits::default() };
    let crib = Crib::builder().policy(AllowAll).limits(limits).placed(placed).build().await;
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let calls = vec![call("ask", json!({ "question": question() }))];
    let response = only(crib.run_with(&plan, calls, BatchOptions::default()).await);
    let ToolOutcome::Pending(pending) = &response.outcome else { panic!("{response:?}") };
    source.stop().await;
    let patience = std::time::Duration::from_secs(30);
    let told = crib.redeemed(&Caller::local(), &pending.ticket, patience).await.unwrap().unwrap();
    assert!(matches!(told.outcome, ToolOutcome::Failed(_)), "{told:?}");
    assert_eq!(crib.tickets(&Caller::local()).await.unwrap(), []);
}
