//! The tickets of all callers, for the operator.

use serde_json::{Value, json};

use super::keys::make;
use super::support::{Serving, eventually, state};
use crate::process::{Folder, run_in};

const FILE: &str = "allow = [\"*\"]\nask = [\"calculate\", \"hash_text\"]\n\
                    [audit]\nfile = \"audit.jsonl\"\n\
                    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";

/// A server with a key of somebody who may use all tools, and one of an operator who may only read.
fn serving_two() -> (Serving, [String; 2]) {
    let folder = Folder::new();
    let (ann, first) = make(&folder, &["ann", "--tenant", "acme", "--scope", "tools"]);
    let words = ["boss", "--tenant", "acme", "--scope", "operator", "--scope", "tools:read"];
    let (boss, second) = make(&folder, &words);
    folder.write("crib.toml", &(FILE.to_owned() + &first + &second));
    (Serving::start_in(folder, &[]), [ann, boss])
}

fn serving() -> (Serving, String) {
    let (serving, [ann, _]) = serving_two();
    (serving, ann)
}

fn park(serving: &Serving, token: &str, name: &str, arguments: &Value) -> String {
    let body = json!({ "calls": [{ "name": name, "arguments": arguments }] }).to_string();
    let answer = serving.ask_as(token, "POST", "/v1/calls", &body).json();
    let ticket = answer["tickets"][0]["ticket"].as_str();
    ticket.unwrap_or_else(|| unreachable!("{answer}")).to_owned()
}

fn sum(n: u32) -> Value {
    json!({ "expression": format!("{n}+0") })
}

fn decide(serving: &Serving, token: &str, ticket: &str, word: &str) -> Value {
    let body = json!({ "decision": word }).to_string();
    serving.ask_as(token, "POST", &format!("/v1/tickets/{ticket}"), &body).json()
}

