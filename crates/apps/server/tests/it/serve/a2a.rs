//! An agent as clients of A2A ask for it, over both bindings and in both versions.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, serving};
use super::support::{Answer, Serving, bearer, head, read};
use crate::keep::killed;

const STORE: &str = "[store]\nurl = \"sqlite://crib.db\"\n";

/// A request of JSON-RPC, in 1.0.
pub(super) fn asks(serving: &Serving, method: &str, params: &Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": "q1", "method": method, "params": params });
    let answer = over(serving, "POST", "/a2a/default", Some("1.0"), &body.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    let told = answer.json();
    assert_eq!(told["id"], "q1", "{told}");
    told
}

pub(super) fn over(
    serving: &Serving,
    method: &str,
    path: &str,
    version: Option<&str>,
    body: &str,
) -> Answer {
    let version = version.map(|version| format!("A2A-Version: {version}"));
    let token = bearer(&serving.token);
    let mut lines = vec![token.as_str(), "Content-Type: application/json"];
    lines.extend(version.as_deref());
    serving.send(&head(method, path, serving, &lines), body)
}

pub(super) fn says(text: &str) -> Value {
    json!({ "messageId": "m1", "role": "ROLE_USER", "parts": [{ "text": text }] })
}

/// The data of a stream, each with the sequence that its line says.
pub(super) fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|event| serde_json::from_str(event).unwrap()).collect()
}

fn counts() -> ScriptedTurn {
    ScriptedTurn::Calls(
        "I count.".to_owned(),
        vec![("text_count".to_owned(), json!({ "text": "a b" }))],
    )
}

fn counting() -> ScriptedModel {
    ScriptedModel::of([counts(), ScriptedTurn::says("Two words.")]).unwrap()
}

#[test]
fn a_message_is_answered_with_a_task_that_is_kept_over_a_restart() {
    let model = counting();
    let serving = serving(&model, &format!("{ALL}\n{STORE}"));
    let sent = asks(&serving, "SendMessage", &json!({ "message": says("Count `a b`.") }));
    let task = sent["result"]["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{sent}");
    let said = task["artifacts"][0]["parts"][0]["text"].as_str().unwrap();
    assert!(said.ends_with("Two words."), "{sent}");
    assert_eq!(task["history"][0]["parts"], json!([{ "text": "Count `a b`." }]), "{sent}");
    assert_eq!(task["history"][0]["role"], "ROLE_USER");
    let serving = killed(serving);
    let id = task["id"].as_str().unwrap();
    let found = asks(&serving, "GetTask", &json!({ "id": id }));
    assert_eq!(found["result"], task, "{found}");
    let bare = asks(&serving, "GetTask", &json!({ "id": id, "historyLength": 0 }));
    assert!(bare["result"].get("history").is_none(), "{bare}");
    // The run is the one that every other door shows.
    let run = serving.ask("GET", &format!("/v1/runs/{id}"), "").json();
    assert_eq!((&run["thread"], &run["state"]), (&task["contextId"], &json!("ended")));
}

