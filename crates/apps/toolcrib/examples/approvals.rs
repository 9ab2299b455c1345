//! A person is asked before a call that destroys something, and says yes to one and no to another.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use toolcrib::dialect::OpenAiChat;
use toolcrib::prelude::*;
use toolcrib::serde_json::{Value, json};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Delete {
    /// The file to delete.
    path: String,
}

fn call(id: &str, path: &str) -> Value {
    let arguments = json!({ "path": path }).to_string();
    let function = json!({"name": "delete_file", "arguments": arguments});
    json!({"id": id, "type": "function", "function": function})
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let deleted = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&deleted);
    let delete = tool("delete_file", "Deletes a file.", Effect::Destroy, move |it: Delete| {
        let count = Arc::clone(&count);
        async move {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(format!("deleted {}", it.path))
        }
    })?;
    let crib = Crib::new([delete])?;
    let mut conversation = Conversation::new(crib, Caller::local(), OpenAiChat::default());
    conversation.push(json!({"role": "user", "content": "Delete a.txt and b.txt."}));
    conversation.request()?;

    let calls = [call("call_1", "a.txt"), call("call_2", "b.txt")];
    let reply = json!({"role": "assistant", "tool_calls": calls});
    let mut step = conversation.take(&reply).await?;
    let mut is_first = true;
    while let Step::Ask(tickets) = &step {
        let Some(ticket) = tickets.first() else { break };
        println!("Waiting for a person: {ticket}");
        let no = || Decision::Deny { reason: "b.txt is still needed".to_owned() };
        let decision = if is_first { Decision::Approve } else { no() };
        is_first = false;
        step = conversation.decide(ticket, decision).await?;
    }
    for message in conversation.messages() {
        println!("{message}");
    }
    assert_eq!(step, Step::Send);
    assert_eq!(deleted.load(Ordering::Relaxed), 1, "only what was approved has run");
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
