//! Uncoerced verdicts on real calls equal those of Python's `jsonschema`.
//!
//! The recorded verdicts are that library's. Where `TOOLCRIB_PYTHON` names a Python that has it,
//! it is asked again.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail loudly, and prints its counts"
)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use toolcrib_json::schema::{Schema, signature};

/// One call: the tool's schema, the arguments, and whether they are recorded as valid.
struct Call {
    what: String,
    schema: Value,
    arguments: Value,
    valid: bool,
}

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data").join(path)
}

fn lines(path: &str) -> Vec<Value> {
    let path = data(path);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Calls of real servers' tools; those of unknown tools are left out.
fn live_calls() -> Vec<Call> {
    let tools = lines("retrieval/livemcpbench/tools.jsonl");
    let parameters = |tool: &Value| tool.get("parameters").cloned().unwrap_or(json!({}));
    let schemas: HashMap<String, Value> =
        tools.iter().map(|tool| (text(tool, "id").to_owned(), parameters(tool))).collect();
    let calls = lines("formats/livemcp-real-calls.jsonl");
    assert_eq!(calls.len(), 531);
    let known = calls.into_iter().filter(|call| text(call, "verdict") != "unknown_tool");
    known
        .map(|call| {
            let what = format!("{}::{}", text(&call, "server"), text(&call, "tool"));
            let schema =
                schemas.get(&what).unwrap_or_else(|| panic!("{what} is not there")).clone();
            let valid = text(&call, "verdict") == "valid";
            let arguments = call.get("params").cloned().unwrap();
            Call { what, schema, arguments, valid }
        })
        .collect()
}

fn leaderboard_calls() -> Vec<Call> {
    let mut found = Vec::new();
    for case in lines("formats/bfcl-calls.jsonl") {
        let functions = case.get("functions").and_then(Value::as_array).unwrap();
        for call in case.get("calls").and_then(Value::as_array).unwrap() {
            let name = text(call, "name");
            let function =
                functions.iter().find(|function| text(function, "name") == name).unwrap();
            found.push(Call {
                what: format!("{} {name}", text(&case, "id")),
                schema: function.get("parameters").cloned().unwrap(),
                arguments: call.get("arguments").cloned().unwrap(),
                valid: call.get("valid") == Some(&Value::Bool(true)),
            });
        }
    }
    found
}

/// Compares all verdicts, and returns how many calls are valid, and how many once coerced.
fn compare(name: &str, calls: &[Call]) -> (usize, usize, usize) {
    let (mut valid, mut coerced, mut differing) = (0, 0, Vec::new());
    let mut told = String::new();
    for call in calls {
        let schema =
            Schema::compile(&call.schema).unwrap_or_else(|error| panic!("{}: {error}", call.what));
        let verdict = schema.is_valid(&call.arguments);
        valid += usize::from(verdict);
        if verdict != call.valid {
            differing.push(call.what.clone());
        }
        if let Err(violations) = schema.check(&call.arguments) {
            let (value, notes) = schema.coerce(call.arguments.clone());
            coerced += usize::from(schema.is_valid(&value));
            writeln!(told, "  {}: {violations}; coerced: {notes:?}", call.what).unwrap();
        }
    }
    println!("{name}: {} calls, {valid} valid, {coerced} more once coerced\n{told}", calls.len());
    assert_eq!(differing, Vec::<String>::new(), "{name}: other verdicts than recorded");
    (calls.len(), valid, coerced)
}

#[test]
fn verdicts_on_calls_of_real_servers_equal_the_recorded_ones() {
    let (calls, valid, _) = compare("real servers", &live_calls());
    assert_eq!((calls, valid), (528, 477));
}

#[test]
fn verdicts_on_leaderboard_calls_equal_the_recorded_ones() {
    let (calls, valid, _) = compare("leaderboard", &leaderboard_calls());
    assert_eq!((calls, valid), (3_152, 3_113));
}

#[test]
fn verdicts_equal_those_of_python_where_it_is_there() {
    #[expect(clippy::disallowed_methods, reason = "a test is told by it where Python is")]
    let Ok(python) = std::env::var("TOOLCRIB_PYTHON") else {
        println!("TOOLCRIB_PYTHON is not set: the recorded verdicts must do");
        return;
    };
    let calls: Vec<Call> = live_calls().into_iter().chain(leaderboard_calls()).collect();
    let mut cases = String::new();
    for Call { schema, arguments, .. } in &calls {
        writeln!(cases, "{}", json!({"schema": schema, "instance": arguments})).unwrap();
    }
    let verdicts = ask(&python, cases);
    let verdicts: Vec<&str> = verdicts.lines().collect();
    assert_eq!(verdicts.len(), calls.len());
    for (call, verdict) in calls.iter().zip(verdicts) {
        let ours = match Schema::compile(&call.schema) {
            Ok(schema) if schema.is_valid(&call.arguments) => "valid",
            Ok(_) => "invalid",
            Err(_) => "schema",
        };
        assert_eq!(ours, verdict, "{}", call.what);
    }
    println!("{} verdicts equal those of {python}", calls.len());
}

fn ask(python: &str, cases: String) -> String {
    #[expect(clippy::disallowed_methods, reason = "a test asks another implementation")]
    let mut child = std::process::Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/py/verdicts.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(cases.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_schemas_of_all_known_tools_compile_and_have_signatures() {
    let mut count = 0;
    for (path, key) in [
        ("mcp/real-server-tools.jsonl", "inputSchema"),
        ("mcp/real-server-tools.jsonl", "outputSchema"),
        ("retrieval/livemcpbench/tools.jsonl", "parameters"),
        ("retrieval/bfcl-pooled/tools.jsonl", "parameters"),
        ("retrieval/seal-tools-in-domain/tools.jsonl", "parameters"),
        ("retrieval/stabletoolbench/tools.jsonl", "parameters"),
    ] {
        let mut refused = Vec::new();
        for tool in lines(path) {
            let Some(source) = tool.get(key).filter(|source| !source.is_null()) else {
                continue;
            };
            let name = text(&tool, "name");
            match Schema::compile(source) {
                Ok(_) => count += 1,
                Err(error) => refused.push(format!("{name}: {error}")),
            }
            let line = signature(name, source);
            assert!(line.chars().count() <= 401 && !line.contains('\n'), "{line}");
        }
        assert_eq!(refused, Vec::<String>::new(), "{path}");
    }
    println!("{count} schemas of tools compile");
}
