//! The life of a task at an agent that is hard to follow.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{AllowAll, BatchOptions, Effect, Part, QuestionKind, Response, ToolOutcome};
use toolcrib_engine::Crib;

use crate::crib::{Agency, Listener, heard_by, load, settings};
use crate::stand_in::{
    StandIn, StreamEnd, artifact, bare_events, card, events, plain, refusal, result, status, task,
    with,
};

const DONE: &str = "TASK_STATE_COMPLETED";
const WORKING: &str = "TASK_STATE_WORKING";

fn hat() -> Value {
    json!({ "artifacts": [{ "artifactId": "a", "parts": [{ "text": "A hat." }] }] })
}

#[tokio::test]
async fn a_task_that_was_only_taken_is_looked_at_until_it_is_over() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendMessage" => result(json!({ "task": task("TASK_STATE_SUBMITTED", json!({})) })),
        "GetTask" if asked.body["id"] == "" => refusal(-32001, "who?"),
        "GetTask" => {
            static LOOKS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
            let looks = LOOKS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            result(if looks < 2 { task(WORKING, json!({})) } else { task(DONE, hat()) })
        }
        _ => plain(&card(base, false)),
    })
    .await;
    let agency = Agency::open(settings(&agent.base)).await;
    let said = agency.say("A hat, please").await;
    assert_eq!(said.text(), "A hat.");
    assert_eq!(agent.methods(), ["SendMessage", "GetTask", "GetTask", "GetTask"]);
    let sent = agent.asked().into_iter().find(|asked| asked.method() == "SendMessage").unwrap();
    assert_eq!(sent.headers["a2a-version"], "1.0");
    let params = &sent.body["params"];
    assert_eq!(params["message"]["parts"], json!([{ "text": "A hat, please" }]));
    assert_eq!(params["configuration"]["returnImmediately"], true);
    let ToolOutcome::Done(content) = &said.outcome else { panic!("{said:?}") };
    assert_eq!(content.extra["task"], json!({ "id": "t1", "context": "c1", "state": "completed" }));
}

#[tokio::test]
async fn a_broken_stream_is_looked_up_first_and_then_followed_on() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendStreamingMessage" => {
            let begun = [json!({ "task": task(WORKING, json!({})) }), artifact("a", "Once", false)];
            events(&begun, StreamEnd::Break)
        }
        "GetTask" => {
            let parts = json!([{ "artifactId": "a", "parts": [{ "text": "Once upon" }] }]);
            result(task(WORKING, json!({ "artifacts": parts })))
        }
        "SubscribeToTask" => {
            let parts = json!([{ "artifactId": "a", "parts": [{ "text": "Once upon" }] }]);
            let now = task(WORKING, json!({ "artifacts": parts }));
            let on = [json!({ "task": now }), artifact("a", " a time.", true), status(DONE, "ok")];
            events(&on, StreamEnd::Hang)
        }
        _ => plain(&card(base, true)),
    })
    .await;
    let said = Agency::open(settings(&agent.base)).await.say("A tale").await;
    assert_eq!(said.text(), "Once upon a time.", "{said:?}");
    assert_eq!(agent.methods(), ["SendStreamingMessage", "GetTask", "SubscribeToTask"]);
}

#[tokio::test]
async fn a_silent_stream_is_looked_up_and_an_agent_without_subscriptions_is_asked_again() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendStreamingMessage" => events(&[status(WORKING, "thinking")], StreamEnd::Hang),
        "GetTask" => {
            static LOOKS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
            let looks = LOOKS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            result(if looks < 3 { task(WORKING, json!({})) } else { task(DONE, hat()) })
        }
        "SubscribeToTask" => refusal(-32004, "no streams of tasks"),
        _ => plain(&card(base, true)),
    })
    .await;
    let mut settings = settings(&agent.base);
    settings.idle = Duration::from_millis(200);
    let said = Agency::open(settings).await.say("A hat").await;
    assert_eq!(said.text(), "A hat.", "{said:?}");
    let methods = agent.methods();
    assert_eq!(methods[..3], ["SendStreamingMessage", "GetTask", "SubscribeToTask"]);
    let subscribed = methods.iter().filter(|method| *method == "SubscribeToTask").count();
    assert_eq!(subscribed, 1, "{methods:?}");
}

#[tokio::test]
async fn pieces_that_come_twice_count_once_and_those_of_several_artifacts_stay_apart() {
    let piece = |id: &str, index: u64, text: &str| {
        let mut piece = artifact(id, text, index > 0);
        piece["artifactUpdate"]["artifact"]["index"] = index.into();
        piece
    };
    let all = [
        piece("a", 0, "one "),
        piece("b", 0, "uno "),
        piece("a", 1, "two "),
        piece("a", 0, "one "),
        piece("b", 1, "due"),
        piece("a", 1, "two "),
        piece("a", 2, "three"),
        status(DONE, "said"),
    ];
    let agent = StandIn::start(move |asked, base| match asked.method().as_str() {
        "SendStreamingMessage" => events(&all, StreamEnd::Close),
        _ => plain(&card(base, true)),
    })
    .await;
    let said = Agency::open(settings(&agent.base)).await.say("Count").await;
    let ToolOutcome::Done(content) = &said.outcome else { panic!("{said:?}") };
    assert_eq!(content.parts, [Part::text("one two three"), Part::text("uno due")]);
}

