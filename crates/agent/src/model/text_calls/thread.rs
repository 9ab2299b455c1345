//! A thread in the words of a model that calls in its text.

use serde_json::{Value, json};

use super::format::TextCallFormat;
use super::{bare, cline, hermes, llama, react};
use crate::item::compaction::note;
use crate::item::{CallText, Echo, InputPart, ResultText, ThreadItem};

/// The name under which the turns of a format are kept: the messages of such a turn are no use to
/// a model that is asked otherwise.
pub(crate) fn echo_name(dialect: &str, format: TextCallFormat) -> String {
    format!("{dialect}+{}", format.as_str())
}

/// The items with all calls and results as words. Every call has its answer already.
pub(crate) fn retold(
    format: TextCallFormat,
    dialect: &str,
    items: Vec<ThreadItem>,
) -> Vec<ThreadItem> {
    let mut told: Vec<ThreadItem> = Vec::with_capacity(items.len());
    let own = echo_name(dialect, format);
    // Whether the last entry is one of results: what a user says next belongs into it, since many
    // templates want user and model in turns.
    let mut is_open = false;
    for item in items {
        match item {
            ThreadItem::System { .. } => told.push(item),
            ThreadItem::Summary { text, .. } => {
                told.push(ThreadItem::User { parts: vec![InputPart::Text { text: note(&text) }] });
            }
            ThreadItem::User { parts } => match told.last_mut() {
                Some(ThreadItem::User { parts: before }) if is_open => before.extend(parts),
                _ => told.push(ThreadItem::User { parts }),
            },
            ThreadItem::Assistant { text, calls, echo } => {
                let is_plain = calls.is_empty();
                let echo = echo.filter(|echo| echo.dialect == own || is_plain);
                let echo = echo.map(|echo| {
                    let is_own = echo.dialect == own;
                    Echo { dialect: if is_own { dialect.to_owned() } else { echo.dialect }, ..echo }
                });
                told.push(ThreadItem::Assistant {
                    text: turn(format, text, &calls),
                    calls: Vec::new(),
                    echo,
                });
            }
            ThreadItem::Results { results, .. } => {
                let text = answers(format, &results);
                told.push(ThreadItem::User { parts: vec![InputPart::Text { text }] });
                is_open = true;
                continue;
            }
        }
        is_open = false;
    }
    told
}

fn turn(format: TextCallFormat, text: String, calls: &[CallText]) -> String {
    if calls.is_empty() {
        return text;
    }
    let arguments = |call: &CallText| {
        let read = serde_json::from_str::<Value>(&call.arguments);
        read.ok().filter(Value::is_object).unwrap_or_else(|| json!({}))
    };
    let calls: Vec<_> = calls.iter().map(|call| (call.name.as_str(), arguments(call))).collect();
    let calls = written(format, &calls);
    match (text.is_empty(), format) {
        (true, _) => calls,
        (false, TextCallFormat::React) => format!("Thought: {text}\n{calls}"),
        (
            false,
            TextCallFormat::Hermes
            | TextCallFormat::Json
            | TextCallFormat::Llama
            | TextCallFormat::Cline,
        ) => format!("{text}\n{calls}"),
    }
}

/// Calls as a model of this format writes them: names with arguments.
pub(crate) fn written(format: TextCallFormat, calls: &[(&str, Value)]) -> String {
    match format {
        TextCallFormat::Hermes => hermes::write(calls),
        TextCallFormat::Json => bare::write(calls),
        TextCallFormat::Llama => llama::write(calls),
        TextCallFormat::Cline => cline::write(calls),
        TextCallFormat::React => react::write(calls),
    }
}

fn answers(format: TextCallFormat, results: &[ResultText]) -> String {
    let told: Vec<_> = results.iter().map(|result| answer(format, result)).collect();
    told.join("\n")
}

fn answer(format: TextCallFormat, ResultText { name, text, is_error, .. }: &ResultText) -> String {
    match format {
        TextCallFormat::Hermes => format!("<tool_response>\n{text}\n</tool_response>"),
        TextCallFormat::React => format!("Observation: {text}"),
        TextCallFormat::Cline => {
            let what = if *is_error { "Error" } else { "Result" };
            format!("[{name}] {what}:\n{text}")
        }
        TextCallFormat::Json | TextCallFormat::Llama => {
            let what = if *is_error { "error" } else { "result" };
            // What was no call may have had no name.
            let name = if name.is_empty() { "your call".to_owned() } else { format!("`{name}`") };
            format!("The {what} of {name}:\n{text}")
        }
    }
}
