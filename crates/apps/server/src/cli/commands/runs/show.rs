//! A run in full: what was said, what was called, what it cost.

use anyhow::Result;
use serde_json::{Value, json};
use toolcrib_agent::{Cassette, InputPart, RunEvent, ThreadItem};

use super::row::row;
use crate::cli::CommandExit;
use crate::cli::output::Output;
use crate::http::agents::runs::events::numbered;

pub(super) fn show(output: &Output, cassette: &Cassette) -> Result<CommandExit> {
    let (items, events) = (cassette.items()?, cassette.events()?);
    if output.json {
        let id = &cassette.head().id;
        let events = events.iter().enumerate().map(|(number, event)| numbered(id, number, event));
        let mut run = row(cassette);
        if let Value::Object(fields) = &mut run {
            fields.insert("items".to_owned(), items.iter().map(plain).collect());
            fields.insert("events".to_owned(), events.collect());
        }
        output.value(&run)?;
        return Ok(CommandExit::Done);
    }
    for item in &items {
        match item {
            ThreadItem::System { text } => told(output, "System", text)?,
            ThreadItem::User { parts } => {
                let words: Vec<_> = parts.iter().map(part).collect();
                told(output, "User", &words.join("\n"))?;
            }
            ThreadItem::Assistant { text, calls, .. } => {
                output.heading("Assistant")?;
                if !text.is_empty() {
                    output.indented(text)?;
                }
                for call in calls {
                    output.indented(&format!("calls {} {}", call.name, call.arguments))?;
                }
            }
            ThreadItem::Summary { text, hides } => {
                told(output, &format!("Summary of the first {hides} entries"), text)?;
            }
            ThreadItem::Results { results, .. } => {
                for result in results {
                    let error = if result.is_error { ", which failed" } else { "" };
                    told(output, &format!("Result of {}{error}", result.name), &result.text)?;
                }
            }
        }
    }
    summary(output, cassette, &events)?;
    Ok(CommandExit::Done)
}

fn summary(output: &Output, cassette: &Cassette, events: &[RunEvent]) -> Result<()> {
    let row = row(cassette);
    let word = |key: &str| match row.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "-".to_owned(),
    };
    output.heading("Run")?;
    let waits = events.iter().filter(|event| event.waiting().is_some()).count();
    output.indented(&format!(
        "{} of {}: {}, stop {}, {} turns, {} tokens, {} events, {waits} calls that waited",
        word("id"),
        word("agent"),
        word("state"),
        word("stop"),
        word("turns"),
        word("tokens"),
        events.len(),
    ))
}

fn told(output: &Output, who: &str, what: &str) -> Result<()> {
    output.heading(who)?;
    output.indented(what)
}

fn part(part: &InputPart) -> String {
    match part {
        InputPart::Text { text } => text.clone(),
        InputPart::Image { mime, .. } => format!("[{mime}]"),
        InputPart::ImageUrl { url } => format!("[{url}]"),
        InputPart::File { name, mime, .. } => format!("[{name}, {mime}]"),
    }
}

/// An item without what only its API reads.
fn plain(item: &ThreadItem) -> Value {
    let mut told = json!(item);
    if let Value::Object(fields) = &mut told {
        fields.remove("echo");
    }
    told
}
