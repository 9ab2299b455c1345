//! A call that names another tool: it becomes a call of that one before anything is decided, so
//! that no gate but the one of a direct call is on its way.

use serde_json::{Map, Value};
use toolcrib_json::repair::RepairBounds;

use super::tools::Plan;
use crate::call::{Call, RawArguments};
use crate::outcome::messages;
use crate::outcome::{ErrorKind, ToolError};
use crate::tool::spec::Validation;

/// The field that names the tool, and what models write in its place.
const NAME: [&str; 4] = ["name", "tool_name", "tool", "toolName"];
/// The field with the arguments of that tool, and what models write in its place.
const PARAMETERS: [&str; 6] = ["parameters", "arguments", "params", "args", "input", "tool_input"];

/// Turns a call of the plan's relay into one of the tool that it names, and says what was put
/// right on the way. `None`: it is no such call. `Err`: it names nothing.
pub(crate) fn resolve(
    plan: &Plan,
    call: &mut Call,
    bounds: &RepairBounds,
) -> Option<Result<Vec<String>, ToolError>> {
    let relay = plan.meta_tools().relay.as_ref()?;
    call.relayed = false;
    if call.fault.is_some() || call.name != relay.as_str() {
        return None;
    }
    call.relayed = true;
    let arguments = std::mem::take(&mut call.arguments);
    Some(
        opened(plan, arguments, bounds)
            .and_then(|(fields, repairs)| named(plan, call, fields, repairs)),
    )
}

impl Plan {
    /// The tool that a call means: that which it names where it goes through another one. What its
    /// arguments say is read as the gate reads it. `None`: it is no call of the relay, or names
    /// nothing.
    pub fn meant(
        &self,
        name: &str,
        arguments: impl FnOnce() -> RawArguments,
        bounds: &RepairBounds,
    ) -> Option<String> {
        let relay = self.meta_tools().relay.as_ref().filter(|relay| relay.as_str() == name)?;
        let mut call = Call::new("", relay.as_str(), arguments());
        resolve(self, &mut call, bounds)?.ok()?;
        Some(call.name)
    }
}

fn failed(message: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidArguments, message)
}

/// The fields of a call of the relay itself.
fn opened(
    plan: &Plan,
    raw: RawArguments,
    bounds: &RepairBounds,
) -> Result<(Map<String, Value>, Vec<String>), ToolError> {
    let signature = || messages::relay_signature(plan.meta_tools().relay.as_ref());
    let (value, repairs) = match raw {
        RawArguments::Absent => (Value::Null, Vec::new()),
        RawArguments::Value(value) => (value, Vec::new()),
        RawArguments::Text(text) if text.trim().is_empty() => (Value::Null, Vec::new()),
        RawArguments::Text(text) => {
            let read = bounds
                .read(&text)
                .map_err(|error| failed(messages::unreadable(&error.to_string(), &signature())))?;
            let repairs = read.repairs.iter().map(ToString::to_string).collect();
            (read.value, repairs)
        }
    };
    match value {
        Value::Object(fields) => Ok((fields, repairs)),
        Value::Null => Ok((Map::new(), repairs)),
        Value::String(text) => {
            let inner = bounds.read(&text).ok().map(|read| read.value);
            let Some(Value::Object(fields)) = inner else {
                return Err(failed(messages::not_an_object("a string", &signature())));
            };
            let note = "opened an object that was written as a string".to_owned();
            Ok((fields, repairs.into_iter().chain([note]).collect()))
        }
        Value::Array(_) => Err(failed(messages::not_an_object("a list", &signature()))),
        Value::Number(_) => Err(failed(messages::not_an_object("a number", &signature()))),
        Value::Bool(_) => Err(failed(messages::not_an_object("true or false", &signature()))),
    }
}

fn named(
    plan: &Plan,
    call: &mut Call,
    mut fields: Map<String, Value>,
    mut repairs: Vec<String>,
) -> Result<Vec<String>, ToolError> {
    let told = repairs.len();
    let Some(Value::String(name)) = take(&mut fields, &NAME, &mut repairs) else {
        return Err(failed(messages::relay_names_nothing(
            plan.meta_tools().relay.as_ref(),
            plan.meta_tools().finder.as_ref(),
        )));
    };
    let name = name.trim();
    if plan.meta_tools().relay.as_ref().is_some_and(|relay| relay.as_str() == name) {
        return Err(failed(messages::relay_names_itself(plan.meta_tools().relay.as_ref())));
    }
    let parameters = take(&mut fields, &PARAMETERS, &mut repairs);
    let arguments = match parameters {
        // What stands beside the name can only be meant for the tool.
        None if !fields.is_empty() => {
            repairs.push("took the fields beside `name` for `parameters`".to_owned());
            RawArguments::Value(Value::Object(fields))
        }
        None => RawArguments::Absent,
        Some(value) => RawArguments::from(value),
    };
    let tool = plan.get(name);
    let strict = tool.is_some_and(|tool| tool.listed.spec.validation == Validation::Strict);
    // What is broken around the arguments of a strict tool is as good as broken within.
    if strict && let Some(repair) = repairs.get(..told).and_then(<[String]>::first) {
        return Err(failed(messages::unreadable(
            repair,
            &messages::relay_signature(plan.meta_tools().relay.as_ref()),
        )));
    }
    name.clone_into(&mut call.name);
    call.arguments = arguments;
    Ok(repairs)
}

/// Takes out the first of these fields that is there.
fn take(
    fields: &mut Map<String, Value>,
    names: &[&str],
    repairs: &mut Vec<String>,
) -> Option<Value> {
    let wanted = names.first()?;
    let name = names.iter().find(|name| fields.contains_key(**name))?;
    if name != wanted {
        repairs.push(format!("took `{name}` for `{wanted}`"));
    }
    fields.shift_remove(*name)
}
