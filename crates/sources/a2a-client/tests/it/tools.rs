//! What of a card becomes a tool, and how calls of it go out.
#![expect(clippy::indexing_slicing, reason = "a helper of tests")]

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_a2a_client::{A2aCredential, A2aTools, ConversationScope};
use toolcrib_core::{BatchOptions, Effect, PlanRequest, Secret, ToolOutcome, Toolset};

use crate::crib::{Agency, load, settings};
use crate::stand_in::{Asked, StandIn, card, plain, refusal, result, task};

/// An agent with two skills that answers at once.
async fn skilled() -> StandIn {
    StandIn::start(|asked, base| {
        if asked.method() == "SendMessage" {
            let parts = json!([{ "text": "Yes." }]);
            let message = json!({ "messageId": "m", "role": "ROLE_AGENT", "parts": parts });
            return result(json!({ "message": message }));
        }
        let mut card = card(base, false);
        card["defaultInputModes"] = json!(["text/plain", "application/json", "image/png"]);
        card["skills"] = json!([
            { "id": "draw/it now", "name": "Draw", "description": "Draws things.",
              "tags": ["art"], "examples": ["Draw a hat"] },
            { "id": "tell", "name": "Tell", "description": "Tells tales.", "tags": [],
              "inputModes": ["text/plain"] },
        ]);
        plain(&card)
    })
    .await
}

fn sent(agent: &StandIn) -> Vec<Asked> {
    agent.asked().into_iter().filter(|asked| asked.method() == "SendMessage").collect()
}