/// Of each open ticket its name, and whose it is.
fn listed(serving: &Serving, token: &str) -> Vec<(String, String)> {
    let open = serving.ask_as(token, "GET", "/v1/tickets", "").json();
    let row = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        (text("ticket"), format!("{}/{}", text("tenant"), text("caller")))
    };
    open["tickets"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn the_operator_lists_and_decides_the_tickets_of_all_callers() {
    let (serving, [ann, boss]) = serving_two();
    let (local, other) = (serving.token.clone(), serving.token_of("other"));
    let tickets: Vec<_> = [&ann, &other, &local, &ann]
        .into_iter()
        .zip(1..)
        .map(|(who, n)| park(&serving, who, "calculate", &sum(n)))
        .collect();
    let of = |n: usize, who: &str| (tickets[n].clone(), who.to_owned());
    let all = ["acme/ann", "local/other", "local/local", "acme/ann"];
    let all: Vec<_> = (0..).zip(all).map(|(n, who)| of(n, who)).collect();
    assert_eq!(listed(&serving, &local), all);
    assert_eq!(listed(&serving, &ann), [of(0, "acme/ann"), of(3, "acme/ann")]);
    // Nobody else finds, reads or decides what is another's.
    assert_eq!(listed(&serving, &other), [of(1, "local/other")]);
    assert_eq!(listed(&serving, &boss), []);
    let others = [(&other, 0), (&ann, 1), (&other, 2), (&boss, 0)];
    for (token, ticket) in others.map(|(token, n)| (token, &tickets[n])) {
        let path = format!("/v1/tickets/{ticket}");
        assert_eq!(serving.ask_as(token, "GET", &path, "").problem(), "404 unknown-ticket");
        let refused = decide(&serving, token, ticket, "approve");
        assert_eq!(refused["type"], "urn:toolcrib:problem:unknown-ticket", "{refused}");
    }
    let path = format!("/v1/tickets/{}", tickets[0]);
    let shown = serving.ask("GET", &path, "").json();
    assert_eq!((&shown["arguments"], &shown["caller"]), (&sum(1), &json!("ann")));
    // It runs as its own caller's call, whoever says yes.
    let done = decide(&serving, &local, &tickets[0], "approve");
    assert_eq!(done["response"]["structured"]["result"], "1", "{done}");
    let recorded = serving.ask_as(&ann, "GET", "/v1/calls?tool=calculate", "").json();
    assert_eq!(recorded["calls"].as_array().unwrap().len(), 1, "{recorded}");
    for token in [&ann, &local] {
        let late = decide(&serving, token, &tickets[0], "approve");
        assert_eq!(late["type"], "urn:toolcrib:problem:ticket-refused", "{late}");
        assert_eq!(late["recorded"]["structured"]["result"], "1", "{late}");
    }
    let denied = decide(&serving, &local, &tickets[1], "deny");
    assert_eq!(denied["response"]["outcome"], "denied", "{denied}");
    let done = decide(&serving, &ann, &tickets[3], "approve");
    assert_eq!(done["response"]["structured"]["result"], "4", "{done}");
    let expected = [(0, "ann", "allow", "local"), (1, "other", "deny", "local")];
    let expected = expected.into_iter().chain([(3, "ann", "allow", "ann")]);
    let expected: Vec<_> = expected
        .map(|(n, whose, ruling, by)| {
            [tickets[n].clone(), whose.to_owned(), ruling.to_owned(), by.to_owned()]
        })
        .collect();
    // A decision is answered before its line is in the file.
    let last = || decisions(&serving);
    assert!(eventually(|| last() == expected), "{:?}", last());
}

/// The decisions on record: ticket, caller, ruling, and who decided.
fn decisions(serving: &Serving) -> Vec<[String; 4]> {
    let record = std::fs::read_to_string(serving.folder.path().join("audit.jsonl")).unwrap();
    let records = record.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let decided = records.filter(|record| record["decided_by"].is_object());
    let decided = decided.map(|record| {
        let text = |at: &str| record.pointer(at).and_then(Value::as_str).unwrap().to_owned();
        [text("/ticket"), text("/subject"), text("/ruling"), text("/decided_by/subject")]
    });
    decided.collect()
}

#[test]
fn the_record_tells_who_approved_a_call() {
    let (serving, ann) = serving();
    let [first, second, third] = [1, 2, 3].map(|n| park(&serving, &ann, "calculate", &sum(n)));
    decide(&serving, &serving.token, &first, "approve");
    decide(&serving, &ann, &second, "approve");
    decide(&serving, &serving.token, &third, "deny");
    serving.ask_as(
        &ann,
        "POST",
        "/v1/calls",
        &json!({ "calls": [{ "name": "uuid_new" }] }).to_string(),
    );
    let record = serving.ask("GET", "/v1/record", "").json();
    let told: Vec<_> = record["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| json!([call["tool"], call["caller"], call["decided_by"]]))
        .collect();
    let by = |tenant: &str, subject: &str| json!({ "tenant": tenant, "subject": subject });
    assert_eq!(
        told,
        [
            json!(["uuid_new", "ann", null]),
            json!(["calculate", "ann", by("acme", "ann")]),
            json!(["calculate", "ann", by("local", "local")]),
        ]
    );
    // Who runs the crib is nothing to its callers.
    let own = serving.ask_as(&ann, "GET", "/v1/calls", "").json();
    assert!(own["calls"].as_array().unwrap().iter().all(|call| call.get("decided_by").is_none()));
    let (url, home) = (format!("http://{}", serving.address), state(&serving.folder));
    let words = ["calls", "--state", "succeeded", "--url", &url];
    let shown = run_in(&serving.folder, &words, &[("XDG_STATE_HOME", &home)]);
    for (line, outcome) in shown.out.lines().skip(1).zip([
        "succeeded, approved by local/local  ",
        "succeeded, approved by acme/ann  ",
        "succeeded  ",
    ]) {
        assert!(line.contains(outcome), "{shown:?}");
    }
}

#[test]
fn what_the_operator_lets_run_is_decided_on_anew() {
    let (serving, ann) = serving();
    let file = std::fs::read_to_string(serving.folder.path().join("crib.toml")).unwrap();
    let ticket = park(&serving, &ann, "calculate", &sum(1));
    // Nobody may call it any more.
    let denying = file.replace("allow = [\"*\"]", "allow = [\"*\"]\ndeny = [\"calculate\"]");
    serving.folder.write("crib.toml", &denying);
    let is_gone = || !serving.ask_as(&ann, "GET", "/v1/tools", "").body.contains("\"calculate\"");
    assert!(eventually(is_gone));
    let refused = decide(&serving, &serving.token, &ticket, "approve");
    assert_eq!(refused["type"], "urn:toolcrib:problem:ticket-refused", "{refused}");
}

#[test]
fn a_list_of_tickets_comes_in_pages_and_shows_how_long_arguments_begin() {
    let (serving, ann) = serving();
    let long = "x".repeat(90_000);
    let tickets: Vec<_> = (0..60)
        .map(|n| {
            let text = format!("{n} {long}");
            park(&serving, &ann, "hash_text", &json!({ "text": text }))
        })
        .collect();
    let (mut found, mut path) = (Vec::new(), "/v1/tickets?limit=500".to_owned());
    let mut pages = 0;
    loop {
        let answer = serving.ask("GET", &path, "");
        assert!(answer.body.len() < 256 * 1024, "{}", answer.body.len());
        let page = answer.json();
        for row in page["tickets"].as_array().unwrap() {
            found.push(row["ticket"].as_str().unwrap().to_owned());
            let begin = row["arguments_begin"].as_str().unwrap();
            assert!(row["arguments"].is_null() && begin.len() <= 4096 && begin.contains("xxx"));
            assert!(row["digest"].as_str().unwrap().len() == 64);
        }
        pages += 1;
        let Some(cursor) = page["cursor"].as_str() else { break };
        path = format!("/v1/tickets?limit=500&cursor={cursor}");
    }
    assert_eq!(found, tickets);
    // As many as have four mebibytes together are read at once.
    assert_eq!(pages, 2);
    let one = serving.ask("GET", &format!("/v1/tickets/{}", tickets[59]), "").json();
    assert_eq!(one["arguments"]["text"], json!(format!("59 {long}")));
    assert_eq!(serving.ask("GET", "/v1/tickets?cursor=x", "").problem(), "404 unknown-cursor");
    let url = format!("http://{}", serving.address);
    let words = ["tickets", "--url", &url];
    let ran = run_in(&serving.folder, &words, &[("XDG_STATE_HOME", &state(&serving.folder))]);
    assert_eq!((ran.code, ran.out.matches("called by acme/ann").count()), (0, 60), "{}", ran.err);
}