#[test]
fn a_stream_begins_with_the_task_and_its_events_go_on_from_any_sequence() {
    let model = counting();
    let serving = serving(&model, ALL);
    let body = json!({ "message": says("Count `a b`.") }).to_string();
    let answer = over(&serving, "POST", "/a2a/assistant/message:stream", Some("1.0"), &body);
    let told = events(&answer);
    let id = told[0]["task"]["id"].as_str().unwrap().to_owned();
    let last = &told.last().unwrap()["statusUpdate"];
    assert_eq!(last["status"]["state"], "TASK_STATE_COMPLETED", "{told:?}");
    let sequence = |event: &Value| {
        let inner = event.as_object().unwrap().values().next().unwrap();
        inner["metadata"]["sequence"].as_u64().unwrap()
    };
    let sequences: Vec<_> = told.iter().map(sequence).collect();
    assert!(sequences.is_sorted_by(|one, next| one < next), "{sequences:?}");
    let texts = told.iter().filter_map(|event| event["artifactUpdate"].as_object());
    let mut said = String::new();
    for update in texts {
        if update["append"] == false {
            said.clear();
        }
        said += update["artifact"]["parts"][0]["text"].as_str().unwrap();
    }
    assert!(said.ends_with("Two words."), "{said}");
    // Each place of a break is gone on from, once by its header and once by its query.
    for (place, known) in sequences.iter().enumerate().skip(1) {
        let path = format!("/a2a/assistant/tasks/{id}:subscribe?after={known}");
        let rest = events(&over(&serving, "GET", &path, Some("1.0"), ""));
        assert_eq!(sequence(&rest[0]), *known, "{rest:?}");
        assert_eq!(rest[1..], told[place + 1..], "after {known}");
    }
    let ended =
        over(&serving, "GET", &format!("/a2a/assistant/tasks/{id}:subscribe"), Some("1.0"), "");
    assert_eq!(ended.status, 400, "{ended:?}");
    assert_eq!(ended.json()["error"]["details"][0]["reason"], "UNSUPPORTED_OPERATION");
}

#[test]
fn clients_of_0_3_are_answered_in_its_words_over_both_bindings() {
    let model =
        ScriptedModel::of([ScriptedTurn::says("One."), ScriptedTurn::says("Two.")]).unwrap();
    let serving = serving(&model, ALL);
    let message = json!({
        "kind": "message", "messageId": "m1", "role": "user",
        "parts": [{ "kind": "text", "text": "Hello." }],
    });
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": { "message": message },
    });
    let told = over(&serving, "POST", "/a2a/default", None, &call.to_string()).json();
    let task = &told["result"];
    assert_eq!((&task["kind"], &task["status"]["state"]), (&json!("task"), &json!("completed")));
    assert_eq!(
        task["artifacts"][0]["parts"],
        json!([{ "kind": "text", "text": "One." }]),
        "{told}"
    );
    let body = json!({
        "request": {
            "message_id": "m2", "role": "ROLE_USER", "content": [{ "text": "Again." }],
            "context_id": task["contextId"],
        },
        "configuration": { "blocking": true },
    });
    let path = "/a2a/assistant/v1/message:send";
    let sent = over(&serving, "POST", path, None, &body.to_string()).json();
    let second = &sent["task"];
    assert_eq!(second["status"]["state"], "TASK_STATE_COMPLETED", "{sent}");
    assert_eq!(second["contextId"], task["contextId"], "{sent}");
    // The context is one thread.
    let asked = model.asked().pop().unwrap().body["messages"].to_string();
    assert!(asked.contains("Hello.") && asked.contains("One."), "{asked}");
    let id = second["id"].as_str().unwrap();
    let found = over(&serving, "GET", &format!("/a2a/assistant/v1/tasks/{id}"), None, "").json();
    assert_eq!(found, *second);
    let mixed = over(&serving, "POST", path, Some("1.0"), &body.to_string());
    assert_eq!(mixed.status, 404, "{mixed:?}");
}