#[tokio::test]
async fn what_nobody_knows_is_passed_over_or_shown_as_it_came() {
    let odd = [
        json!({ "weatherUpdate": { "rain": true } }),
        json!({ "kind": "dream", "of": "sheep" }),
        json!({ "statusUpdate": { "taskId": "t1", "status": { "state": "TASK_STATE_DREAMING" } } }),
        json!({ "statusUpdate": { "taskId": "other", "status": { "state": DONE } } }),
        json!({ "artifactUpdate": { "taskId": "t1", "mood": "blue", "artifact": {
            "artifactId": "a", "parts": [{ "hologram": [1, 2] }, { "data": [1, [2]] }] } } }),
        status(DONE, "ready"),
    ];
    let agent = StandIn::start(move |asked, base| match asked.method().as_str() {
        "SendStreamingMessage" => events(&odd, StreamEnd::Close),
        _ => plain(&card(base, true)),
    })
    .await;
    let said = Agency::open(settings(&agent.base)).await.say("Dream").await;
    let ToolOutcome::Done(content) = &said.outcome else { panic!("{said:?}") };
    assert_eq!(content.parts, [Part::text("{\"hologram\":[1,2]}"), Part::text("[1,[2]]")]);
    assert_eq!(content.structured, Some(json!([1, [2]])));
}

#[tokio::test]
async fn an_agent_of_0_3_is_spoken_to_in_its_own_words() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "message/stream" => {
            let message = json!({ "kind": "message", "role": "agent", "messageId": "m",
                "parts": [{ "kind": "text", "text": "thinking" }] });
            let update = |state: &str, is_final: bool| {
                json!({ "jsonrpc": "2.0", "id": 1, "result": {
                "kind": "status-update", "taskId": "t", "contextId": "c", "final": is_final,
                "status": { "state": state, "message": message } } })
            };
            let made = json!({ "jsonrpc": "2.0", "id": 1, "result": {
                "kind": "artifact-update", "taskId": "t", "contextId": "c", "artifact": {
                    "artifactId": "a", "parts": [
                        { "kind": "text", "text": "A hat." },
                        { "kind": "file", "file": { "name": "hat.png", "mimeType": "image/png",
                            "bytes": "aGF0" } },
                        { "kind": "data", "data": { "size": [56, 57] } },
                    ] } } });
            let all = [update("working", false), made, update("completed", true)];
            bare_events(&all, StreamEnd::Close)
        }
        _ => plain(&json!({
            "protocolVersion": "0.3.0", "name": "Old", "description": "Is old.", "version": "1",
            "url": format!("{base}/rpc"), "preferredTransport": "JSONRPC",
            "capabilities": { "streaming": true }, "defaultInputModes": ["text"],
            "additionalInterfaces": [{ "url": "http://192.0.2.1/grpc", "transport": "GRPC" }],
            "skills": [],
        })),
    })
    .await;
    let host = Arc::new(Listener::default());
    let agency = Agency::open(settings(&agent.base)).await;
    let said = agency.call("ask", &json!({ "message": "A hat" }), heard_by(&host)).await;
    let ToolOutcome::Done(content) = &said.outcome else { panic!("{said:?}") };
    assert_eq!(content.structured, Some(json!({ "size": [56, 57] })));
    assert_eq!(content.parts[0], Part::text("A hat."));
    assert!(matches!(&content.parts[1], Part::Image { data, .. } if data == "aGF0"));
    assert_eq!(host.heard.lock().unwrap()[0], json!("thinking"));
    let sent = agent.asked().into_iter().find(|asked| asked.method() == "message/stream").unwrap();
    let message = &sent.body["params"]["message"];
    assert_eq!(
        (&message["kind"], &message["role"], &message["parts"]),
        (&json!("message"), &json!("user"), &json!([{ "kind": "text", "text": "A hat" }]))
    );
    assert_eq!(sent.headers["a2a-version"], "0.3");
}

#[tokio::test]
async fn a_host_that_can_open_addresses_is_shown_where_to_sign_in() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendMessage" => {
            let words = json!([{ "text": "Sign in at https://login.example/go." }]);
            let mut waits = task("TASK_STATE_AUTH_REQUIRED", json!({}));
            waits["status"]["message"] =
                json!({ "messageId": "m", "role": "ROLE_AGENT", "parts": words });
            result(json!({ "task": waits }))
        }
        "GetTask" => result(task(DONE, hat())),
        _ => plain(&card(base, false)),
    })
    .await;
    let host = Arc::new(Listener {
        answers: vec![QuestionKind::Address],
        answer: json!({ "action": "accept" }),
        ..Listener::default()
    });
    let agency = Agency::open(settings(&agent.base)).await;
    let said = agency.call("ask", &json!({ "message": "A hat" }), heard_by(&host)).await;
    assert_eq!(said.text(), "A hat.", "{said:?}");
    let heard = host.heard.lock().unwrap()[0].clone();
    assert_eq!(
        (&heard[0], &heard[1]["url"], &heard[1]["mode"]),
        (&json!("address"), &json!("https://login.example/go"), &json!("url"))
    );
    assert_eq!(agent.methods(), ["SendMessage", "GetTask"]);
}

