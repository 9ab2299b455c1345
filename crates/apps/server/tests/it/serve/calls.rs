//! Plans, calls and what comes of them.

use serde_json::{Value, json};

use super::support::{Answer, Serving, bearer, eventually, head};
use super::wire::events;
use crate::process::Folder;

fn with(serving: &Serving, lines: &[&str], body: &Value) -> Answer {
    let token = bearer(&serving.token);
    let lines = [lines, &[&token, "Content-Type: application/json"]].concat();
    serving.send(&head("POST", "/v1/calls", serving, &lines), &body.to_string())
}

#[test]
fn tools_are_listed_in_pages_and_by_words() {
    let serving = Serving::start(&[]);
    let names = |path: &str| -> (Vec<Value>, Value) {
        let page = serving.ask("GET", path, "").json();
        let names = page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone());
        (names.collect(), page["cursor"].clone())
    };
    let (all, end) = names("/v1/tools");
    assert_eq!(end, Value::Null);
    let mut paged = Vec::new();
    let mut path = "/v1/tools?limit=4".to_owned();
    loop {
        let (page, cursor) = names(&path);
        paged.extend(page);
        let Some(cursor) = cursor.as_str() else { break };
        path = format!("/v1/tools?limit=4&cursor={cursor}");
    }
    assert_eq!(paged, all);
    // What fits best comes first; a source that it is not of leaves nothing.
    assert_eq!(names("/v1/tools?q=arithmetic%20expression").0[0], "calculate");
    assert_eq!(names("/v1/tools?q=arithmetic&source=nobody").0, Vec::<Value>::new());
    assert_eq!(names("/v1/tools?source=nobody").0, Vec::<Value>::new());
    let lost = serving.ask("GET", "/v1/tools?cursor=nothing", "").problem();
    assert_eq!(lost, "404 unknown-cursor");
    for path in ["limit=0", "limit=x", "limit=1001"] {
        let problem = serving.ask("GET", &format!("/v1/tools?{path}"), "").problem();
        assert_eq!(problem, "400 invalid-query", "{path}");
    }
    let tool = serving.ask("GET", "/v1/tools/calculate", "").json();
    assert_eq!(tool["input"]["required"], json!(["expression"]));
    assert_eq!(serving.ask("GET", "/v1/tools/nothing", "").problem(), "404 unknown-tool");
}

#[test]
fn the_calls_of_each_model_api_come_back_in_its_shape() {
    let serving = Serving::start(&[]);
    let cases = [
        (
            "openai-chat",
            json!({ "role": "assistant", "tool_calls": [{ "id": "c1", "type": "function",
                "function": { "name": "calculate", "arguments": "{\"expression\":\"6*7\"}" } }] }),
        ),
        (
            "openai-responses",
            json!([{ "type": "function_call", "call_id": "c1", "name": "calculate",
                "arguments": "{\"expression\":\"6*7\"}" }]),
        ),
        (
            "anthropic",
            json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "c1",
                "name": "calculate", "input": { "expression": "6*7" } }] }),
        ),
        (
            "gemini",
            json!({ "role": "model", "parts": [{ "functionCall": { "id": "c1",
                "name": "calculate", "args": { "expression": "6*7" } } }] }),
        ),
    ];
    for (dialect, calls) in cases {
        let body = json!({ "dialect": dialect, "choices": ["calculate"] });
        let plan = serving.ask("POST", "/v1/plan", &body.to_string()).json();
        assert_eq!(
            (&plan["visible"], &plan["forced"]),
            (&json!(["calculate"]), &json!(["calculate"]))
        );
        let body = json!({ "plan": plan["plan"], "dialect": dialect, "calls": calls });
        let answer = serving.call(&body);
        assert_eq!(answer["responses"][0]["id"], "c1", "{dialect}");
        assert_eq!(answer["responses"][0]["structured"]["result"], "42", "{dialect}");
        assert!(answer["messages"].to_string().contains("42"), "{dialect}: {answer}");
    }
    let both = |plan: &Value| json!({ "plan": plan, "profile": "q", "calls": [] });
    assert_eq!(with(&serving, &[], &both(&json!("p"))).problem(), "404 unknown-plan");
    let made = serving.ask("POST", "/v1/plan", "{}").json();
    assert_eq!(with(&serving, &[], &both(&made["plan"])).problem(), "409 other-profile");
    let error = json!({ "dialect": "openai-chat", "calls": { "error": { "message": "no" } } });
    assert_eq!(with(&serving, &[], &error).problem(), "422 not-a-reply");
    let plain = serving.call(&json!({ "calls": [{ "name": "nothing" }, { "name": "time_now" }] }));
    assert_eq!(plain["responses"][0]["error"], true);
    assert_eq!(plain["responses"][1]["outcome"], "done");
    let body = json!({ "choices": ["nothing"] }).to_string();
    assert_eq!(serving.ask("POST", "/v1/plan", &body).problem(), "409 nothing-left");
}

