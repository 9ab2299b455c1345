//! A tool from a function: its schema, a call as a model writes it, and the answer.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use toolcrib::dialect::{Dialect, OpenAiChat};
use toolcrib::prelude::*;
use toolcrib::serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Convert {
    /// Degrees Celsius.
    celsius: f64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let convert = tool(
        "to_fahrenheit",
        "Converts degrees Celsius to Fahrenheit.",
        Effect::Read,
        |it: Convert| async move { Ok(it.celsius * 9.0 / 5.0 + 32.0) },
    )?;
    let (crib, api) = (Crib::new([convert])?, OpenAiChat::default());
    let plan = crib.plan(&Caller::local(), PlanRequest::default())?;
    println!("The model is shown: {}", api.tools(&plan));

    // The number as text and a comma too many: what is meant is clear, so it is put right.
    let reply = json!({"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function",
        "function": {"name": "to_fahrenheit", "arguments": "{\"celsius\": \"20\",}"}}]});
    let report = crib.run(&plan, api.calls(&plan, &reply)?).await;
    let answer = api.results(&report);
    println!("The model is told: {}", json!(answer));
    let text = report.responses.first().map(toolcrib::Response::text).unwrap_or_default();
    assert!(text.starts_with("68.0"), "{text}");
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
