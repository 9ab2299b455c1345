//! Correct calls of a public collection, on the wire of each dialect and back.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use toolcrib_core::{PlanRequest, RawArguments, ToolName, ToolSpec};
use toolcrib_dialect::Dialect;

use crate::corpora::lines;
use crate::fixture::{plan_of, spec, variants};

/// A call as a model of this API writes it.
fn written(dialect: &dyn Dialect, wire: &str, arguments: &Map<String, Value>) -> Value {
    let text = Value::Object(arguments.clone()).to_string();
    match dialect.name() {
        "openai-chat" => {
            json!([{"id": "1", "type": "function", "function": {"name": wire, "arguments": text}}])
        }
        "openai-responses" => {
            json!([{"type": "function_call", "call_id": "1", "name": wire, "arguments": text}])
        }
        "anthropic" => json!([{"type": "tool_use", "id": "1", "name": wire, "input": arguments}]),
        _ => json!([{"functionCall": {"name": wire, "args": arguments}}]),
    }
}

/// The tools that are sent strict, by wire name, with their fields.
fn strict_tools(tools: &Value) -> HashMap<String, Vec<String>> {
    let functions =
        tools.as_array().unwrap().iter().map(|tool| tool.get("function").unwrap_or(tool));
    functions
        .filter(|function| function.get("strict") == Some(&Value::Bool(true)))
        .filter_map(|function| {
            let fields = function.pointer("/parameters/properties")?.as_object()?;
            Some((function["name"].as_str()?.to_owned(), fields.keys().cloned().collect()))
        })
        .collect()
}

/// The name of a tool and its arguments.
type Correct = (String, Map<String, Value>);

/// The functions of the collection that are called, and their correct calls.
fn collected() -> (Vec<ToolSpec>, Vec<Correct>) {
    let mut specs = Vec::new();
    let mut calls = Vec::new();
    let mut seen = HashSet::new();
    for (number, line) in lines("formats/bfcl-calls.jsonl").into_iter().enumerate() {
        let unique = |name: &Value| {
            ToolName::sanitize(&format!("{number}.{}", name.as_str().unwrap())).to_string()
        };
        let called = line["calls"].as_array().unwrap().iter();
        let called: Vec<_> = called.filter(|call| call["valid"] == true).collect();
        for function in line["functions"].as_array().unwrap() {
            let name = unique(&function["name"]);
            let is_called = called.iter().any(|call| call["name"] == function["name"]);
            if is_called && seen.insert(name.clone()) {
                specs.push(spec(&name, "A tool.", function["parameters"].clone()));
            }
        }
        for call in called {
            calls.push((unique(&call["name"]), call["arguments"].as_object().unwrap().clone()));
        }
    }
    (specs, calls)
}

#[test]
fn correct_calls_come_back_as_they_were() {
    let (specs, calls) = collected();
    if calls.is_empty() {
        println!("skipped: the collection of calls is not here");
        return;
    }
    let plan = plan_of(specs, PlanRequest::default());
    for (folder, dialect) in variants() {
        let rendering = dialect.rendering(&plan);
        let strict = strict_tools(&rendering.tools);
        let mut nulls = 0;
        for (name, arguments) in &calls {
            let wire = rendering.wire_name(name).unwrap();
            let mut sent = arguments.clone();
            for field in strict.get(wire).into_iter().flatten() {
                if !sent.contains_key(field) {
                    sent.insert(field.clone(), Value::Null);
                    nulls += 1;
                }
            }
            let mut found = dialect.calls(&plan, &written(dialect.as_ref(), wire, &sent)).unwrap();
            let call = found.pop().unwrap();
            let value = match call.arguments {
                RawArguments::Text(text) => serde_json::from_str(&text).unwrap(),
                RawArguments::Value(value) => value,
                RawArguments::Absent => json!({}),
            };
            assert_eq!((&call.name, value), (name, Value::Object(arguments.clone())), "{folder}");
        }
        println!("{folder}: {} calls there and back, {nulls} nulls dropped", calls.len());
    }
}