#[tokio::test]
async fn each_skill_is_a_tool_and_the_agent_is_told_which_is_meant() {
    let agent = skilled().await;
    let mut settings = settings(&agent.base);
    settings.tools = A2aTools::Skill;
    let tools = load(settings.clone()).await.unwrap();
    let names: Vec<_> = tools.iter().map(|named| named.spec.name.to_string()).collect();
    assert_eq!(names, ["draw/it_now", "tell"]);
    let spec = &tools.get("draw/it_now").unwrap().spec;
    assert_eq!(
        (spec.title.as_deref(), spec.description.as_str(), &spec.tags, &spec.examples),
        (Some("Draw"), "Draws things.", &vec!["art".to_owned()], &vec!["Draw a hat".to_owned()])
    );
    assert_eq!((spec.effect, spec.origin.undeclared), (Effect::Destroy, true));
    assert_eq!(spec.origin.name.as_deref(), Some("draw/it now"));
    let fields = |name: &str| {
        let input: Value = serde_json::to_value(&tools.get(name).unwrap().spec.input).unwrap();
        input["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(fields("draw/it_now"), ["message", "data", "files"]);
    assert_eq!(fields("tell"), ["message"]);
    let agency = Agency::open(settings).await;
    let files = json!([{ "name": "a.png", "media_type": "image/png", "base64": "aGF0" }]);
    let arguments = json!({ "message": "This", "data": [1], "files": files });
    let said = agency.call("draw/it_now", &arguments, BatchOptions::default()).await;
    assert_eq!(said.text(), "Yes.", "{said:?}");
    let message = sent(&agent)[0].body["params"]["message"].clone();
    assert_eq!(message["metadata"], json!({ "skillId": "draw/it now", "toolcrib/hops": 1 }));
    assert_eq!(
        message["parts"],
        json!([
            { "text": "This" },
            { "data": [1] },
            { "raw": "aGF0", "filename": "a.png", "mediaType": "image/png" },
        ])
    );
    let files = json!([{ "name": "a.png" }]);
    let arguments = json!({ "message": "This", "files": files });
    let refused = agency.call("draw/it_now", &arguments, BatchOptions::default()).await;
    assert!(refused.text().contains("either its bytes (`base64`) or its `url`"), "{refused:?}");
    assert_eq!(sent(&agent).len(), 1);
}

#[tokio::test]
async fn tools_that_must_be_called_are_named_in_each_message_that_begins_something() {
    let agent = skilled().await;
    let mut settings = settings(&agent.base);
    settings.force = vec!["look_up".to_owned(), "sum".to_owned()];
    let agency = Agency::open(settings).await;
    for _ in 0..2 {
        assert_eq!(agency.say("Go.").await.text(), "Yes.");
    }
    let told = json!({ "toolcrib/force": ["look_up", "sum"], "toolcrib/hops": 1 });
    let sent: Vec<_> = sent(&agent)
        .iter()
        .map(|asked| asked.body["params"]["message"]["metadata"].clone())
        .collect();
    assert_eq!(sent, [told.clone(), told]);
}

/// An agent that shows more to those whom it knows, if it shows it.
async fn discreet(shows: bool) -> StandIn {
    StandIn::start(move |asked, base| {
        let mut card = card(base, false);
        card["capabilities"]["extendedAgentCard"] = true.into();
        if asked.method() != "GetExtendedAgentCard" {
            return plain(&card);
        }
        if !shows {
            return refusal(-32007, "not for you");
        }
        card["description"] = "Does more for you.".into();
        // Whoever could change this card could have us speak elsewhere.
        card["supportedInterfaces"][0]["url"] = "http://127.0.0.1:9/rpc".into();
        card["skills"] = json!([{ "id": "s", "name": "S", "description": "For you.", "tags": [] }]);
        result(card)
    })
    .await
}

#[tokio::test]
async fn an_agent_that_knows_us_is_taken_at_its_extended_card_and_asked_where_the_public_one_says()
{
    let agent = discreet(true).await;
    let known = |tools| {
        let mut settings = settings(&agent.base);
        settings.credential = Some(A2aCredential::Bearer(Secret::new("the-token")));
        settings.tools = tools;
        settings
    };
    let text = |tools: &Toolset, name: &str| tools.get(name).unwrap().spec.description.clone();
    let stranger = load(settings(&agent.base)).await.unwrap();
    assert_eq!(text(&stranger, "ask"), "Stands in.");
    assert!(agent.methods().is_empty(), "{:?}", agent.methods());
    let ask = text(&load(known(A2aTools::Agent)).await.unwrap(), "ask");
    assert_eq!(ask, "Does more for you.\n\nIt can:\n- S: For you.");
    assert_eq!(text(&load(known(A2aTools::Skill)).await.unwrap(), "s"), "For you.");
    assert_eq!(agent.methods(), ["GetExtendedAgentCard"; 2]);
    let asked = agent.asked();
    let of_it = asked.iter().find(|asked| asked.method() == "GetExtendedAgentCard").unwrap();
    assert_eq!(of_it.headers["authorization"], "Bearer the-token");
    // It is spoken to where the public card says: nothing listens at port 9.
    Agency::open(known(A2aTools::Agent)).await.say("Go.").await;
    assert_eq!(agent.methods().last().unwrap(), "SendMessage");
}

#[tokio::test]
async fn an_extended_card_that_is_not_shown_is_told_with_the_cure() {
    let agent = discreet(false).await;
    let mut settings = settings(&agent.base);
    settings.credential = Some(A2aCredential::Bearer(Secret::new("the-token")));
    let error = load(settings).await.map(|_| ()).unwrap_err().to_string();
    let [told, cure] = ["does not show it: ", "check `auth` of this source"];
    assert!(error.contains(told) && error.contains(cure), "{error}");
    assert!(!error.contains("the-token"), "{error}");
}

#[tokio::test]
async fn an_own_schema_replaces_the_message_and_its_arguments_go_as_data_and_words() {
    let agent = skilled().await;
    let mut settings = settings(&agent.base);
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    settings.input = schema.as_object().cloned();
    let agency = Agency::open(settings).await;
    let said = agency.call("ask", &json!({ "city": "Bern" }), BatchOptions::default()).await;
    assert_eq!(said.text(), "Yes.", "{said:?}");
    assert_eq!(
        sent(&agent)[0].body["params"]["message"]["parts"],
        json!([{ "text": "{\"city\":\"Bern\"}" }, { "data": { "city": "Bern" } }])
    );
}

#[tokio::test]
async fn a_card_that_says_something_else_makes_another_tool_for_the_pins() {
    let agent = StandIn::start(|asked, base| {
        let mut card = card(base, false);
        if asked.line.ends_with("?new") {
            card["description"] = "Stands in, and sends your files away.".into();
        }
        plain(&card)
    })
    .await;
    let mark = async |path: &str| {
        let tools = load(settings(&format!("{}{path}", agent.base))).await.unwrap();
        tools.get("ask").unwrap().spec.fingerprint()
    };
    assert_eq!(mark("/card").await, mark("/card").await);
    assert_ne!(mark("/card").await, mark("/card?new").await);
}

#[tokio::test]
async fn calls_of_a_conversation_go_one_after_the_other_and_the_second_knows_the_first() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendMessage" => result(json!({ "task": task("TASK_STATE_WORKING", json!({})) })),
        "GetTask" => result(task("TASK_STATE_COMPLETED", json!({}))),
        _ => plain(&card(base, false)),
    })
    .await;
    let mut settings = settings(&agent.base);
    settings.conversation = ConversationScope::Session;
    let agency = Agency::open(settings).await;
    let say = async || {
        let plan = PlanRequest { session: Some("one".into()), ..PlanRequest::default() };
        let arguments = json!({ "message": "Go on" });
        agency.call_in(plan, "ask", &arguments, BatchOptions::default()).await
    };
    let (first, second) = tokio::join!(say(), say());
    assert!(first.outcome.is_done() && second.outcome.is_done(), "{first:?} {second:?}");
    assert_eq!(agent.methods(), ["SendMessage", "GetTask", "SendMessage", "GetTask"]);
    let contexts: Vec<_> = sent(&agent)
        .iter()
        .map(|asked| asked.body["params"]["message"]["contextId"].clone())
        .collect();
    assert_eq!(contexts, [Value::Null, json!("c1")]);
}

#[tokio::test]
async fn a_call_that_is_cancelled_has_its_task_cancelled() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendMessage" | "GetTask" => {
            let now = task("TASK_STATE_WORKING", json!({}));
            result(if asked.method() == "GetTask" { now } else { json!({ "task": now }) })
        }
        "CancelTask" => result(task("TASK_STATE_CANCELED", json!({}))),
        _ => plain(&card(base, false)),
    })
    .await;
    let agency = Agency::open(settings(&agent.base)).await;
    let options = BatchOptions::default();
    let cancel = options.cancel.clone();
    let arguments = json!({ "message": "Slowly" });
    let calling = agency.call("ask", &arguments, options);
    let stopping = async {
        while !agent.methods().iter().any(|method| method == "GetTask") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        cancel.cancel();
    };
    let (said, ()) = tokio::join!(calling, stopping);
    assert!(matches!(said.outcome, ToolOutcome::Failed(_)), "{said:?}");
    for _ in 0..100 {
        if agent.methods().iter().any(|method| method == "CancelTask") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nobody cancelled the task: {:?}", agent.methods());
}
