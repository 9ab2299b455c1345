//! Calls as Hermes and Qwen write them: JSON between `<tool_call>` and `</tool_call>`.

use serde_json::{Value, json};

use super::bare;
use super::cursor::Cursor;
use super::format::TextCall;
use super::tools::TextTools;

pub(crate) const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// The tags are those that these models learned.
pub(crate) fn instructions(tools: &TextTools) -> String {
    format!(
        "# Tools\n\nThese tools are yours to call, each with a JSON Schema of its parameters:\n\
         <tools>\n{}\n</tools>\n\nWrite a block of this form for each call, with the name of the \
         tool and its arguments as one JSON object:\n{OPEN}\n{{\"name\": \"NAME\", \
         \"arguments\": {{..}}}}\n{CLOSE}\nIts result is told to you between <tool_response> and \
         </tool_response>.",
        bare::lines(tools.definitions())
    )
}

pub(crate) fn write(calls: &[(&str, Value)]) -> String {
    let blocks: Vec<_> = calls
        .iter()
        .map(|(name, arguments)| {
            format!("{OPEN}\n{}\n{CLOSE}", json!({ "name": name, "arguments": arguments }))
        })
        .collect();
    blocks.join("\n")
}

/// What stands behind an opening tag.
pub(crate) enum TagBody<'a> {
    /// JSON that is whole by its brackets.
    Whole(&'a str),
    /// Something up to the closing tag.
    Closed(&'a str),
    /// Something with no end.
    Open,
}

/// Reads up to the closing tag and a little further: many models write a bracket too many before it,
/// or leave it out behind JSON that is whole.
///
/// `is_unbalanced`: brackets were open beyond a closing tag once already; from then on the tags
/// alone count, so that nothing is read again and again.
pub(crate) fn body<'a>(
    cursor: &mut Cursor<'a>,
    (open, closes): (&str, &[&str]),
    is_unbalanced: &mut bool,
) -> TagBody<'a> {
    cursor.skip_space();
    if cursor.eat("```") {
        cursor.take_while(|letter| letter.is_ascii_alphanumeric());
        cursor.skip_space();
    }
    let begin = cursor.clone();
    let mut bracketed = 0;
    let is_json = cursor.starts_with("{") || cursor.starts_with("[");
    if is_json && !*is_unbalanced {
        match cursor.take_json() {
            Some(json) => {
                cursor.take_while(|letter| letter.is_whitespace() || matches!(letter, '}' | '`'));
                let is_closed = closes.iter().any(|close| cursor.eat(close));
                if is_closed || cursor.is_done() || cursor.starts_with(open) {
                    return TagBody::Whole(json);
                }
                *cursor = begin;
                bracketed = json.len();
            }
            None => *is_unbalanced = true,
        }
    }
    let ends = closes.iter().filter_map(|close| Some((cursor.rest().find(close)?, close.len())));
    let Some((end, length)) = ends.min() else {
        cursor.skip_to_end();
        return TagBody::Open;
    };
    *is_unbalanced |= end < bracketed;
    let text = cursor.rest().get(..end).unwrap_or_default();
    cursor.skip(end + length);
    TagBody::Closed(text)
}

/// The calls of the block that begins here.
pub(crate) fn block(cursor: &mut Cursor<'_>, from: usize, unbalanced: &mut bool) -> Vec<TextCall> {
    let at = from + cursor.at();
    cursor.skip(OPEN.len());
    let text = match body(cursor, (OPEN, &[CLOSE]), unbalanced) {
        TagBody::Whole(text) | TagBody::Closed(text) => text,
        TagBody::Open => {
            let fault = "is not closed: end it with `</tool_call>`";
            return vec![TextCall::malformed(None, at, fault)];
        }
    };
    match bare::value(text) {
        Ok(Value::Array(items)) if !items.is_empty() => {
            items.into_iter().map(|item| bare::call(item, at)).collect()
        }
        Ok(value) => vec![bare::call(value, at)],
        Err(fault) => vec![TextCall::malformed(None, at, &format!("cannot be read: {fault}"))],
    }
}
