//! Calls that come before their sources do: told so, and nothing is kept of them.

use serde_json::{Value, json};

use super::script;
use super::support::{Answer, Serving, bearer, eventually, head};
use super::wire::{message, modern};
use crate::process::Folder;

const CONFIGURATION: &str = r#"
allow = ["*"]

[[source]]
id = "clock"
basics = ["time_now"]
prefix = ""

[[source]]
id = "slow"
mcp = { command = ["python3", "slow.py"], cwd = "." }

[profile.quick]
sources = ["clock"]
allow = ["*"]
"#;

/// Its list comes once the file `go` is there.
fn starting() -> Serving {
    let folder = Folder::new();
    folder.write("crib.toml", CONFIGURATION);
    let waits = "import os\nwhile not os.path.exists('go'):\n    time.sleep(0.02)";
    let tools = format!("[{}]", script::tool("note", r#""readOnlyHint": True"#));
    folder.write("slow.py", &script::server(waits, &tools, &script::says(r#""noted""#)));
    Serving::starting_in(folder, &[])
}

fn keyed(serving: &Serving, name: &str, key: &str) -> Answer {
    let (token, key) = (bearer(&serving.token), format!("Idempotency-Key: {key}"));
    let lines = [&*token, "Content-Type: application/json", &*key];
    let calls = json!({ "calls": [{ "id": "1", "name": name, "arguments": {} }] });
    serving.send(&head("POST", "/v1/calls", serving, &lines), &calls.to_string())
}

fn outcome(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    let response = &answer.json()["responses"][0];
    json!([response["outcome"], response["kind"]])
}

#[test]
fn a_call_that_comes_before_its_source_may_be_made_again() {
    let serving = starting();
    let clock = || serving.ask("GET", "/v1/tools", "").json()["total"] == 1;
    assert!(eventually(clock));
    let is_starting = |answer: &Answer| {
        assert_eq!(answer.problem(), "503 source-starting", "{answer:?}");
        assert!(answer.head.to_lowercase().contains("retry-after: 1"), "{answer:?}");
    };
    is_starting(&keyed(&serving, "slow__note", "a"));
    is_starting(&keyed(&serving, "slow__note", "a"));
    is_starting(&keyed(&serving, "nobody", "b"));
    is_starting(&serving.ask("GET", "/v1/why/slow__note", ""));
    is_starting(&serving.ask("GET", "/v1/tools/slow__note", ""));
    for body in [
        json!({ "choices": ["slow__note"] }),
        json!({ "choices": ["slow__note", "time_now"], "dialect": "anthropic" }),
    ] {
        is_starting(&serving.ask("POST", "/v1/plan", &body.to_string()));
    }
    let plan = serving.ask("POST", "/v1/plan", "{}").json();
    // What is there is called as ever, and a profile waits for its own sources alone.
    assert_eq!(outcome(&keyed(&serving, "time_now", "c"))[0], "done");
    let body = json!({ "profile": "quick", "calls": [{ "id": "1", "name": "nobody" }] });
    let answer = serving.ask("POST", "/v1/calls", &body.to_string());
    assert_eq!(outcome(&answer), json!(["failed", "unknown_tool"]));
    // Over MCP, with a key of its own.
    let call = |name: &str| {
        let meta = json!({ "toolcrib/idempotencyKey": "d" });
        let params = json!({ "name": name, "arguments": {}, "_meta": meta });
        message(&modern(&serving, &serving.token, "/mcp", ("tools/call", params)))
    };
    let told = call("slow__note");
    assert_eq!(
        told["error"]["data"],
        json!({ "error": "source_starting", "retryAfterMs": 1000 }),
        "{told}"
    );
    assert!(told["error"]["message"].as_str().unwrap().contains("source_starting"), "{told}");
    serving.folder.write("go", "");
    assert!(eventually(|| serving.ask("GET", "/v1/tools", "").json()["total"] == 2));
    assert_eq!(outcome(&keyed(&serving, "slow__note", "a")), json!(["done", null]));
    assert_eq!(call("slow__note")["result"]["content"][0]["text"], "noted");
    assert!(eventually(|| serving.ask("GET", "/readyz", "").status == 200));
    assert_eq!(outcome(&keyed(&serving, "nobody", "b")), json!(["failed", "unknown_tool"]));
    // A plan that was made before cannot have it, and says so without using a key up.
    let body = json!({ "plan": plan["plan"], "calls": [{ "id": "1", "name": "slow__note" }] });
    is_starting(&serving.ask("POST", "/v1/calls", &body.to_string()));
}

#[test]
fn a_source_that_could_not_start_is_named_and_uses_no_key_up() {
    let folder = Folder::new();
    folder.write("crib.toml", &CONFIGURATION.replace("python3", "./no-such-program"));
    let serving = Serving::start_in(folder, &[]);
    for _ in 0..2 {
        let answer = keyed(&serving, "slow__note", "a");
        assert_eq!(outcome(&answer), json!(["failed", "unavailable"]));
        assert!(!answer.head.to_lowercase().contains("idempotency-replayed"), "{answer:?}");
        assert!(answer.body.contains("the source `slow`, which may have it"), "{answer:?}");
    }
    let called = serving.folder.run(&["call", "slow__note", "{}"]);
    assert!(called.out.contains("source `slow`") || called.err.contains("source `slow`"));
}
