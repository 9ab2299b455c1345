//! The basic tools through the gate.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the lints' leave for tests does not reach the helpers of tests"
)]

use serde_json::{Value, json};
use toolcrib_core::{Call, Caller, PlanRequest, RawArguments, Response};
use toolcrib_engine::Crib;

mod arithmetic;
mod identity;
mod json_query;
mod specs;
mod text;
mod time;

/// Runs one call through a crib of all basic tools.
async fn call(tool: &str, arguments: Value) -> Response {
    let crib = Crib::of(toolcrib_basics::tools());
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let calls = vec![Call::new("1", tool, RawArguments::Value(arguments))];
    crib.run(&plan, calls).await.responses.pop().unwrap()
}

/// What came of a call: its data, or the kind and the text of its failure.
async fn outcome(tool: &str, arguments: Value) -> Value {
    let response = call(tool, arguments).await;
    match (response.error(), response.content()) {
        (Some(error), _) => json!({ error.kind.as_str(): error.message }),
        (None, Some(content)) => {
            let structured = content.structured.clone().unwrap();
            assert_eq!(response.text(), structured.to_string(), "models read the same data");
            let spec = toolcrib_basics::tools().get(tool).unwrap().spec.clone();
            let schema = spec.output.as_ref().unwrap().value();
            for field in schema["required"].as_array().into_iter().flatten() {
                let is_there = structured.get(field.as_str().unwrap()).is_some();
                assert!(is_there, "{tool}: {field} is required in {schema}");
            }
            structured
        }
        (None, None) => json!(response.outcome.as_str()),
    }
}

/// Runs rows of arguments and whole expected outcomes.
async fn table(tool: &str, rows: impl IntoIterator<Item = (Value, Value)>) {
    for (arguments, expected) in rows {
        assert_eq!(outcome(tool, arguments.clone()).await, expected, "{tool} {arguments}");
    }
}

fn told(message: &str) -> Value {
    json!({ "tool": message })
}

/// The schema refused the arguments before the tool saw them.
async fn refused(tool: &str, rows: impl IntoIterator<Item = Value>) {
    for arguments in rows {
        let response = call(tool, arguments.clone()).await;
        let kind = response.error().map(|error| error.kind.as_str());
        assert_eq!(kind, Some("invalid_arguments"), "{tool} {arguments}");
    }
}
