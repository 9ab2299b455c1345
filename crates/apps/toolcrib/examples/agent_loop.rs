//! The loop of an agent by hand. The model here is a function that answers as an API does; put a
//! request to a real one in its place.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use toolcrib::dialect::OpenAiChat;
use toolcrib::prelude::*;
use toolcrib::serde_json::{Map, Value, json};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Product {
    x: i64,
    y: i64,
}

/// Asks for 6 times 7, and then says what it was told.
fn model(body: &Map<String, Value>) -> Value {
    let messages = body.get("messages").and_then(Value::as_array);
    let last = messages.and_then(|messages| messages.last());
    match last.filter(|last| last.get("role") == Some(&json!("tool"))) {
        Some(told) => json!({"role": "assistant", "content": told.get("content")}),
        None => json!({"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function",
            "function": {"name": "multiply", "arguments": "{\"x\": 6, \"y\": 7}"}}]}),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let multiply =
        tool("multiply", "Multiplies two numbers.", Effect::Read, |it: Product| async move {
            Ok(it.x * it.y)
        })?;
    let crib = Crib::new([multiply])?;
    let mut conversation = Conversation::new(crib, Caller::local(), OpenAiChat::default());
    conversation.push(json!({"role": "user", "content": "What is 6 times 7?"}));
    // A loop needs a bound: a model may call tools for ever.
    for _ in 0..10 {
        let mut body = conversation.request()?;
        body.insert("messages".to_owned(), conversation.messages().into());
        match conversation.take(&model(&body)).await? {
            Step::Send => {}
            Step::Ask(tickets) => println!("a person has to decide about {tickets:?}"),
            Step::Give(text) => println!("{text}"),
            Step::Done => break,
        }
    }
    let last = conversation.messages().last();
    println!("{}", json!(last));
    assert_eq!(last.and_then(|last| last.get("content")), Some(&json!("42")));
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
