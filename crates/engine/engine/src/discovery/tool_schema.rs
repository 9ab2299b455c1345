//! `get_tool_schema`: all that a model has to know to call a tool.

use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_core::{Arguments, CallContext, Content, Effect, PlannedTool, ToolError};

use super::discover::{content, plan};
use super::meta_tools::names::MetaToolNames;
use super::search::{aside, nearest};
use super::unavailable::{self, UnavailableSource};

/// Tools of one call.
const MOST: usize = 20;
/// Bytes of their definitions; the first is told whatever it takes.
const ROOM: usize = 48 * 1024;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolSchemaArguments {
    name: Option<String>,
    names: Vec<String>,
}

pub(super) fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "The name of a tool." },
            "names": {
                "type": "array", "items": { "type": "string" }, "maxItems": MOST,
                "description": "Or those of several.",
            },
        },
        "additionalProperties": false,
    })
}

pub(super) fn description(names: &MetaToolNames) -> String {
    format!(
        "Tells what a tool does and which arguments it takes: its description and the JSON Schema \
         of its `parameters`, for `{}`. Names are those that `{}` gives.",
        names.invoke, names.discover
    )
}

pub(super) async fn tell(
    (names, away): (&MetaToolNames, &[UnavailableSource]),
    arguments: &Arguments,
    context: &CallContext,
) -> Result<Content, ToolError> {
    let plan = plan(context)?.clone();
    let wanted: ToolSchemaArguments = arguments.read()?;
    let mut asked: Vec<String> = wanted.name.into_iter().chain(wanted.names).collect();
    asked.dedup();
    if asked.is_empty() {
        let told = format!("name a tool: `name` or `names`; `{}` finds them", names.discover);
        return Err(ToolError::told(told));
    }
    if asked.len() > MOST {
        return Err(ToolError::told(format!("ask for {MOST} tools at once at the most")));
    }
    let mut told: Vec<Value> = Vec::new();
    let (mut missing, mut size) = (0, 0);
    for name in asked {
        if let Some(tool) = plan.get(name.trim()) {
            let definition = definition(tool);
            let bytes = definition.to_string().len();
            if size > 0 && size + bytes > ROOM {
                told.push(json!({ "name": name, "left_out": "too large beside the others: ask for it alone" }));
                continue;
            }
            size += bytes;
            told.push(definition);
        } else {
            missing += 1;
            let (of, wrong) = (plan.clone(), name.clone());
            let near = aside(move || nearest(&of, &wrong)).await?;
            told.push(json!({ "name": name, "error": "there is no such tool", "nearest": near }));
        }
    }
    if missing == told.len() {
        let lines: Vec<_> = told.iter().map(|one| wrong(one, names)).collect();
        return Err(ToolError::told(lines.join("\n") + &unavailable::told(away)));
    }
    let text: Vec<_> = told.iter().map(ToString::to_string).collect();
    Ok(content(text.join("\n"), json!({ "tools": told })))
}

fn wrong(one: &Value, names: &MetaToolNames) -> String {
    let name: String = one["name"].as_str().unwrap_or_default().chars().take(80).collect();
    let near = one["nearest"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let near: Vec<_> = near.map(|near| format!("`{near}`")).collect();
    let meant = match near.as_slice() {
        [] => String::new(),
        near => format!(" Did you mean {}?", near.join(", ")),
    };
    format!("there is no tool `{name}`.{meant} `{}` finds tools", names.discover)
}

fn definition(tool: PlannedTool<'_>) -> Value {
    let spec = &tool.listed.spec;
    let mut told = json!({
        "name": spec.name,
        "description": if spec.description.is_empty() { &spec.summary } else { &spec.description },
        "effect": spec.effect,
        "parameters": spec.input.value(),
    });
    if let Value::Object(fields) = &mut told {
        if spec.effect == Effect::Destroy || spec.approval.is_some() {
            fields.insert("note".to_owned(), json!("a person may be asked before it runs"));
        }
        if let Some(category) = &spec.category {
            fields.insert("category".to_owned(), json!(category));
        }
        if !spec.actions.is_empty() {
            fields.insert("actions".to_owned(), json!(spec.actions));
        }
    }
    told
}
