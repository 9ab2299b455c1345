//! Calls as bare JSON: the whole answer is one, or a list of them.

use serde_json::{Map, Value, json};
use toolcrib_core::RawArguments;
use toolcrib_json::repair::{self, Repair, RepairKind};

use super::cursor::Cursor;
use super::format::TextCall;
use super::tools::TextTools;

/// Whether a text that is JSON by its brackets has to have the shape of a call alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallShape {
    /// Nothing but the fields of a call, all of them: other JSON is an answer.
    Exact,
    /// A name: the tag before it says that it is a call.
    Tagged,
}

pub(crate) fn instructions(tools: &TextTools) -> String {
    format!(
        "You have these tools, each with a JSON Schema of its parameters:\n{}\n\nTo call a tool, \
         answer with nothing but a JSON object of this form:\n{{\"name\": \"NAME\", \
         \"arguments\": {{..}}}}\nTo call several at once, answer with a JSON list of such \
         objects. Write no other words beside a call; you are told its result. When no tool is \
         needed, answer in plain words.",
        lines(tools.definitions())
    )
}

/// One definition a line.
pub(crate) fn lines(definitions: &[Value]) -> String {
    let lines: Vec<_> = definitions.iter().map(Value::to_string).collect();
    lines.join("\n")
}

pub(crate) fn write(calls: &[(&str, Value)]) -> String {
    let all: Vec<_> = calls
        .iter()
        .map(|(name, arguments)| json!({ "name": name, "arguments": arguments }))
        .collect();
    match all.as_slice() {
        [one] => one.to_string(),
        several => Value::from(several.to_vec()).to_string(),
    }
}

/// The calls of a text that is nothing else; `None`: it is words.
///
/// Small models write a call, then its copy in a code fence and more of the kind: a copy behind
/// anything but a separator is none.
pub(crate) fn read(text: &str, from: usize, shape: CallShape) -> Option<Vec<TextCall>> {
    let mut cursor = Cursor::new(text);
    let (mut calls, mut is_behind_rubbish) = (Vec::<TextCall>::new(), false);
    loop {
        cursor.take_while(|letter| letter.is_whitespace() || matches!(letter, ';' | ','));
        if cursor.is_done() {
            break;
        }
        if cursor.eat("```") {
            cursor.take_while(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            is_behind_rubbish = true;
        } else if cursor.eat(".json") {
            is_behind_rubbish = true;
        } else if cursor.eat("<|") {
            cursor.take_until("|>")?;
        } else if cursor.starts_with("{") || cursor.starts_with("[") {
            let at = from + cursor.at();
            let begun = cursor.rest();
            let Some(one) = cursor.take_json() else {
                let is_call = !calls.is_empty() || is_like_call(begun, shape);
                let fault = "is not closed: write the whole JSON object again";
                calls.push(is_call.then(|| TextCall::malformed(None, at, fault))?);
                break;
            };
            for call in values(one, at, shape)? {
                let is_copy = is_behind_rubbish && calls.contains(&call);
                if !is_copy {
                    calls.push(call);
                }
            }
        } else {
            return None;
        }
    }
    (!calls.is_empty()).then_some(calls)
}

fn values(text: &str, at: usize, shape: CallShape) -> Option<Vec<TextCall>> {
    match value(text) {
        Ok(value) => {
            let items = if let Value::Array(items) = value { items } else { vec![value] };
            let is_ours = shape == CallShape::Tagged || items.iter().all(is_exact);
            (is_ours && !items.is_empty())
                .then(|| items.into_iter().map(|item| call(item, at)).collect())
        }
        Err(fault) if is_like_call(text, shape) => {
            Some(vec![TextCall::malformed(None, at, &format!("cannot be read: {fault}"))])
        }
        Err(_) => None,
    }
}

/// JSON as it is, or where it is plain what it was to be. Nothing is made up: what may have been
/// cut off is refused.
pub(crate) fn value(text: &str) -> Result<Value, String> {
    let read = repair::read(text).map_err(|error| error.to_string())?;
    match read.repairs.iter().find(|repair| !is_harmless(repair)) {
        None => Ok(read.value),
        Some(repair) => {
            let Repair { line, column, .. } = repair;
            Err(format!("it is no JSON at {line}:{column} of it: write strict JSON"))
        }
    }
}

fn is_harmless(repair: &Repair) -> bool {
    matches!(
        repair.change,
        RepairKind::Space
            | RepairKind::Fence
            | RepairKind::Comment
            | RepairKind::TrailingComma
            | RepairKind::ExtraComma
            | RepairKind::MissingComma
            | RepairKind::MissingBracket
            | RepairKind::StrayBracket
            | RepairKind::DoubledBrace
            | RepairKind::SingleQuote
            | RepairKind::TypographicQuote
            | RepairKind::RawControl
            | RepairKind::StrayBackslash
            | RepairKind::OddEscape
            | RepairKind::BareKey
            | RepairKind::Literal
            | RepairKind::Number
            | RepairKind::Tuple
    )
}

/// A value that was said to be a call.
pub(crate) fn call(value: Value, at: usize) -> TextCall {
    const SHAPE: &str = "write {\"name\": \"NAME\", \"arguments\": {..}}";
    let Value::Object(mut fields) = value else {
        return TextCall::malformed(None, at, &format!("is no JSON object: {SHAPE}"));
    };
    if let Some(Value::Object(inner)) = fields.get_mut("function") {
        fields = std::mem::take(inner);
    }
    let name = fields.get("name").or_else(|| fields.get("function"));
    let Some(name) = name.and_then(Value::as_str).filter(|name| !name.is_empty()) else {
        return TextCall::malformed(None, at, &format!("names no tool: {SHAPE}"));
    };
    let name = name.to_owned();
    let arguments = ["arguments", "parameters"].iter().find_map(|key| fields.remove(*key));
    TextCall::Read { name, arguments: RawArguments::from(arguments) }
}

fn is_exact(value: &Value) -> bool {
    let Value::Object(fields) = value else { return false };
    let of_call =
        |key: &String| matches!(key.as_str(), "name" | "arguments" | "parameters" | "type" | "id");
    let is_function = |fields: &Map<String, Value>| {
        fields.get("type").is_none_or(|kind| kind == "function")
            && fields.get("name").is_some_and(Value::is_string)
            && ["arguments", "parameters"].iter().any(|key| {
                fields.get(*key).is_some_and(|value| value.is_object() || value.is_string())
            })
            && fields.keys().all(of_call)
    };
    match fields.get("function") {
        Some(Value::Object(inner)) => {
            is_function(inner) && fields.keys().all(|key| key == "function" || of_call(key))
        }
        _ => is_function(fields),
    }
}

/// Whether broken JSON was to be a call.
fn is_like_call(text: &str, shape: CallShape) -> bool {
    let begin = text.trim_start_matches(|letter: char| {
        letter.is_whitespace() || matches!(letter, '{' | '[' | '"' | '\'')
    });
    let is_named = begin.starts_with("name") || begin.starts_with("type");
    let has_arguments = || text.contains("arguments") || text.contains("parameters");
    shape == CallShape::Tagged || (is_named && has_arguments())
}