#[test]
fn tasks_are_listed_in_pages_and_by_what_they_are() {
    let turns = ["One.", "Two.", "Three."].map(ScriptedTurn::says);
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, ALL);
    let send = |text: &str| {
        let sent = asks(&serving, "SendMessage", &json!({ "message": says(text) }));
        sent["result"]["task"]["id"].as_str().unwrap().to_owned()
    };
    let ids = ["1", "2", "3"].map(send);
    let list = |query: &str| {
        let path = format!("/a2a/assistant/tasks?{query}");
        over(&serving, "GET", &path, Some("1.0"), "").json()
    };
    let named = |page: &Value| -> Vec<String> {
        let tasks = page["tasks"].as_array().unwrap().iter();
        tasks.map(|task| task["id"].as_str().unwrap().to_owned()).collect()
    };
    let first = list("pageSize=2");
    assert_eq!(named(&first), [ids[2].clone(), ids[1].clone()], "{first}");
    assert_eq!((&first["pageSize"], &first["totalSize"]), (&json!(2), &json!(3)));
    assert!(first["tasks"][0].get("artifacts").is_none(), "{first}");
    let token = first["nextPageToken"].as_str().unwrap();
    let second = list(&format!("pageSize=2&pageToken={token}&includeArtifacts=true"));
    assert_eq!((named(&second), &second["nextPageToken"]), (vec![ids[0].clone()], &json!("")));
    assert_eq!(second["tasks"][0]["artifacts"][0]["parts"][0]["text"], "One.", "{second}");
    assert_eq!(named(&list("status=TASK_STATE_FAILED")), Vec::<String>::new());
    assert_eq!(named(&list("status=TASK_STATE_COMPLETED")).len(), 3);
    let refused = |query: &str| {
        let path = format!("/a2a/assistant/tasks?{query}");
        let answer = over(&serving, "GET", &path, Some("1.0"), "");
        (answer.status, answer.json()["error"]["details"][0]["reason"].clone())
    };
    for query in ["pageSize=0", "pageSize=101", "status=x", "pageToken=x", "statusTimestampAfter=x"]
    {
        assert_eq!(refused(query), (400, json!("INVALID_PARAMS")), "{query}");
    }
}

#[test]
fn a_task_is_its_callers_alone_and_an_ended_one_is_not_cancelled() {
    let model = ScriptedModel::of([ScriptedTurn::says("Mine.")]).unwrap();
    let serving = serving(&model, ALL);
    let sent = asks(&serving, "SendMessage", &json!({ "message": says("Hello.") }));
    let id = sent["result"]["task"]["id"].as_str().unwrap().to_owned();
    let code =
        |method: &str, params: Value| asks(&serving, method, &params)["error"]["code"].clone();
    assert_eq!(code("CancelTask", json!({ "id": id })), -32002);
    let more =
        json!({ "messageId": "m", "role": "ROLE_USER", "taskId": id, "parts": [{ "text": "x" }] });
    assert_eq!(code("SendMessage", json!({ "message": more })), -32004);
    assert_eq!(code("SubscribeToTask", json!({ "id": id })), -32004);
    let other = serving.token_of("other");
    let lines = [bearer(&other), "A2A-Version: 1.0".to_owned()];
    let lines = lines.each_ref().map(String::as_str);
    let stranger =
        |method: &str, path: &str| serving.send(&head(method, path, &serving, &lines), "");
    let missing = "/a2a/assistant/tasks/00000000-0000-0000-0000-000000000000";
    let own = format!("/a2a/assistant/tasks/{id}");
    for (method, verb) in [("GET", ""), ("GET", ":subscribe"), ("POST", ":cancel")] {
        let answers = [&own, missing].map(|path| {
            let answer = stranger(method, &format!("{path}{verb}"));
            (answer.status, answer.json()["error"]["details"][0]["reason"].clone())
        });
        assert_eq!(answers, [(404, json!("TASK_NOT_FOUND")), (404, json!("TASK_NOT_FOUND"))]);
    }
    assert_eq!(stranger("GET", "/a2a/assistant/tasks").json()["totalSize"], 0);
}

#[test]
fn a_task_that_works_is_cancelled_and_said_so() {
    let slow =
        ScriptedTurn::Waits(std::time::Duration::from_mins(1), ScriptedTurn::says("x").into());
    let model = ScriptedModel::of([slow]).unwrap();
    let serving = serving(&model, ALL);
    let at_once = json!({
        "message": says("Hello."), "configuration": { "returnImmediately": true },
    });
    let sent = asks(&serving, "SendMessage", &at_once);
    let task = &sent["result"]["task"];
    let state = task["status"]["state"].as_str().unwrap();
    assert!(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].contains(&state), "{sent}");
    let more = json!({
        "messageId": "m2", "role": "ROLE_USER", "contextId": task["contextId"],
        "parts": [{ "text": "And?" }],
    });
    let busy = asks(&serving, "SendMessage", &json!({ "message": more }));
    assert_eq!(busy["error"]["code"], -32004, "{busy}");
    let ended = asks(&serving, "CancelTask", &json!({ "id": task["id"] }));
    assert_eq!(ended["result"]["status"]["state"], "TASK_STATE_CANCELED", "{ended}");
}

