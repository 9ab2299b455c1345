//! Calls in the words of a model, for models that do not use the API's own.
//!
//! Read in this order: [`TextCallFormat`], `tools` (what is told of the tools), `reader` (an answer
//! while it comes), `blocks` and one file for each format, `thread` (how it goes back).
//!
//! Only what the model wrote in a turn is read, never what it was told. What stands where a call
//! should and is none becomes a call that says so: nothing is left out in silence. Every reader
//! does work in proportion to the text.

mod bare;
mod blocks;
mod cline;
mod cursor;
pub(super) mod format;
mod hermes;
mod llama;
mod python;
mod react;
mod reader;
mod thread;
mod tools;

use serde_json::{Map, Value, json};
use toolcrib_core::{Call, Plan, RawArguments};
use toolcrib_dialect::{Dialect as _, OpenAiChat};

pub use self::format::TextCallFormat;
pub(super) use self::format::TextPiece;
use self::format::{TextCall, TextTurn};
pub(super) use self::reader::TextCallReader;
pub(super) use self::thread::{echo_name, retold};
pub(super) use self::tools::TextTools;

/// What a model is told in the turn that has to end.
pub(super) const CALL_NONE: &str = "Call no tool any more: answer with what you have.";

/// The instructions with what the model has to know of its tools.
pub(super) fn instructions(
    format: TextCallFormat,
    own: &str,
    tools: &TextTools,
    is_last: bool,
) -> String {
    if tools.is_empty() {
        return own.to_owned();
    }
    let told = match format {
        TextCallFormat::Hermes => hermes::instructions(tools),
        TextCallFormat::Json => bare::instructions(tools),
        TextCallFormat::Llama => llama::instructions(tools),
        TextCallFormat::Cline => cline::instructions(tools),
        TextCallFormat::React => react::instructions(tools),
    };
    // Behind the rest, so that what servers keep of the beginning stays of use.
    let last = if is_last { CALL_NONE } else { "" };
    let parts: Vec<_> = [own, &told, last].into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// An answer, read as a whole.
pub(super) fn read(format: TextCallFormat, tools: &TextTools, text: &str) -> TextTurn {
    let mut reader = TextCallReader::new(format, tools);
    reader.push(text);
    reader.finish().1
}

/// The calls as an executor takes them. `turn`: makes their ids others than those of the turns
/// before.
pub(super) fn calls(plan: &Plan, found: Vec<TextCall>, turn: usize) -> Vec<Call> {
    let calls = found.into_iter().enumerate().map(|(place, call)| {
        let id = format!("call_{turn}_{}", place + 1);
        match call {
            TextCall::Read { name, arguments } => of_plan(plan, id, name, arguments),
            TextCall::Malformed { name, fault } => {
                // Named like a tool of the caller it would be handed over, though it is no call.
                let meant = name.map(|name| of_plan(plan, id.clone(), name, RawArguments::Absent));
                let meant = meant.filter(|call| plan.get(&call.name).is_some());
                let mut call = Call::malformed(id, fault);
                call.wire.name = meant.map(|call| call.wire.name).unwrap_or_default();
                call
            }
        }
    });
    calls.collect()
}

/// A call by the names that the model was told.
fn of_plan(plan: &Plan, id: String, name: String, arguments: RawArguments) -> Call {
    let mut function = Map::from_iter([("name".to_owned(), Value::from(name.as_str()))]);
    let written = match &arguments {
        RawArguments::Absent => None,
        RawArguments::Text(text) => Some(text.as_str().into()),
        RawArguments::Value(value) => Some(value.clone()),
    };
    function.extend(written.map(|value| ("arguments".to_owned(), value)));
    let item = json!({ "id": id, "type": "function", "function": function });
    let read = OpenAiChat::default().read_calls(plan, &Value::Array(vec![item])).pop();
    let mut call = read.unwrap_or_else(|| Call::new(id, name, arguments));
    call.named = false;
    call
}

/// The format in which a text has a call of a tool of this plan; `None`: it has none in any.
pub fn text_call_format(text: &str, plan: &Plan) -> Option<TextCallFormat> {
    let tools = TextTools::of(plan, []);
    let calls = |format: &TextCallFormat| {
        read(*format, &tools, text).calls.iter().any(|call| match call {
            TextCall::Read { name, .. } => tools.has(name),
            TextCall::Malformed { .. } => false,
        })
    };
    TextCallFormat::WORDS.into_iter().map(|(_, format)| format).find(calls)
}
