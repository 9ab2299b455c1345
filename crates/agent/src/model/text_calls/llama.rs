//! Calls as the Llama models write them, in all the ways that their versions learned.

use serde_json::{Value, json};
use toolcrib_core::RawArguments;

use super::bare::{self, CallShape};
use super::cursor::{Cursor, name};
use super::format::TextCall;
use super::hermes::{self, TagBody};
use super::python;
use super::tools::TextTools;

pub(crate) const PYTHON_TAG: &str = "<|python_tag|>";
pub(crate) const FUNCTION: &str = "<function=";
const CLOSES: [&str; 2] = ["</function>", "<function>"];

/// What ends a message of these models; some servers leave it in the text.
const ENDS: [&str; 4] = ["<|eom_id|>", "<|eot_id|>", "<|eot|>", "<|eom|>"];

/// The fields are those that these models learned.
pub(crate) fn instructions(tools: &TextTools) -> String {
    format!(
        "These functions are yours to call, each with a JSON Schema of its parameters. A call is \
         one JSON object of this form, with values and no variables:\n{{\"name\": \"NAME\", \
         \"parameters\": {{..}}}}\nWrite `;` between several calls, and nothing beside them. When \
         no function is needed, answer in plain words.\n\n{}",
        bare::lines(tools.definitions())
    )
}

pub(crate) fn write(calls: &[(&str, Value)]) -> String {
    let all: Vec<_> = calls
        .iter()
        .map(|(name, arguments)| json!({ "name": name, "parameters": arguments }).to_string())
        .collect();
    all.join("; ")
}

/// The calls of an answer that is nothing else; `None`: it is something else too.
pub(crate) fn whole(text: &str, from: usize, tools: &TextTools) -> Option<Vec<TextCall>> {
    if let Some(calls) = bare::read(text, from, CallShape::Exact) {
        return Some(calls);
    }
    let text = ENDS.iter().fold(text.trim_end(), |text, end| text.trim_end_matches(end));
    let first = python::first_name(text)?;
    match python::read(text) {
        Ok(calls) => Some(calls.into_iter().map(of_python).collect()),
        // A list of words may begin so too.
        Err(_) if !tools.has(first) => None,
        Err((at, expected)) => {
            let fault = format!("cannot be read at byte {}: write {expected} there", from + at);
            Some(vec![TextCall::malformed(Some(first), from, &fault)])
        }
    }
}

fn of_python((name, arguments): python::PythonCall) -> TextCall {
    TextCall::Read { name, arguments: RawArguments::Value(arguments.into()) }
}

/// The calls of the block that begins here.
pub(crate) fn block(cursor: &mut Cursor<'_>, from: usize, unbalanced: &mut bool) -> Vec<TextCall> {
    if cursor.starts_with(PYTHON_TAG) {
        return behind_python_tag(cursor, from);
    }
    let at = from + cursor.at();
    cursor.skip(FUNCTION.len());
    let called = name(cursor.rest());
    cursor.skip(called.len());
    let is_opened = !called.is_empty() && cursor.eat(">");
    let text = match hermes::body(cursor, (FUNCTION, &CLOSES), unbalanced) {
        TagBody::Whole(text) | TagBody::Closed(text) => text.trim(),
        TagBody::Open => {
            let fault = "is not closed: end it with `</function>`";
            return vec![TextCall::malformed(Some(called), at, fault)];
        }
    };
    if !is_opened {
        let fault = "names no tool: write `<function=NAME>{..}</function>`";
        return vec![TextCall::malformed(None, at, fault)];
    }
    let call = |arguments| TextCall::Read { name: called.to_owned(), arguments };
    vec![match bare::value(text) {
        _ if text.is_empty() => call(RawArguments::Absent),
        Ok(value) => call(RawArguments::Value(value)),
        Err(fault) => TextCall::malformed(Some(called), at, &format!("cannot be read: {fault}")),
    }]
}

fn behind_python_tag(cursor: &mut Cursor<'_>, from: usize) -> Vec<TextCall> {
    let at = from + cursor.at();
    cursor.skip(PYTHON_TAG.len());
    let begin = from + cursor.at();
    let rest = cursor.rest();
    let end = ENDS.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    let text = rest.get(..end).unwrap_or_default();
    // Behind the end of its message a model says nothing.
    cursor.skip_to_end();
    if let Some(calls) = bare::read(text, begin, CallShape::Tagged) {
        return calls;
    }
    match python::read(text) {
        Ok(calls) => calls.into_iter().map(of_python).collect(),
        Err((place, expected)) => {
            let fault = format!(
                "cannot be read at byte {}: write {{\"name\": \"NAME\", \"parameters\": {{..}}}}, \
                 or {expected} there",
                begin + place
            );
            vec![TextCall::malformed(None, at, &fault)]
        }
    }
}
