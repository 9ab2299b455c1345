//! `/v1/conversations`, and `conversation` in a request for an answer, over a scripted model.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, serving, talking};
use super::sockets::Socket;
use super::support::{Answer, Serving, eventually};
use crate::keep::killed;

const STORE: &str = "allow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n";

/// A model that says how many messages it was given, with the last of them.
fn counting() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let all = body["messages"].as_array().cloned().unwrap_or_default();
        let of_people = all.iter().filter(|one| one["role"] != "system").count();
        let last = all.last().map(|one| one["content"].to_string()).unwrap_or_default();
        ScriptedTurn::Says(format!("{of_people}: {}", last.trim_matches('"')))
    })
    .unwrap()
}

fn made(serving: &Serving, body: &Value) -> String {
    let made = serving.ask("POST", "/v1/conversations", &body.to_string());
    assert_eq!(made.status, 200, "{made:?}");
    made.json()["id"].as_str().unwrap().to_owned()
}

fn ask(serving: &Serving, conversation: &Value, input: &str) -> Answer {
    let body = json!({ "model": "assistant", "conversation": conversation, "input": input });
    serving.ask("POST", "/v1/responses", &body.to_string())
}

/// Role and text of all items, oldest first.
fn said(serving: &Serving, id: &str) -> Vec<String> {
    let path = format!("/v1/conversations/{id}/items?order=asc&limit=100");
    let answer = serving.ask("GET", &path, "");
    assert_eq!(answer.status, 200, "{answer:?}");
    let of = |item: &Value| {
        assert!(item["id"].is_string() && item["type"].is_string(), "{item}");
        let role = item["role"].as_str().unwrap_or_else(|| item["type"].as_str().unwrap());
        format!("{role}: {}", item["content"][0]["text"].as_str().unwrap_or_default())
    };
    answer.json()["data"].as_array().unwrap().iter().map(of).collect()
}

fn user(text: &str) -> Value {
    json!({ "type": "message", "role": "user", "content": text })
}

fn error(answer: &Answer) -> (u16, String) {
    let code = answer.json()["error"]["code"].as_str().map(str::to_owned);
    (answer.status, code.unwrap_or_else(|| unreachable!("{answer:?}")))
}

#[test]
fn a_conversation_has_what_was_said_in_it_and_what_is_added() {
    let model = counting();
    let serving = serving(&model, ALL);
    let begun = json!({ "metadata": { "topic": "tea" }, "items": [user("I like green tea.")] });
    let made = serving.ask("POST", "/v1/conversations", &begun.to_string()).json();
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("conv_") && made["created_at"].as_u64().is_some(), "{made}");
    assert_eq!(
        (&made["object"], &made["metadata"]),
        (&json!("conversation"), &json!({ "topic": "tea" }))
    );
    let path = format!("/v1/conversations/{id}");
    assert_eq!(serving.ask("GET", &path, "").json(), made);
    // Both ways of naming it; the thread goes before the input, and both are added.
    let first = ask(&serving, &json!(id), "Which one?").json();
    assert_eq!(first["output"][0]["content"][0]["text"], "2: Which one?", "{first}");
    assert_eq!(first["conversation"], json!({ "id": id }));
    assert_eq!(first["previous_response_id"], Value::Null);
    let second = ask(&serving, &json!({ "id": id }), "And now?").json();
    assert_eq!(second["output"][0]["content"][0]["text"], "4: And now?", "{second}");
    let more = json!({ "items": [user("Black too."), {
        "role": "assistant", "content": "Noted.",
    }] });
    let items = format!("{path}/items");
    let added = serving.ask("POST", &items, &more.to_string()).json();
    assert_eq!((&added["object"], &added["has_more"]), (&json!("list"), &json!(false)));
    assert_eq!(added["data"][1]["content"][0]["type"], "output_text", "{added}");
    assert_eq!(added["last_id"], added["data"][1]["id"]);
    let third = ask(&serving, &json!(id), "So?").json();
    assert_eq!(third["output"][0]["content"][0]["text"], "8: So?", "{third}");
    let all = [
        "user: I like green tea.",
        "user: Which one?",
        "assistant: 2: Which one?",
        "user: And now?",
        "assistant: 4: And now?",
        "user: Black too.",
        "assistant: Noted.",
        "user: So?",
        "assistant: 8: So?",
    ];
    assert_eq!(said(&serving, id), all);
    // An answer is there by its own name too, and says nothing of others.
    let own = format!("/v1/responses/{}/input_items", third["id"].as_str().unwrap());
    assert_eq!(serving.ask("GET", &own, "").json()["data"].as_array().unwrap().len(), 1);
    // One that is asked outside of it has none.
    let body = json!({ "model": "assistant", "input": "x" });
    let alone = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    assert_eq!(alone.get("conversation"), None);
    // Edits are no runs.
    let runs = serving.ask("GET", "/v1/runs", "").json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 4, "{runs}");
    let thread = serving.ask("GET", &format!("/v1/threads/{id}"), "").json();
    assert_eq!(thread["runs"].as_array().unwrap().len(), 3, "{thread}");
    assert_eq!(thread["items"].as_array().unwrap().len(), 9, "{thread}");
}

