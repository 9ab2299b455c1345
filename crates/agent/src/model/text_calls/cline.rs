//! Calls as Cline and its like have them: tags named after the tool and its parameters.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use toolcrib_core::RawArguments;

use super::bare;
use super::cursor::{ClosingTags, Cursor, name};
use super::format::TextCall;
use super::tools::{TextTool, TextTools, types};

pub(crate) fn instructions(tools: &TextTools) -> String {
    let mut text = "A call of a tool is written in tags: the name of the tool, and in it each \
                    parameter in tags of its own:\n\n<tool_name>\n\
                    <parameter_name>value</parameter_name>\n</tool_name>\n\nA value is written as \
                    it is and nothing is escaped; objects and lists are written as JSON. Begin a \
                    call on a line of its own. Its result is told to you in the next message.\n\n\
                    # Tools"
        .to_owned();
    for tool in tools.all() {
        // Nothing is lost: writing into a `String` cannot fail.
        let _ =
            write!(text, "\n\n## {}\nDescription: {}\nParameters:", tool.name, tool.description);
        let mut usage = String::new();
        for (name, schema, is_required) in tool.fields() {
            let need = if is_required { "required" } else { "optional" };
            let _ = write!(text, "\n- {name}: ({need}) {schema}");
            let _ = write!(usage, "\n<{name}>value</{name}>");
        }
        if usage.is_empty() {
            text.push_str(" none");
        }
        let _ = write!(text, "\nUsage:\n<{0}>{usage}\n</{0}>", tool.name);
        if let Some(shared) = tool.parameters.get("$defs").or(tool.parameters.get("definitions")) {
            let _ = write!(text, "\nDefinitions: {shared}");
        }
    }
    text
}

pub(crate) fn write(calls: &[(&str, Value)]) -> String {
    let blocks: Vec<_> = calls
        .iter()
        .map(|(name, arguments)| {
            let mut block = format!("<{name}>");
            for (field, value) in arguments.as_object().into_iter().flatten() {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let _ = write!(block, "\n<{field}>{value}</{field}>");
            }
            let _ = write!(block, "\n</{name}>");
            block
        })
        .collect();
    blocks.join("\n")
}

/// The call of the block that begins here.
pub(crate) fn block(
    cursor: &mut Cursor<'_>,
    from: usize,
    tools: &TextTools,
    tags: &ClosingTags<'_>,
) -> TextCall {
    let begin = cursor.at();
    cursor.eat("<");
    let called = name(cursor.rest());
    cursor.skip(called.len() + 1);
    let end = format!("</{called}>");
    let tool = tools.get(called);
    let mut arguments = Map::new();
    let fault = loop {
        cursor.skip_space();
        if cursor.eat(&end) {
            let arguments = RawArguments::Value(Value::Object(arguments));
            return TextCall::Read { name: called.to_owned(), arguments };
        }
        let place = from + cursor.at();
        let field = cursor.rest().strip_prefix('<').map(name).unwrap_or_default();
        if field.is_empty() || !cursor.eat(&format!("<{field}>")) {
            break if cursor.is_done() {
                format!("is not closed: end it with `{end}`")
            } else {
                format!("has something else at byte {place} where a parameter or `{end}` should be")
            };
        }
        let Some(until) = tags.next(field, cursor.at()) else {
            break format!("does not close `<{field}>` of byte {place}: end it with `</{field}>`");
        };
        let text = cursor.rest().get(..until - cursor.at()).unwrap_or_default();
        arguments.insert(field.to_owned(), typed(text, tool, field));
        cursor.skip(text.len() + field.len() + 3);
    };
    match tags.next(called, cursor.at()) {
        Some(until) => cursor.skip(until - cursor.at() + end.len()),
        None => cursor.skip_to_end(),
    }
    TextCall::malformed(Some(called), from + begin, &fault)
}

/// A value by the schema of its parameter: what may be no string is read as JSON.
fn typed(text: &str, tool: Option<TextTool<'_>>, field: &str) -> Value {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    let schema = tool.and_then(|tool| tool.field(field));
    let types = schema.map(types).unwrap_or_default();
    let may_be = |kind: &str| types.is_empty() || types.contains(&kind);
    let begin = text.trim_start();
    let is_json = (begin.starts_with('{') && may_be("object"))
        || (begin.starts_with('[') && may_be("array"))
        || (begin.trim_end() == "null" && types.contains(&"null"))
        || !may_be("string");
    // What is no JSON the executor puts right, or says what is wrong with it.
    let read = if is_json { bare::value(text.trim()).ok() } else { None };
    read.unwrap_or_else(|| text.into())
}
