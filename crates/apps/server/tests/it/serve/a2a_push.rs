//! Who asked to be told of a task is told, wherever that may be, and nobody waits for them.

pub(super) mod receiver;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::a2a::{asks, over, says};
use super::agents::{ALL, serving};
use super::agui::{ASKS, DESK, makes_a_task};
use super::support::{Serving, eventually};
use crate::keep::killed;
use receiver::{Receiver, status};

pub(super) const OPEN: &str = "[server]\npush_private = [\"127.0.0.1\"]\n";
const STORE: &str = "[store]\nurl = \"sqlite://crib.db\"\n";
const DONE: &str = "TASK_STATE_COMPLETED";
const ASKED: &str = "TASK_STATE_INPUT_REQUIRED";

fn counting() -> ScriptedModel {
    let calls = vec![("text_count".to_owned(), json!({ "text": "a b" }))];
    let counts = ScriptedTurn::Calls("I count.".to_owned(), calls);
    ScriptedModel::of([counts, ScriptedTurn::says("Two words.")]).unwrap()
}

/// Sends a message that has its task told to a configuration.
fn sends(serving: &Serving, config: &Value) -> Value {
    let configuration = json!({ "taskPushNotificationConfig": config });
    let params = json!({ "message": says("Go on."), "configuration": configuration });
    asks(serving, "SendMessage", &params)
}

fn states(told: &[Value]) -> Vec<&Value> {
    let states = told.iter().map(|event| &event["statusUpdate"]["status"]["state"]);
    states.filter(|state| !state.is_null()).collect()
}

#[test]
fn whoever_is_named_in_a_message_is_told_of_the_task_in_order_and_to_its_end() {
    let receiver = Receiver::taking();
    let model = counting();
    let serving = serving(&model, &format!("{ALL}\n{OPEN}"));
    let config = json!({
        "id": "mine", "url": receiver.url(), "token": "a word",
        "authentication": { "scheme": "Bearer", "credentials": "open-sesame" },
    });
    let sent = sends(&serving, &config);
    let task = &sent["result"]["task"];
    assert_eq!(task["status"]["state"], DONE, "{sent}");
    let came = receiver.until(DONE);
    for notified in &came {
        assert!(notified.head.starts_with("post /hook http/1.1\r\n"), "{}", notified.head);
        for line in [
            "authorization: bearer open-sesame",
            "x-a2a-notification-token: a word",
            "a2a-notification-token: a word",
            "content-type: application/a2a+json",
        ] {
            assert!(notified.head.contains(&format!("\r\n{line}\r\n")), "{}", notified.head);
        }
    }
    let told = receiver.bodies();
    let inner = |event: &Value| event.as_object().unwrap().values().next().unwrap().clone();
    let sequences: Vec<_> =
        told.iter().map(|event| inner(event)["metadata"]["sequence"].as_u64().unwrap()).collect();
    assert!(sequences.is_sorted_by(|one, next| one < next), "{sequences:?}");
    assert!(told.iter().all(|event| inner(event)["taskId"] == task["id"]), "{told:?}");
    assert_eq!(states(&told).first(), Some(&&json!("TASK_STATE_WORKING")), "{told:?}");
    let answer = told.iter().rev().find_map(|event| event.get("artifactUpdate")).unwrap();
    let words = answer["artifact"]["parts"][0]["text"].as_str().unwrap();
    assert!(words.ends_with("Two words."), "{told:?}");
    let shown = json!({ "taskId": task["id"], "id": "mine" });
    let shown = asks(&serving, "GetTaskPushNotificationConfig", &shown)["result"].clone();
    let mut wanted = config;
    wanted["taskId"] = task["id"].clone();
    assert_eq!(shown, wanted);
}

