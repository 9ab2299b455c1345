//! What a server tells of itself: figures, the log, the calls of just now.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::support::{Serving, bearer, eventually, head};
use crate::process::Folder;

/// The figures by name and labels.
fn figures(serving: &Serving) -> BTreeMap<String, String> {
    let answer = serving.ask("GET", "/metrics", "");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.head.to_lowercase().contains("content-type: text/plain; version=0.0.4"));
    let lines = answer.body.lines().filter(|line| !line.starts_with('#'));
    let pair = |line: &str| line.rsplit_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()));
    lines.filter_map(pair).collect()
}

fn calculate(expression: &str) -> Value {
    json!({ "calls": [{ "name": "calculate", "arguments": { "expression": expression } }] })
}

#[test]
fn figures_count_calls_by_tool_source_and_outcome_for_the_operator_alone() {
    let serving = Serving::start(&[]);
    serving.call(&calculate("6*7"));
    serving.call(&calculate("6*7"));
    serving.call(&calculate("1/0"));
    serving.call(&json!({ "calls": [{ "name": "nothing\n\"x\\" }] }));
    // An answer is read a moment before its request is over.
    let requests = "toolcrib_requests_total{route=\"/v1/calls\",method=\"POST\",status=\"200\"}";
    let mut figures = BTreeMap::new();
    assert!(
        eventually(|| {
            figures = self::figures(&serving);
            let figure = |name: &str| figures.get(name).map(String::as_str);
            figure("toolcrib_requests_in_flight") == Some("1") && figure(requests) == Some("4")
        }),
        "{figures:?}"
    );
    let figure = |name: &str| figures.get(name).map(String::as_str);
    let calls = |outcome| {
        format!(
            "toolcrib_calls_total{{tool=\"calculate\",source=\"basics\",outcome=\"{outcome}\"}}"
        )
    };
    assert_eq!(figure(&calls("done")), Some("2"), "{figures:?}");
    assert_eq!(figure(&calls("tool")), Some("1"), "{figures:?}");
    let none = "toolcrib_calls_total{tool=\"(none)\",source=\"\",outcome=\"unknown_tool\"}";
    assert_eq!(figure(none), Some("1"), "{figures:?}");
    let ran = "toolcrib_call_duration_seconds_count{source=\"basics\"}";
    assert_eq!(figure(ran), Some("3"), "{figures:?}");
    assert_eq!(figure("toolcrib_source_up{source=\"basics\"}"), Some("1"));
    assert_eq!(figure("toolcrib_tickets_open"), Some("0"));
    assert_eq!(figure("toolcrib_sessions"), Some("0"));
    assert_eq!(figure("toolcrib_calls_unknown_total{source=\"basics\"}"), Some("0"));
    let other = serving.token_of("other");
    assert_eq!(serving.ask_as(&other, "GET", "/metrics", "").problem(), "403 forbidden");
    assert_eq!(serving.ask_as(&other, "GET", "/v1/activity", "").problem(), "403 forbidden");
}

#[test]
fn the_operator_sees_the_calls_of_all_callers_and_follows_them() {
    let serving = Serving::start(&[]);
    let other = serving.token_of("other");
    serving.ask_as(&other, "POST", "/v1/calls", &calculate("1+1").to_string());
    let seen = serving.ask("GET", "/v1/activity", "").json();
    let call = &seen["calls"][0];
    assert_eq!(
        (&call["tool"], &call["caller"], &call["outcome"], &call["source"]),
        (&json!("calculate"), &json!("other"), &json!("done"), &json!("basics"))
    );
    assert!(!seen.to_string().contains("1+1"), "no arguments are kept: {seen}");
    let next = seen["next"].as_u64().unwrap();
    let path = format!("/v1/activity?after={next}");
    let after = serving.ask("GET", &path, "").json();
    assert_eq!((after["calls"].clone(), after["next"].clone()), (json!([]), json!(next)));
    serving.call(&calculate("1+1"));
    let after = serving.ask("GET", &path, "").json();
    assert_eq!(after["calls"].as_array().unwrap().len(), 1);
    assert_eq!(after["calls"][0]["caller"], "local");
    // A server may have counted further than 32 bits go.
    let far = serving.ask("GET", "/v1/activity?after=5000000000", "");
    assert_eq!(far.status, 200, "{far:?}");
}

#[test]
fn every_call_is_one_line_of_the_log_whatever_it_is_called() {
    let serving = Serving::start(&["--log", "info,json"]);
    let name = "x\n\u{1b}[31m{\"time\":\"forged\"}\u{202e}";
    let token = bearer(&serving.token);
    let lines = [token.as_str(), "Content-Type: application/json"];
    let head = head("POST", "/v1/calls", &serving, &lines);
    let answer = serving.send(&head, &json!({ "calls": [{ "name": name }] }).to_string());
    let id = answer.head.lines().find_map(|line| line.strip_prefix("x-request-id: ")).unwrap();
    serving.call(&calculate("6*7"));
    serving.hears("\"outcome\":\"done\"");
    let told = serving.told.lock().unwrap().clone();
    // Each line is JSON, those that tell how to come in as well.
    let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let calls: Vec<_> = lines.iter().filter(|line| line["event"] == "call").collect();
    assert_eq!(calls.len(), 2, "{told}");
    assert_eq!(calls[0]["tool"], name);
    assert_eq!((&calls[0]["request"], &calls[0]["outcome"]), (&json!(id), &json!("unknown_tool")));
    assert_eq!(
        (&calls[1]["tool"], &calls[1]["source"], &calls[1]["caller"], &calls[1]["effect"]),
        (&json!("calculate"), &json!("basics"), &json!("local"), &json!("read"))
    );
    assert!(calls[1]["took_us"].is_u64() && calls[1]["key"].is_string());
    assert!(!told.contains("6*7"), "{told}");
}

#[test]
fn the_log_of_a_configuration_has_the_requests_and_no_token() {
    let folder = Folder::new();
    folder.write("crib.toml", "[log]\nlevel = \"debug\"\n[[source]]\nid = \"b\"\nbasics = true\n");
    let serving = Serving::start_in(folder, &[]);
    // A token in the path is refused, and the path stands nowhere.
    let path = format!("/v1/{}", serving.token);
    assert_eq!(serving.ask("GET", &path, "").status, 404);
    serving.hears("request method=(none) route=(none) status=404");
    let told = || serving.told.lock().unwrap().clone();
    assert!(eventually(|| told().contains("DEBUG request method=GET route=/readyz status=200")));
    assert!(!told().contains(&serving.token), "{}", told());
}
