//! A hundred tools of which the model sees three: it searches, and calls what it found.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use toolcrib::dialect::OpenAiChat;
use toolcrib::prelude::*;
use toolcrib::serde_json::{Value, json};
use toolcrib::{Discovery, NameConflict};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct City {
    /// The city.
    city: String,
}

/// Half of them tell the weather of a region, half its trains.
fn tools() -> Result<Toolset, Box<dyn std::error::Error>> {
    let mut all: Vec<Arc<dyn Tool>> = Vec::new();
    for region in 0..50 {
        for about in ["weather", "trains"] {
            let name = format!("{about}_region_{region}");
            let text = format!("Tells the {about} of a city in region {region}.");
            let answer = move |it: City| async move { Ok(format!("{about}: fine in {}", it.city)) };
            all.push(tool(&name, &text, Effect::Read, answer)?);
        }
    }
    Toolset::of(all).map_err(|conflict: NameConflict| conflict.into())
}

fn reply(name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let call = json!({"id": "call_1", "type": "function", "function": function});
    json!({"role": "assistant", "tool_calls": [call]})
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let lazy = PlanRequest::default().show(Discovery::Lazy);
    let crib = Crib::of(tools()?);
    let mut conversation =
        Conversation::new(crib, Caller::local(), OpenAiChat::default()).wishing(lazy);
    conversation.push(json!({"role": "user", "content": "How is the weather in region 7?"}));

    let body = conversation.request()?;
    let shown = body.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
    println!("The model is shown {shown} tools");

    let search = json!({"query": "weather region 7", "limit": 3});
    conversation.take(&reply("discover_tools", &search)).await?;
    println!("It found: {}", json!(conversation.messages().last()));

    let call = json!({"name": "weather_region_7", "parameters": {"city": "Bergen"}});
    conversation.take(&reply("invoke_tool", &call)).await?;
    let told = json!(conversation.messages().last()).to_string();
    println!("It is told: {told}");
    assert_eq!(shown, 3);
    assert!(told.contains("weather: fine in Bergen"), "{told}");
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