#[test]
fn clients_of_0_3_are_sent_the_whole_task() {
    let receiver = Receiver::taking();
    let model = counting();
    let serving = serving(&model, &format!("{ALL}\n{OPEN}"));
    let message = json!({
        "kind": "message", "messageId": "m1", "role": "user",
        "parts": [{ "kind": "text", "text": "Count." }],
    });
    let config = json!({ "url": receiver.url(), "token": "word" });
    let params =
        json!({ "message": message, "configuration": { "pushNotificationConfig": config } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params });
    let sent = over(&serving, "POST", "/a2a/default", None, &call.to_string()).json();
    let came = receiver.until("completed");
    assert!(came.iter().all(|it| it.head.contains("\r\ncontent-type: application/json\r\n")));
    let told = receiver.bodies();
    assert!(told.iter().all(|task| task["kind"] == "task"), "{told:?}");
    assert_eq!(told.first().unwrap()["status"]["state"], "working", "{told:?}");
    assert_eq!(*told.last().unwrap(), sent["result"]);
}

#[test]
fn configurations_are_made_shown_listed_and_deleted_in_the_words_of_each_version() {
    let model = ScriptedModel::of([ScriptedTurn::says("Done.")]).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{OPEN}"));
    let sent = asks(&serving, "SendMessage", &json!({ "message": says("Hello.") }));
    let task = sent["result"]["task"]["id"].as_str().unwrap();
    let place = format!("/a2a/assistant/tasks/{task}/pushNotificationConfigs");
    let url = "https://a.example/hook";
    let made = over(&serving, "POST", &place, Some("1.0"), &json!({ "url": url }).to_string());
    let made = made.json();
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!(made, json!({ "taskId": task, "id": id, "url": url }));
    let params = json!({ "taskId": task, "id": "b", "url": url });
    assert_eq!(asks(&serving, "CreateTaskPushNotificationConfig", &params)["result"], params);
    let old = |method: &str, params: Value| {
        let method = format!("tasks/pushNotificationConfig/{method}");
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        over(&serving, "POST", "/a2a/default", None, &call.to_string()).json()["result"].clone()
    };
    let inner = json!({ "id": "c", "url": url, "authentication": { "schemes": ["Bearer"] } });
    let outer = json!({ "taskId": task, "pushNotificationConfig": inner });
    assert_eq!(old("set", outer.clone()), outer);
    assert_eq!(old("get", json!({ "id": task, "pushNotificationConfigId": "c" })), outer);
    assert_eq!(old("list", json!({ "id": task })).as_array().unwrap().len(), 3);
    let old_place = format!("/a2a/assistant/v1/tasks/{task}/pushNotificationConfigs");
    let proto = over(&serving, "GET", &format!("{old_place}/c"), None, "").json();
    let name = format!("tasks/{task}/pushNotificationConfigs/c");
    assert_eq!(proto, json!({ "name": name, "pushNotificationConfig": inner }));
    let all = over(&serving, "GET", &old_place, None, "").json();
    assert_eq!(all["configs"].as_array().unwrap().len(), 3, "{all}");
    let page =
        |query: &str| over(&serving, "GET", &format!("{place}?{query}"), Some("1.0"), "").json();
    let first = page("pageSize=2");
    let token = first["nextPageToken"].as_str().unwrap();
    let second = page(&format!("pageSize=2&pageToken={token}"));
    let ids = |page: &Value| -> Vec<Value> {
        page["configs"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect()
    };
    let mut wanted = vec![json!(id), json!("b"), json!("c")];
    wanted.sort_by_key(ToString::to_string);
    assert_eq!([ids(&first), ids(&second)].concat(), wanted);
    assert_eq!(
        (first["configs"].as_array().unwrap().len(), &second["nextPageToken"]),
        (2, &json!(""))
    );
    // Deleted once or twice: it is gone.
    for _ in 0..2 {
        let gone = over(&serving, "DELETE", &format!("{place}/b"), Some("1.0"), "");
        assert_eq!((gone.status, gone.json()), (200, json!({})));
        assert_eq!(
            old("delete", json!({ "id": task, "pushNotificationConfigId": "c" })),
            Value::Null
        );
    }
    let missing = over(&serving, "GET", &format!("{place}/b"), Some("1.0"), "");
    let reason = &missing.json()["error"]["details"][0]["reason"];
    assert_eq!((missing.status, reason), (404, &json!("TASK_NOT_FOUND")));
    assert_eq!(ids(&page("")), [json!(id)]);
}

#[test]
fn a_task_has_ten_configurations_of_which_each_can_be_replaced() {
    let model = ScriptedModel::of([ScriptedTurn::says("Done.")]).unwrap();
    let serving = serving(&model, ALL);
    let sent = asks(&serving, "SendMessage", &json!({ "message": says("Hello.") }));
    let task = sent["result"]["task"]["id"].as_str().unwrap();
    let place = format!("/a2a/assistant/tasks/{task}/pushNotificationConfigs");
    let url = "https://a.example/hook";
    // The eleventh is one too many, and takes the place of none.
    let status_of = |id: usize| {
        let body = json!({ "id": id.to_string(), "url": url }).to_string();
        over(&serving, "POST", &place, Some("1.0"), &body).status
    };
    assert_eq!(
        (1..=11).map(status_of).collect::<Vec<_>>(),
        [[200; 10].as_slice(), &[400]].concat()
    );
    assert_eq!(status_of(3), 200);
}

#[test]
fn a_configuration_is_not_there_for_another_caller() {
    let model = ScriptedModel::of([ScriptedTurn::says("Mine.")]).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{OPEN}"));
    let sent = asks(&serving, "SendMessage", &json!({ "message": says("Hello.") }));
    let task = sent["result"]["task"]["id"].as_str().unwrap();
    let config = json!({ "taskId": task, "id": "c", "url": "https://a.example/" });
    asks(&serving, "CreateTaskPushNotificationConfig", &config);
    let other = serving.token_of("other");
    for (method, end) in [("GET", ""), ("GET", "/c"), ("DELETE", "/c")] {
        let told = [task, "00000000000000000000000000000000"].map(|task| {
            let path =
                format!("/a2a/assistant/tasks/{task}/pushNotificationConfigs{end}?A2A-Version=1.0");
            let answer = serving.ask_as(&other, method, &path, "");
            (answer.status, answer.json()["error"]["details"][0]["reason"].clone())
        });
        assert_eq!(told, [(404, json!("TASK_NOT_FOUND")), (404, json!("TASK_NOT_FOUND"))]);
    }
    let shown = json!({ "taskId": task, "id": "c" });
    let shown = asks(&serving, "GetTaskPushNotificationConfig", &shown);
    assert_eq!(shown["result"]["url"], "https://a.example/", "{shown}");
}

#[test]
fn addresses_inside_are_refused_with_the_cause_before_anything_begins() {
    let model = ScriptedModel::of([ScriptedTurn::says("Never.")]).unwrap();
    let serving = serving(&model, ALL);
    let refused = |url: &str| {
        let sent = sends(&serving, &json!({ "url": url }));
        assert_eq!(sent["error"]["code"], -32602, "{sent}");
        sent["error"]["message"].as_str().unwrap().to_owned()
    };
    for inside in [
        "http://127.0.0.1:9000/",
        "http://[::1]/",
        "http://169.254.169.254/latest/meta-data",
        "https://10.1.2.3/",
        "http://localhost/",
        "https://metadata.google.internal/",
        "https://name:word@a.example/",
        "ftp://a.example/",
        "file:///etc/passwd",
        "no address",
    ] {
        let told = refused(inside);
        assert!(told.starts_with("`url` cannot be notified: "), "{inside}: {told}");
    }
    let told = refused("http://127.0.0.1:9000/");
    assert!(told.contains("not a public address") && told.contains("push_private"), "{told}");
    assert_eq!(model.asked().len(), 0);
}

#[test]
fn a_name_that_leads_inside_and_a_redirect_are_followed_nowhere() {
    let inner = Receiver::taking();
    let there = inner.url();
    let moved = Receiver::answering(move |_| {
        let location = format!("Location: {there}\r\n");
        Some(format!("HTTP/1.1 307 Moved\r\n{location}Content-Length: 0\r\n\r\n"))
    });
    let turns = ["One.", "Two."].map(ScriptedTurn::says);
    let model = ScriptedModel::of(turns).unwrap();
    // One network is open, so that names are judged by where they lead: this one is not in it.
    let open = format!("[server]\npush_private = [\"127.0.0.1:{}\", \"10.0.0.0/8\"]\n", moved.port);
    let serving = serving(&model, &format!("{ALL}\n{open}"));
    let url = format!("http://localhost:{}/secret-path", inner.port);
    assert_eq!(sends(&serving, &json!({ "url": url }))["result"]["task"]["status"]["state"], DONE);
    serving.hears("nothing more is sent");
    let message = json!({ "messageId": "m2", "role": "ROLE_USER", "parts": [{ "text": "And?" }] });
    let configuration = json!({ "taskPushNotificationConfig": { "url": moved.url() } });
    let params = json!({ "message": message, "configuration": configuration });
    assert_eq!(asks(&serving, "SendMessage", &params)["result"]["task"]["status"]["state"], DONE);
    serving.hears("the receiver answered 307");
    assert_eq!((moved.came().len(), inner.came().len()), (1, 0));
}

#[test]
fn one_that_fails_is_tried_again_and_one_that_hangs_keeps_nobody() {
    let failing = Receiver::answering(|number| {
        Some(status(if number < 2 { "503 Service Unavailable" } else { "200 OK" }))
    });
    let hanging = Receiver::answering(|_| None);
    let turns = ["One.", "Two."].map(ScriptedTurn::says);
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{OPEN}"));
    let begun = Instant::now();
    let sent = sends(&serving, &json!({ "url": hanging.url() }));
    assert_eq!(sent["result"]["task"]["status"]["state"], DONE, "{sent}");
    assert!(eventually(|| !hanging.came().is_empty()));
    let message = json!({ "messageId": "m2", "role": "ROLE_USER", "parts": [{ "text": "And?" }] });
    let configuration = json!({ "taskPushNotificationConfig": { "url": failing.url() } });
    let params = json!({ "message": message, "configuration": configuration });
    let sent = asks(&serving, "SendMessage", &params);
    assert_eq!(sent["result"]["task"]["status"]["state"], DONE, "{sent}");
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    failing.until(DONE);
    let told = failing.bodies();
    assert_eq!((&told[0], &told[1]), (&told[1], &told[2]), "it is the same one again");
    assert_eq!(hanging.came().len(), 1);
}

#[test]
fn a_task_that_waits_is_told_over_a_restart_and_to_its_end() {
    let receiver = Receiver::taking();
    let model = ScriptedModel::of([makes_a_task(), ScriptedTurn::says("It is there.")]).unwrap();
    let serving = serving(&model, &format!("{ASKS}{STORE}{OPEN}{DESK}"));
    let sent = sends(&serving, &json!({ "id": "c", "url": receiver.url(), "token": "word" }));
    let task = sent["result"]["task"].clone();
    assert_eq!(task["status"]["state"], ASKED, "{sent}");
    let before = receiver.until(ASKED).len();
    let serving = killed(serving);
    // The one who goes on says first how it stands.
    assert!(eventually(|| receiver.came().len() > before));
    let first = receiver.bodies()[before]["task"].clone();
    assert_eq!((&first["id"], &first["status"]["state"]), (&task["id"], &json!(ASKED)));
    let yes = json!({ "message": {
        "messageId": "m2", "role": "ROLE_USER", "taskId": task["id"], "parts": [{ "text": "yes" }],
    } });
    let done = asks(&serving, "SendMessage", &yes);
    assert_eq!(done["result"]["task"]["status"]["state"], DONE, "{done}");
    let came = receiver.until(DONE);
    assert!(came.iter().all(|it| it.head.contains("\r\nx-a2a-notification-token: word\r\n")));
    let told = receiver.bodies();
    assert_eq!(states(&told[before..]), [&json!("TASK_STATE_WORKING"), &json!(DONE)], "{told:?}");
}

#[test]
fn whoever_is_deleted_is_told_nothing_more() {
    let receiver = Receiver::taking();
    let model = ScriptedModel::of([makes_a_task(), ScriptedTurn::says("It is there.")]).unwrap();
    let serving = serving(&model, &format!("{ASKS}{OPEN}{DESK}"));
    let sent = sends(&serving, &json!({ "id": "c", "url": receiver.url() }));
    let task = sent["result"]["task"]["id"].clone();
    let before = receiver.until(ASKED).len();
    let late = Receiver::taking();
    let params = json!({ "taskId": task, "id": "late", "url": late.url() });
    asks(&serving, "CreateTaskPushNotificationConfig", &params);
    asks(&serving, "DeleteTaskPushNotificationConfig", &json!({ "taskId": task, "id": "c" }));
    let yes = json!({ "message": {
        "messageId": "m2", "role": "ROLE_USER", "taskId": task, "parts": [{ "text": "yes" }],
    } });
    asks(&serving, "SendMessage", &yes);
    // The one who came late is told what came since.
    late.until(DONE);
    let told = late.bodies();
    assert_eq!(states(&told), [&json!("TASK_STATE_WORKING"), &json!(DONE)], "{told:?}");
    assert_eq!(receiver.came().len(), before);
}

#[test]
fn where_there_is_no_run_the_card_offers_none_and_a_configuration_is_refused() {
    let model = ScriptedModel::of([]).unwrap();
    let profile = "[profile.desk]\nallow = [\"*\"]\n";
    let serving = serving(&model, &format!("{ALL}\n{OPEN}{profile}"));
    let offers = |place: &str| {
        let path = format!("/a2a/{place}/extendedAgentCard");
        over(&serving, "GET", &path, Some("1.0"), "").json()["capabilities"]["pushNotifications"]
            .clone()
    };
    assert_eq!([offers("assistant"), offers("profile:desk")], [json!(true), json!(false)]);
    let path = "/a2a/profile:desk/tasks/x/pushNotificationConfigs";
    let refused = over(&serving, "GET", path, Some("1.0"), "");
    let reason = &refused.json()["error"]["details"][0]["reason"];
    assert_eq!((refused.status, reason), (400, &json!("PUSH_NOTIFICATION_NOT_SUPPORTED")));
}

#[test]
fn a_message_that_comes_again_is_answered_with_the_task_that_it_began() {
    let turns = ["One.", "Two.", "Three."].map(ScriptedTurn::says);
    let slow = turns.map(|turn| ScriptedTurn::Waits(Duration::from_millis(200), turn.into()));
    let model = ScriptedModel::of(slow).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{STORE}"));
    let message = |id: &str, text: &str| {
        json!({ "messageId": id, "role": "ROLE_USER", "contextId": "mine",
                "parts": [{ "text": text }] })
    };
    let send = |serving: &Serving, message: &Value| {
        asks(serving, "SendMessage", &json!({ "message": message }))["result"]["task"].clone()
    };
    // At once, one after the other, and after a restart.
    let first = message("m1", "Hello.");
    let tasks: Vec<_> = std::thread::scope(|scope| {
        let sending: Vec<_> = (0..3).map(|_| scope.spawn(|| send(&serving, &first))).collect();
        sending.into_iter().map(|sending| sending.join().unwrap()).collect()
    });
    let task = &tasks[0];
    assert_eq!(task["status"]["state"], DONE, "{task}");
    assert!(tasks.iter().all(|other| other == task), "{tasks:?}");
    assert_eq!(send(&serving, &first), *task);
    let serving = killed(serving);
    assert_eq!(send(&serving, &first), *task);
    assert_eq!(model.asked().len(), 1);
    // Another one of the same name, and the same of another caller, are others.
    let other = send(&serving, &message("m1", "Hello again."));
    assert_eq!(other["artifacts"][0]["parts"][0]["text"], "Two.", "{other}");
    let stranger = serving.token_of("other");
    let body = json!({ "message": first }).to_string();
    let path = "/a2a/assistant/message:send?A2A-Version=1.0";
    let theirs = serving.ask_as(&stranger, "POST", path, &body).json()["task"].clone();
    assert_eq!(theirs["artifacts"][0]["parts"][0]["text"], "Three.", "{theirs}");
}