#[test]
fn a_key_runs_once_and_answers_again() {
    let serving = Serving::start(&[]);
    let body = json!({ "calls": [{ "name": "uuid_new" }] });
    let first = with(&serving, &["Idempotency-Key: a"], &body);
    let again = with(&serving, &["Idempotency-Key: a"], &body);
    assert_eq!((first.status, &first.body), (200, &again.body));
    assert!(again.head.contains("idempotency-replayed: true"), "{again:?}");
    let other = json!({ "calls": [] });
    assert_eq!(with(&serving, &["Idempotency-Key: a"], &other).problem(), "409 key-conflict");
    let long = format!("Idempotency-Key: {}", "k".repeat(256));
    assert_eq!(with(&serving, &[&long], &body).problem(), "400 bad-request");
    assert_eq!(with(&serving, &[&long[..long.len() - 1]], &body).status, 200);
    // What cannot run takes no key.
    let wrong = json!({ "calls": 1 });
    assert_eq!(with(&serving, &["Idempotency-Key: b"], &wrong).problem(), "422 invalid-body");
    assert_eq!(with(&serving, &["Idempotency-Key: b"], &body).status, 200);
}

#[test]
fn a_stream_ends_with_the_whole_answer() {
    let serving = Serving::start(&[]);
    let body = json!({ "calls": [{ "id": "1", "name": "calculate",
        "arguments": { "expression": "1+1" } }] });
    let answer = with(&serving, &["Accept: text/event-stream"], &body);
    let events = events(&answer);
    let names: Vec<_> = events.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["started", "done"]);
    // Who takes either has an answer that needs no reading of events.
    let either = ["Accept: application/json, text/event-stream"];
    assert_eq!(with(&serving, &either, &body).json()["responses"][0]["id"], "1");
    assert_eq!(events[1].1["responses"][0]["structured"]["result"], "2");
    assert_eq!(events[0].1["id"], events[1].1["id"]);
}

/// A server whose `write_note` is asked about, and whose result is large.
fn asking() -> Serving {
    let folder = Folder::new();
    folder.write(
        "crib.toml",
        "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n\
         [profile.careful]\nask = [\"calculate\"]\ndeny = [\"uuid_new\"]\n",
    );
    Serving::start_in(folder, &[])
}

#[test]
fn a_call_that_is_asked_about_waits_for_one_decision() {
    let serving = asking();
    let other = serving.token_of("other");
    let body = json!({ "profile": "careful", "calls": [{ "id": "x", "name": "calculate",
        "arguments": { "expression": "6*7" } }] });
    let ticket = || {
        let answer = serving.call(&body);
        assert_eq!(
            (&answer["turn"], &answer["responses"][0]["outcome"]),
            (&json!("waiting"), &json!("pending"))
        );
        format!("/v1/tickets/{}", answer["tickets"][0]["ticket"].as_str().unwrap())
    };
    let (first, second) = (ticket(), ticket());
    let open = serving.ask("GET", "/v1/tickets", "").json();
    assert_eq!(open["tickets"].as_array().unwrap().len(), 2);
    assert_eq!(open["tickets"][0]["arguments"], json!({ "expression": "6*7" }));
    let none = serving.ask_as(&other, "GET", "/v1/tickets", "").json();
    assert_eq!(none, json!({ "tickets": [] }));
    let approve = r#"{"decision": "approve", "profile": "careful"}"#;
    let of_other = serving.ask_as(&other, "POST", &first, approve);
    assert_eq!(of_other.problem(), "404 unknown-ticket");
    let done = serving.ask("POST", &first, approve).json();
    assert_eq!(done["response"]["structured"]["result"], "42");
    let again = serving.ask("POST", &first, approve).problem();
    assert!(again.starts_with("409") || again.starts_with("404"), "{again}");
    let deny = r#"{"decision": "deny", "reason": "not today"}"#;
    let denied = serving.ask("POST", &second, deny).json();
    assert_eq!(denied["response"]["outcome"], "denied");
    assert_eq!(
        serving.ask("POST", &second, r#"{"decision": "maybe"}"#).problem(),
        "422 invalid-body"
    );
}

#[test]
fn what_a_profile_denies_is_as_if_it_were_not_there() {
    let serving = asking();
    let other = serving.token_of("other");
    let get = |path: &str| serving.ask_as(&other, "GET", path, "");
    let listed = get("/v1/tools?profile=careful").body;
    assert!(!listed.contains("uuid_new") && listed.contains("calculate"), "{listed}");
    let shape = |name: &str, path: &str| {
        let Answer { status, body, .. } = get(&path.replace("NAME", name));
        (status, body.replace(name, "NAME"))
    };
    for path in ["/v1/tools/NAME?profile=careful", "/v1/why/NAME?profile=careful"] {
        assert_eq!(shape("uuid_new", path), shape("nothing_at_all", path), "{path}");
    }
    let plan = json!({ "profile": "careful", "why": true, "dialect": "anthropic" }).to_string();
    let plan = serving.ask_as(&other, "POST", "/v1/plan", &plan).body;
    assert!(!plan.contains("uuid_new"), "{plan}");
    let call = |name: &str| {
        let body = json!({ "profile": "careful", "calls": [{ "id": "1", "name": name }] });
        let answer = serving.ask_as(&other, "POST", "/v1/calls", &body.to_string()).json();
        answer["responses"][0]["text"].as_str().unwrap().replace(name, "NAME")
    };
    assert_eq!(call("uuid_new"), call("nothing_at_all"));
    assert_eq!(get("/v1/tools?profile=none").problem(), "404 unknown-profile");
    // The operator is told why.
    let why = serving.ask("GET", "/v1/why/uuid_new?profile=careful", "").json();
    assert_eq!(why["rule"], "denied");
    assert!(eventually(|| serving.ask("GET", "/readyz", "").status == 200));
}
