//! What a model wants of its team, as it wrote it.

use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value};
use toolcrib_core::{Call, RawArguments};

use super::names::{ASK, DELEGATE, DELEGATE_ALIAS, FIND, HAND_OVER, REPORT_MISSING, ROUTE};

/// Bytes of the arguments at the most: a task is in words, and results go by their handles.
const LARGEST: usize = 256 * 1024;
/// Letters of what is wrong with them.
const SAID: usize = 300;

/// What a call of a tool of the team wants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TeamWish {
    Delegate { specialist: String, task: DelegatedTask },
    HandOver { specialist: String, task: DelegatedTask },
    Find { query: String },
    ReportMissing { capability: String },
    Route { toolset: String, tool: String, arguments: Value },
}

/// What a specialist is to do.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct DelegatedTask {
    #[serde(alias = "subTaskDescription")]
    pub(crate) task: String,
    /// What the answer is to be.
    #[serde(alias = "requiredOutputFormat")]
    pub(crate) expected: Option<String>,
    /// Handles of results that it is to read.
    pub(crate) inputs: Option<Vec<String>>,
    /// The thread that it goes on with.
    pub(crate) thread: Option<String>,
}

#[derive(Deserialize)]
struct FindFields {
    query: String,
}

#[derive(Deserialize)]
struct MissingFields {
    capability: String,
}

#[derive(Deserialize)]
struct RouteFields {
    #[serde(alias = "toolSetId")]
    toolset: String,
    #[serde(alias = "toolName")]
    tool: String,
    #[serde(default, alias = "toolParameters")]
    arguments: Value,
}

impl TeamWish {
    /// Whether a tool of this name is one of a team.
    pub(crate) fn is_named(name: &str) -> bool {
        matches!(name, DELEGATE | DELEGATE_ALIAS | FIND | HAND_OVER | REPORT_MISSING | ROUTE)
            || name.strip_prefix(ASK).is_some_and(|rest| !rest.is_empty())
    }

    /// Reads a call of such a tool.
    ///
    /// # Errors
    /// What is wrong and how to write it, for the model.
    pub(crate) fn read(call: &Call) -> Result<Self, String> {
        let name = call.wire.name.as_str();
        let arguments = arguments(call)?;
        let wrong = |error: serde_json::Error| wrong(name, &error);
        match name {
            DELEGATE | DELEGATE_ALIAS => {
                let (specialist, task) = named_task(name, arguments)?;
                Ok(Self::Delegate { specialist, task })
            }
            HAND_OVER => {
                let (specialist, task) = named_task(name, arguments)?;
                Ok(Self::HandOver { specialist, task })
            }
            FIND => {
                let FindFields { query } = serde_json::from_value(arguments).map_err(wrong)?;
                Ok(Self::Find { query })
            }
            REPORT_MISSING => {
                let fields: MissingFields = serde_json::from_value(arguments).map_err(wrong)?;
                Ok(Self::ReportMissing { capability: fields.capability })
            }
            ROUTE => {
                let fields: RouteFields = serde_json::from_value(arguments).map_err(wrong)?;
                let RouteFields { toolset, tool, arguments } = fields;
                Ok(Self::Route { toolset, tool, arguments })
            }
            name => {
                let specialist = name.strip_prefix(ASK).unwrap_or(name).to_owned();
                let task = task(name, arguments)?;
                Ok(Self::Delegate { specialist, task })
            }
        }
    }
}

fn named_task(name: &str, mut arguments: Value) -> Result<(String, DelegatedTask), String> {
    let fields = arguments.as_object_mut();
    let specialist =
        fields.and_then(|fields| fields.remove("specialist").or(fields.remove("specialistId")));
    match specialist {
        Some(Value::String(specialist)) if !specialist.is_empty() => {
            Ok((specialist, task(name, arguments)?))
        }
        _ => Err(format!("`{name}` needs `specialist`: say which one is to do it")),
    }
}

fn task(name: &str, arguments: Value) -> Result<DelegatedTask, String> {
    let task: DelegatedTask =
        serde_json::from_value(arguments).map_err(|error| wrong(name, &error))?;
    if task.task.trim().is_empty() {
        return Err(format!("`{name}` needs `task`: say in full what is to be done"));
    }
    Ok(task)
}

/// The reader may say what it found, however long that is.
fn wrong(name: &str, error: &dyn fmt::Display) -> String {
    let said: String = error.to_string().chars().take(SAID).collect();
    format!("the arguments of `{name}`: {said}")
}

fn arguments(call: &Call) -> Result<Value, String> {
    if let Some(fault) = &call.fault {
        return Err(fault.clone());
    }
    let name = &call.wire.name;
    let value = match &call.arguments {
        RawArguments::Absent => Value::Object(Map::new()),
        RawArguments::Text(text) if text.len() > LARGEST => {
            return Err(format!(
                "the arguments of `{name}` have {} bytes, and {LARGEST} are the most: pass \
                 results by their handles in `inputs`",
                text.len()
            ));
        }
        RawArguments::Text(text) if text.trim().is_empty() => Value::Object(Map::new()),
        RawArguments::Text(text) => {
            let read = toolcrib_json::repair::read(text);
            read.map_err(|error| wrong(name, &error))?.value
        }
        RawArguments::Value(value) => value.clone(),
    };
    if value.is_object() {
        return Ok(value);
    }
    Err(format!("the arguments of `{name}` are to be a JSON object"))
}