/// What a call is told whose person answers no question.
async fn declined(agent: &StandIn) -> Response {
    let host = Arc::new(Listener {
        answers: vec![QuestionKind::Form],
        answer: json!({ "action": "decline" }),
        ..Listener::default()
    });
    let agency = Agency::open(settings(&agent.base)).await;
    agency.call("ask", &json!({ "message": "A hat" }), heard_by(&host)).await
}

#[tokio::test]
async fn a_person_who_declines_ends_the_task() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendMessage" => result(json!({ "task": task("TASK_STATE_INPUT_REQUIRED", json!({})) })),
        "CancelTask" => result(task("TASK_STATE_CANCELED", json!({}))),
        _ => plain(&card(base, false)),
    })
    .await;
    let said = declined(&agent).await;
    assert!(said.text().contains("the person declined; its task was cancelled"), "{said:?}");
    assert_eq!(agent.methods(), ["SendMessage", "CancelTask"]);
}

#[tokio::test]
async fn whoever_is_not_asked_to_sign_in_is_told_where_it_is_done() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendMessage" => {
            let parts = json!([{ "text": "First." }, { "url": "https://login.example/go" }]);
            let mut waits = task("TASK_STATE_AUTH_REQUIRED", json!({}));
            waits["status"]["message"] =
                json!({ "messageId": "m", "role": "ROLE_AGENT", "parts": parts });
            result(json!({ "task": waits }))
        }
        "CancelTask" => result(task("TASK_STATE_CANCELED", json!({}))),
        _ => plain(&card(base, false)),
    })
    .await;
    let said = declined(&agent).await;
    let told = "the agent wants somebody to sign in at https://login.example/go (\"First.\"), and \
                the person declined; its task was cancelled. Tell the user, and ask again once that \
                is done";
    assert!(said.text().contains(told), "{said:?}");
}

#[tokio::test]
async fn a_request_is_handed_on_with_its_count_and_not_beyond_the_most() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendMessage" => result(json!({ "task": task(DONE, hat()) })),
        _ => plain(&card(base, false)),
    })
    .await;
    let agency = Agency::open(settings(&agent.base)).await;
    let handed_on = async |hops: u32| {
        let options = BatchOptions { hops, ..BatchOptions::default() };
        agency.call("ask", &json!({ "message": "A hat, please" }), options).await.text()
    };
    assert_eq!((handed_on(0).await.as_str(), handed_on(7).await.as_str()), ("A hat.", "A hat."));
    let asked = agent.asked();
    let sent = asked.iter().filter(|asked| asked.method() == "SendMessage");
    let counts: Vec<_> =
        sent.map(|asked| asked.body["params"]["message"]["metadata"].clone()).collect();
    assert_eq!(counts, [json!({ "toolcrib/hops": 1 }), json!({ "toolcrib/hops": 8 })]);
    let refused = handed_on(8).await;
    assert!(
        refused.contains("nothing was sent: 8 agents have handed this request on"),
        "{refused}"
    );
    assert_eq!(agent.methods(), ["SendMessage", "SendMessage"]);
}

#[tokio::test]
async fn every_attempt_of_a_call_says_the_same_under_the_same_name() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendMessage" => {
            static SENT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
            let sent = SENT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if sent == 0 {
                with(429, &[("retry-after", "0")], "")
            } else {
                result(json!({ "task": task(DONE, hat()) }))
            }
        }
        _ => plain(&card(base, false)),
    })
    .await;
    // What only reads may be asked again.
    let tools = load(settings(&agent.base)).await.unwrap();
    let tools = tools.respec(|spec| spec.effect = Effect::Read);
    let agency = Agency(Crib::builder().policy(AllowAll).build_fixed(tools));
    assert_eq!(agency.say("A hat, please").await.text(), "A hat.");
    assert_eq!(agency.say("A hat, please").await.text(), "A hat.");
    let asked = agent.asked();
    let sent = asked.iter().filter(|asked| asked.method() == "SendMessage");
    let names: Vec<_> =
        sent.map(|asked| asked.body["params"]["message"]["messageId"].clone()).collect();
    let is_named = names.iter().all(|name| name.as_str().is_some_and(|name| !name.is_empty()));
    assert!(is_named && names.len() == 3, "{names:?}");
    assert!(names[0] == names[1] && names[1] != names[2], "{names:?}");
}