#[test]
fn items_are_listed_in_pages_shown_and_taken_out() {
    let model = counting();
    let serving = serving(&model, ALL);
    let items: Vec<_> = ["one", "two", "three"].map(user).into();
    let id = made(&serving, &json!({ "items": items }));
    ask(&serving, &json!(id), "four");
    let path = format!("/v1/conversations/{id}/items");
    let page = |query: &str| serving.ask("GET", &format!("{path}?{query}"), "").json();
    let texts = |page: &Value| -> Vec<String> {
        let data = page["data"].as_array().unwrap_or_else(|| unreachable!("{page}"));
        data.iter().map(|item| item["content"][0]["text"].as_str().unwrap().to_owned()).collect()
    };
    let newest = page("limit=2");
    assert_eq!(
        (texts(&newest), &newest["has_more"]),
        (vec!["4: four".into(), "four".into()], &json!(true))
    );
    let rest = page(&format!("limit=3&after={}", newest["last_id"].as_str().unwrap()));
    assert_eq!(
        (texts(&rest).join(" "), &rest["has_more"]),
        ("three two one".into(), &json!(false))
    );
    let two = rest["data"][1].clone();
    let of_two = format!("{path}/{}", two["id"].as_str().unwrap());
    assert_eq!(serving.ask("GET", &of_two, "").json(), two);
    let left = serving.ask("DELETE", &of_two, "").json();
    assert_eq!((&left["id"], &left["object"]), (&json!(id), &json!("conversation")));
    assert_eq!(error(&serving.ask("GET", &of_two, "")), (404, "item_not_found".into()));
    assert_eq!(error(&serving.ask("DELETE", &of_two, "")), (404, "item_not_found".into()));
    // The model is not given it any more either.
    let next = ask(&serving, &json!(id), "five").json();
    assert_eq!(next["output"][0]["content"][0]["text"], "5: five", "{next}");
    let sent = model.asked().pop().unwrap().body["messages"].to_string();
    assert!(sent.contains("one") && !sent.contains("two"), "{sent}");
    // What was added since is in its place, and may be taken out again.
    let added = serving.ask("POST", &path, &json!({ "items": [user("six")] }).to_string()).json();
    let of_six = format!("{path}/{}", added["first_id"].as_str().unwrap());
    assert_eq!(
        serving.ask("POST", &path, &json!({ "items": [user("seven")] }).to_string()).status,
        200
    );
    assert_eq!(serving.ask("DELETE", &of_six, "").status, 200);
    let all = ["one", "three", "four", "4: four", "five", "5: five", "seven"];
    assert_eq!(texts(&page("order=asc")), all);
    for query in ["limit=0", "limit=101", "order=up", "after=nothing"] {
        assert!([400, 404].contains(&serving.ask("GET", &format!("{path}?{query}"), "").status));
    }
}