#[test]
fn what_is_wrong_is_told_in_the_words_of_the_protocol() {
    let model = ScriptedModel::of([]).unwrap();
    let serving = serving(&model, ALL);
    let sent = |version: Option<&str>, body: &str| {
        let told = over(&serving, "POST", "/a2a/default", version, body);
        assert_eq!(told.status, 200, "{told:?}");
        told.json()["error"]["code"].clone()
    };
    assert_eq!(sent(Some("1.0"), "{this is not valid json"), -32700);
    assert_eq!(sent(Some("1.0"), r#"{"jsonrpc":"2.0","id":1,"params":{}}"#), -32600);
    assert_eq!(sent(Some("1.0"), r#"{"jsonrpc":"2.0","id":1,"method":"Other"}"#), -32601);
    assert_eq!(sent(Some("99.0"), r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}"#), -32009);
    let missing = asks(&serving, "GetTask", &json!({ "id": "0000" }));
    let kind = "type.googleapis.com/google.rpc.ErrorInfo";
    assert_eq!(missing["error"]["code"], -32001, "{missing}");
    assert_eq!(missing["error"]["data"][0]["@type"], kind, "{missing}");
    let lines = [bearer(&serving.token), "Content-Type: text/plain".to_owned()];
    let lines = lines.each_ref().map(String::as_str);
    let plain = |path: &str| serving.send(&head("POST", path, &serving, &lines), "{'a': 1}");
    assert_eq!(plain("/a2a/default").json()["error"]["code"], -32005);
    let by_path = plain("/a2a/default/message:send");
    assert_eq!((by_path.status, &by_path.json()["error"]["code"]), (400, &json!(400)));
    let push =
        over(&serving, "GET", "/a2a/default/tasks/x/pushNotificationConfigs", Some("1.0"), "");
    let reason = &push.json()["error"]["details"][0]["reason"];
    assert_eq!((push.status, reason), (404, &json!("TASK_NOT_FOUND")));
    let nobody = over(&serving, "POST", "/a2a/nobody", Some("1.0"), "{}");
    assert_eq!(nobody.problem(), "404 unknown-agent");
}

#[test]
fn a_card_tells_strangers_how_to_sign_in_and_callers_what_the_agent_can() {
    let model = ScriptedModel::of([]).unwrap();
    let about = "[agent.assistant]\ndescription = \"Counts.\"\n";
    let serving = serving(&model, &format!("{ALL}\n{about}"));
    let read_as =
        |lines: &[&str], path: &str| serving.send(&head("GET", path, &serving, lines), "");
    let token = bearer(&serving.token);
    let own = read_as(&[&token], "/.well-known/agent-card.json").json();
    assert_eq!((&own["name"], &own["description"]), (&json!("assistant"), &json!("Counts.")));
    let url = format!("http://{}/a2a/default", serving.address);
    let places: Vec<_> = own["supportedInterfaces"].as_array().unwrap().iter().collect();
    assert_eq!(places.len(), 4, "{own}");
    assert!(places.iter().all(|place| place["url"] == url), "{own}");
    assert_eq!((&own["url"], &own["protocolVersion"]), (&json!(url), &json!("0.3.0")));
    let skills = own["skills"].to_string();
    assert!(skills.contains("text_count"), "{own}");
    let extended =
        over(&serving, "GET", "/a2a/assistant/extendedAgentCard", Some("1.0"), "").json();
    assert_eq!(extended["skills"], own["skills"]);
    // Nobody learns from a card which agents there are.
    let [there, not] = ["assistant", "nobody"].map(|name| {
        let card = read_as(&[], &format!("/a2a/{name}/.well-known/agent-card.json"));
        assert_eq!(card.status, 200, "{card:?}");
        card.body.replace(name, "NAME")
    });
    assert_eq!(there, not);
    assert!(there.contains("httpAuthSecurityScheme") && !there.contains("text_count"), "{there}");
    let bad = read_as(&["Authorization: Bearer wrong"], "/.well-known/agent-card.json");
    assert_eq!(bad.status, 401, "{bad:?}");
}

#[test]
fn the_type_of_an_answer_by_path_is_the_one_that_its_client_names() {
    let model = ScriptedModel::of([]).unwrap();
    let serving = serving(&model, ALL);
    let kind = |accept: &str| {
        let token = bearer(&serving.token);
        let answer =
            serving.send(&head("GET", "/a2a/default/tasks", &serving, &[&token, accept]), "");
        let line = answer.head.lines().find(|line| line.starts_with("content-type")).unwrap();
        line.to_owned()
    };
    assert_eq!(kind("Accept: application/a2a+json"), "content-type: application/a2a+json");
    assert_eq!(kind("Accept: */*"), "content-type: application/json");
}

#[test]
fn a_client_that_leaves_a_stream_does_not_end_its_task() {
    use std::io::{Read, Write};
    let slow =
        ScriptedTurn::Waits(std::time::Duration::from_secs(2), ScriptedTurn::says("Here.").into());
    let model = ScriptedModel::of([slow]).unwrap();
    let serving = serving(&model, ALL);
    let body = json!({ "message": says("Hello.") }).to_string();
    let lines = [bearer(&serving.token), "Content-Type: application/json".to_owned()];
    let lines = lines.each_ref().map(String::as_str);
    let path = "/a2a/default/message:stream";
    let head = head("POST", path, &serving, &lines);
    let mut stream = serving.connect();
    write!(stream, "{head}A2A-Version: 1.0\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .unwrap();
    let mut told = String::new();
    let mut piece = [0; 1024];
    while !told.contains("data: ") {
        let count = stream.read(&mut piece).unwrap();
        told += &String::from_utf8_lossy(&piece[..count]);
    }
    drop(stream);
    assert_eq!(read(&told).status, 200);
    let list = || over(&serving, "GET", "/a2a/default/tasks", Some("1.0"), "").json();
    let state = || list()["tasks"][0]["status"]["state"].clone();
    assert!(super::support::eventually(|| state() == "TASK_STATE_COMPLETED"), "{}", list());
}

#[test]
fn a_task_that_works_when_the_server_dies_goes_on_in_the_next_one() {
    let slow =
        ScriptedTurn::Waits(std::time::Duration::from_mins(5), ScriptedTurn::says("x").into());
    let model = ScriptedModel::of([slow, ScriptedTurn::says("Here.")]).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{STORE}"));
    let at_once = json!({
        "message": says("Hello."), "configuration": { "returnImmediately": true },
    });
    let sent = asks(&serving, "SendMessage", &at_once);
    let id = sent["result"]["task"]["id"].clone();
    assert!(super::support::eventually(|| model.asked().len() == 1));
    let serving = killed(serving);
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask",
        "params": { "id": id, "metadata": { "after": 0 } },
    });
    let told = over(&serving, "POST", "/a2a/default", Some("1.0"), &body.to_string());
    let told = events(&told);
    let last = &told.last().unwrap()["result"]["statusUpdate"]["status"];
    assert_eq!(last["state"], "TASK_STATE_COMPLETED", "{told:?}");
    let found = asks(&serving, "GetTask", &json!({ "id": id }));
    assert_eq!(found["result"]["artifacts"][0]["parts"][0]["text"], "Here.", "{found}");
}
