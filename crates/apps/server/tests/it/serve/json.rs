//! How deep the JSON of a request may be, and how many values it may have, through every door.

use serde_json::{Value, json};

use super::limits::serving;
use super::support::{Serving, bearer, head};
use super::wire::{meta, modern};

#[test]
fn json_is_as_deep_as_it_may_be_through_every_door() {
    let most = 64;
    let (serving, _upstream) = serving("");
    let deep = |depth: usize| format!(r#"{{"x":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    let token = bearer(&serving.token);
    let send = |path: &str, depth: usize| {
        let accept = "Accept: application/json, text/event-stream";
        let lines = [token.as_str(), accept, "Content-Type: application/json"];
        let answer = serving.send(&head("POST", path, &serving, &lines), &deep(depth));
        // What is read and is no message, no call or no question is refused at each door in words
        // of its own.
        let is_read = if path.starts_with("/mcp") {
            !answer.body.contains("read as it is")
        } else {
            ["invalid-body", "invalid_request_error"].iter().any(|word| answer.body.contains(word))
        };
        // JSON-RPC says it in its answer.
        let is_told = path.starts_with("/a2a/") && answer.body.contains("-32700");
        (answer.status == 400 || is_told) && !is_read
    };
    for route in super::routes::all().iter().filter(|route| route.takes_body) {
        let path = route.filled();
        // The object is a level too.
        let refused = [most - 2, most - 1, most, 100_000].map(|lists| send(&path, lists));
        assert_eq!(refused, [false, false, true, true], "{path}");
    }
}

#[test]
fn a_request_has_as_many_values_as_are_read_through_both_doors() {
    let most = 200_000;
    let (serving, _upstream) = serving("");
    let by_rest = [most - 1, most, most + 1].map(|count| valued(&serving, count));
    assert_eq!(by_rest, ["200", "200", "400 bad-request"]);
    let by_mcp = [most - 1, most, most + 1].map(|count| valued_by_mcp(&serving, count));
    assert_eq!(by_mcp, [200, 200, 400]);
}

#[test]
fn a_body_beyond_the_usual_size_is_read_where_that_is_set() {
    let (serving, _upstream) = serving("body = \"5MiB\"");
    let plan = |bytes: usize| {
        let empty = r#"{"calls":[],"plan":""}"#;
        let body = format!(r#"{{"calls":[],"plan":"{}"}}"#, "a".repeat(bytes - empty.len()));
        serving.ask("POST", "/v1/calls", &body).problem()
    };
    assert_eq!(
        (plan((5 << 20) - 1).as_str(), plan(5 << 20).as_str()),
        ("404 unknown-plan", "404 unknown-plan")
    );
    assert_eq!(plan((5 << 20) + 1), "413 too-large");
    let long = json!({ "name": "calculate", "arguments": { "a": "b".repeat(9 << 19) } });
    assert_eq!(modern(&serving, &serving.token, "/mcp", ("tools/call", long)).status, 200);
}

/// What is said to a call in a body of so many values.
fn valued(serving: &Serving, count: usize) -> String {
    // The object, the two lists and what is in them.
    let inner = format!("{}0", "0,".repeat(count - 5));
    let body = format!(r#"{{"calls":[{{"name":[{inner}]}}]}}"#);
    serving.ask("POST", "/v1/calls", &body).problem()
}

/// The status of a call in a message of so many values.
fn valued_by_mcp(serving: &Serving, count: usize) -> u16 {
    let call = |zeros: usize| json!({ "name": "calculate", "arguments": { "a": vec![0; zeros] } });
    // The message itself, and what the client says of itself, have values too.
    let mut whole = json!({ "jsonrpc": "2.0", "id": 1, "method": "x", "params": call(0) });
    whole["params"]["_meta"] = meta();
    let call = call(count - values(&whole));
    modern(serving, &serving.token, "/mcp", ("tools/call", call)).status
}

fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Object(fields) => fields.values().map(values).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0_usize,
    }
}