#[test]
fn what_is_said_of_a_conversation_changes_alone_and_it_goes_whole() {
    let model = counting();
    let serving = serving(&model, ALL);
    let id = made(&serving, &json!({}));
    let path = format!("/v1/conversations/{id}");
    assert_eq!(said(&serving, &id), Vec::<String>::new());
    let answer = ask(&serving, &json!(id), "Hello.").json();
    let update = json!({ "metadata": { "a": "1" } }).to_string();
    for _ in 0..3 {
        let shown = serving.ask("POST", &path, &update).json();
        assert_eq!(shown["metadata"], json!({ "a": "1" }));
    }
    // What follows knows it.
    ask(&serving, &json!(id), "Again.");
    assert_eq!(serving.ask("GET", &path, "").json()["metadata"], json!({ "a": "1" }));
    assert_eq!(said(&serving, &id).len(), 4);
    let gone = serving.ask("DELETE", &path, "").json();
    assert_eq!(gone, json!({ "id": id, "object": "conversation.deleted", "deleted": true }));
    let of_answer = format!("/v1/responses/{}", answer["id"].as_str().unwrap());
    for (method, path, body) in [
        ("GET", path.as_str(), ""),
        ("POST", &path, &update),
        ("DELETE", &path, ""),
        ("GET", &format!("{path}/items"), ""),
        ("POST", &format!("{path}/items"), &json!({ "items": [user("x")] }).to_string()),
        ("GET", &format!("{path}/items/msg_1"), ""),
    ] {
        let told = error(&serving.ask(method, path, body));
        assert_eq!(told, (404, "conversation_not_found".into()), "{method} {path}");
    }
    assert_eq!(serving.ask("GET", &of_answer, "").status, 404);
    let told = error(&ask(&serving, &json!(id), "Still there?"));
    assert_eq!(told, (404, "conversation_not_found".into()));
}

#[test]
fn a_conversation_is_its_callers_and_takes_one_request_at_a_time() {
    let model = ScriptedModel::by(|_, body| {
        let said = ScriptedTurn::says("Done.");
        let waits = body["messages"].to_string().contains("wait");
        if waits { ScriptedTurn::Waits(Duration::from_mins(1), Box::new(said)) } else { said }
    })
    .unwrap();
    let serving = serving(&model, ALL);
    let id = made(&serving, &json!({ "items": [user("Hello.")] }));
    let path = format!("/v1/conversations/{id}");
    let other = serving.token_of("other");
    let add = json!({ "items": [user("x")] }).to_string();
    let asks = json!({ "model": "assistant", "conversation": id, "input": "x" }).to_string();
    for (method, path, body) in [
        ("GET", path.as_str(), ""),
        ("DELETE", &path, ""),
        ("GET", &format!("{path}/items"), ""),
        ("POST", &format!("{path}/items"), &add),
        ("POST", "/v1/responses", &asks),
    ] {
        let told = error(&serving.ask_as(&other, method, path, body));
        assert_eq!(told, (404, "conversation_not_found".into()), "{method} {path}");
    }
    let slow = json!({
        "model": "assistant", "conversation": id, "input": "wait", "background": true,
    });
    let slow = serving.ask("POST", "/v1/responses", &slow.to_string()).json();
    let busy = (409, "conversation_busy".to_owned());
    assert_eq!(error(&ask(&serving, &json!(id), "x")), busy);
    assert_eq!(error(&serving.ask("POST", &format!("{path}/items"), &add)), busy);
    assert_eq!(error(&serving.ask("DELETE", &path, "")), busy);
    // Before it has ended nothing of it is there.
    assert_eq!(said(&serving, &id), ["user: Hello."]);
    let cancel = format!("/v1/responses/{}/cancel", slow["id"].as_str().unwrap());
    assert_eq!(serving.ask("POST", &cancel, "{}").json()["status"], "cancelled");
    assert_eq!(said(&serving, &id)[..2], ["user: Hello.", "user: wait"]);
    assert!(eventually(|| serving.ask("POST", &format!("{path}/items"), &add).status == 200));
}

