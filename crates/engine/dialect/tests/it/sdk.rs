//! What we write, read by the vendors' own types.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolcrib_core::PlanRequest;

use crate::fixture::{plan, plan_of, specs, variants};
use crate::golden::report;

#[test]
fn the_vendors_types_take_what_is_written() {
    let Some(python) = std::env::var_os("TOOLCRIB_PYTHON") else {
        assert!(
            std::env::var_os("CI").is_none(),
            "TOOLCRIB_PYTHON must name a python with the SDKs"
        );
        println!(
            "skipped: TOOLCRIB_PYTHON names no python with openai, anthropic and google-genai"
        );
        return;
    };
    let chosen = plan_of(specs(), PlanRequest::default().choose("add").choose("book"));
    let one = plan_of(specs(), PlanRequest::default().choose("add"));
    let mut cases = Vec::new();
    for (folder, dialect) in variants() {
        let requests: Vec<Value> =
            [&plan(), &chosen, &one].iter().map(|plan| dialect.request(plan).into()).collect();
        cases.push(json!({
            "variant": folder,
            "dialect": dialect.name(),
            "requests": requests,
            "forced": dialect.forced_requests(&chosen),
            "results": dialect.results(&report()),
        }));
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/py/check_sdk.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("TOOLCRIB_PYTHON can be run");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(Value::Array(cases).to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}