#[test]
fn what_does_not_fit_a_conversation_is_told() {
    let model = counting();
    let serving = serving(&model, ALL);
    let id = made(&serving, &json!({}));
    let (all, one) = ("/v1/conversations", format!("/v1/conversations/{id}"));
    let items = format!("{one}/items");
    let long = "x".repeat(513);
    let many: Value = (0..17).map(|number| (number.to_string(), json!("x"))).collect();
    let cases: [(&str, Value, &str); 12] = [
        (all, json!({ "metadata": [] }), "metadata"),
        (all, json!({ "metadata": { "a": 1 } }), "metadata"),
        (all, json!({ "metadata": { "a": long } }), "metadata"),
        (all, json!({ "metadata": { (&long[..65]): "x" } }), "metadata"),
        (all, json!({ "metadata": many }), "metadata"),
        (all, json!({ "items": "x" }), "items"),
        (all, json!({ "items": [{ "type": "wizard" }] }), "input[0]"),
        (&one, json!({}), "metadata"),
        (&items, json!({}), "items"),
        (&items, json!({ "items": [] }), "items"),
        (&items, json!({ "items": [7] }), "input[0]"),
        (
            &items,
            json!({ "items": [{ "type": "function_call_output", "call_id": "c", "output": "x" }] }),
            "input[0]",
        ),
    ];
    for (path, body, field) in cases {
        let answer = serving.ask("POST", path, &body.to_string());
        let told = (answer.status, answer.json()["error"]["param"].clone());
        assert_eq!(told, (400, json!(field)), "{path} {body}: {answer:?}");
    }
    let of_answer = |more: Value| {
        let mut body = json!({ "model": "assistant", "conversation": id, "input": "x" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        error(&serving.ask("POST", "/v1/responses", &body.to_string()))
    };
    let invalid = (400, "invalid_request".to_owned());
    assert_eq!(of_answer(json!({ "previous_response_id": "resp_1" })), invalid);
    assert_eq!(of_answer(json!({ "store": false })), invalid);
    assert_eq!(said(&serving, &id), Vec::<String>::new());
}

#[test]
fn a_conversation_outlives_its_server_and_goes_on_by_socket() {
    let model = talking();
    let serving = serving(&model, STORE);
    let id = made(&serving, &json!({ "metadata": { "k": "v" }, "items": [user("I am Ann.")] }));
    let counted = ask(&serving, &json!(id), "Count `a b`.").json();
    let before = said(&serving, &id);
    assert_eq!(before[..2], ["user: I am Ann.", "user: Count `a b`."]);
    assert_eq!(before[2], "mcp_call: ");
    // An item of an answer may be taken out: the tool's result goes with its call.
    let call = counted["output"][0]["id"].as_str().unwrap();
    let serving = killed(serving);
    assert_eq!(said(&serving, &id), before);
    let path = format!("/v1/conversations/{id}");
    assert_eq!(serving.ask("GET", &path, "").json()["metadata"], json!({ "k": "v" }));
    assert_eq!(serving.ask("DELETE", &format!("{path}/items/{call}"), "").status, 200);
    let serving = killed(serving);
    let mut socket = Socket::connect(&serving);
    let answer = socket.answer(json!({ "conversation": id, "input": "Hello again." }));
    assert_eq!(
        (&answer["status"], &answer["conversation"]["id"]),
        (&json!("completed"), &json!(id))
    );
    let sent = model.asked().pop().unwrap().body["messages"].clone();
    assert!(sent.to_string().contains("I am Ann."), "{sent}");
    assert!(sent.as_array().unwrap().iter().all(|one| one["role"] != "tool"), "{sent}");
    let after = said(&serving, &id);
    assert_eq!(after[2..4], [before[3].as_str(), "user: Hello again."]);
}

#[test]
fn a_call_of_the_caller_is_answered_in_its_conversation() {
    let model = talking();
    let serving = serving(&model, ALL);
    let id = made(&serving, &json!({}));
    let tool = json!({ "type": "function", "name": "get_weather", "parameters": {} });
    let body = json!({
        "model": "assistant", "conversation": id, "input": "The weather?", "tools": [tool],
    });
    let first = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    let call = &first["output"][0];
    let result = json!({ "type": "function_call_output", "call_id": call["call_id"], "output": "11 degrees" });
    let body = json!({
        "model": "assistant", "conversation": id, "input": [result], "tools": [tool],
    });
    let second = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    assert!(second["output"][0]["content"][0]["text"].as_str().unwrap().contains("11 degrees"));
    assert_eq!(
        said(&serving, &id).iter().map(|line| line.split(':').next().unwrap()).collect::<Vec<_>>(),
        ["user", "function_call", "function_call_output", "assistant"]
    );
    // A call without its answer is not given to a model that others follow.
    let items = format!("/v1/conversations/{id}/items");
    let listed = serving.ask("GET", &items, "").json();
    let of_result = listed["data"][1]["id"].as_str().unwrap();
    assert_eq!(serving.ask("DELETE", &format!("{items}/{of_result}"), "").status, 200);
    ask(&serving, &json!(id), "And now?");
    let sent = model.asked().pop().unwrap().body["messages"].to_string();
    assert!(!sent.contains("tool_calls") && sent.contains("The weather?"), "{sent}");
}

/// The items of a body, all alike.
fn many(count: usize, text: &str) -> Value {
    json!({ "items": vec![user(text); count] })
}

#[test]
fn a_conversation_takes_as_many_items_as_it_may_have_and_no_more() {
    let model = counting();
    let serving = serving(&model, ALL);
    let full = (400, "conversation_full".to_owned());
    let whole = serving.ask("POST", "/v1/conversations", &many(5_001, "x").to_string());
    assert_eq!(error(&whole), full);
    let id = made(&serving, &many(4_998, "x"));
    let items = format!("/v1/conversations/{id}/items");
    let add = |count: usize| serving.ask("POST", &items, &many(count, "y").to_string());
    // What does not fit whole is not added at all.
    assert_eq!(error(&add(3)), full);
    let input: Value = vec![user("z"); 3].into();
    let body = json!({ "model": "assistant", "conversation": id, "input": input });
    assert_eq!(error(&serving.ask("POST", "/v1/responses", &body.to_string())), full);
    assert_eq!(add(1).status, 200);
    // An answer stands behind the last item that fits.
    let answer = ask(&serving, &json!(id), "And now?").json();
    assert_eq!(answer["output"][0]["content"][0]["text"], "5000: And now?", "{answer}");
    assert_eq!(error(&ask(&serving, &json!(id), "And now?")), full);
    assert_eq!(error(&add(1)), full);
    assert_eq!(model.asked().len(), 1);
    // What is said of it may change, and room may be made.
    let path = format!("/v1/conversations/{id}");
    let update = json!({ "metadata": { "full": "yes" } }).to_string();
    assert_eq!(serving.ask("POST", &path, &update).status, 200);
    let newest = serving.ask("GET", &format!("{items}?limit=2"), "").json();
    for item in newest["data"].as_array().unwrap() {
        let item = format!("{items}/{}", item["id"].as_str().unwrap());
        assert_eq!(serving.ask("DELETE", &item, "").status, 200);
    }
    assert_eq!(add(1).status, 200);
    assert_eq!(error(&add(1)), full);
}

#[test]
fn a_conversation_takes_as_many_bytes_as_it_may_have_and_no_more() {
    let model = counting();
    let limits = "[server.limits]\nbody = \"20MiB\"\n";
    let serving = serving(&model, &format!("{ALL}\n{limits}"));
    let full = (400, "conversation_full".to_owned());
    let mebibytes = |count: usize| many(1, &"x".repeat(count << 20));
    let whole = serving.ask("POST", "/v1/conversations", &mebibytes(16).to_string());
    assert_eq!(error(&whole), full);
    let id = made(&serving, &mebibytes(10));
    let items = format!("/v1/conversations/{id}/items");
    let add = |count: usize| serving.ask("POST", &items, &mebibytes(count).to_string());
    assert_eq!(error(&add(6)), full);
    assert_eq!(error(&ask(&serving, &json!(id), &"x".repeat(6 << 20))), full);
    assert_eq!(add(5).status, 200);
    assert_eq!(error(&add(1)), full);
    assert_eq!(model.asked().len(), 0);
    assert_eq!(ask(&serving, &json!(id), "x").json()["status"], "completed");
}

#[test]
fn metadata_has_as_many_pairs_and_letters_as_it_may_have() {
    let model = counting();
    let serving = serving(&model, ALL);
    // Letters are counted, not bytes.
    let name = |number: usize| format!("{}{number:02}", "ü".repeat(62));
    let of = |pairs: usize, letters: usize| -> Value {
        (0..pairs).map(|number| (name(number), json!("ö".repeat(letters)))).collect()
    };
    let longer = json!({ format!("{}x", name(0)): "" });
    for (metadata, fits) in
        [(of(16, 512), true), (of(17, 1), false), (of(1, 513), false), (longer, false)]
    {
        let body = json!({ "metadata": metadata }).to_string();
        let made = serving.ask("POST", "/v1/conversations", &body);
        assert_eq!(made.status == 200, fits, "{made:?}");
        let id = self::made(&serving, &json!({ "metadata": { "a": "b" } }));
        let path = format!("/v1/conversations/{id}");
        let update = serving.ask("POST", &path, &body);
        assert_eq!(update.status == 200, fits, "{update:?}");
        let left = if fits { metadata } else { json!({ "a": "b" }) };
        assert_eq!(serving.ask("GET", &path, "").json()["metadata"], left);
    }
}
