//! Definitions and choice of Chat Completions.

use serde_json::{Map, Value, json};
use toolcrib_core::Plan;

use super::hosted::SEARCH;
use super::{OpenAiChat, key};
use crate::dialect::StrictMode;
use crate::draft::{DialectRules, FunctionDraft, ToolDraft, ToolDrafts};
use crate::names::NameAlphabet;
use crate::rendering::{Rendering, forced, must_come_alone};
use crate::schema::{self, OPENAI_STRICT};

/// `[A-Za-z0-9_-]`, 64 at most.
pub(crate) const ALPHABET: NameAlphabet = NameAlphabet {
    longest: 64,
    first: |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
    rest: |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
    reserved: &[],
};

const WAYS: DialectRules = DialectRules {
    dialect: OpenAiChat::NAME,
    names: ALPHABET,
    builtin_name: |definition| {
        let named = ["custom", "function"].iter().find_map(|kind| definition.get(kind));
        named?.get("name")?.as_str()
    },
    defers: false,
};

pub(super) fn render(plan: &Plan, strict: StrictMode) -> Rendering {
    let drafts = ToolDrafts::of(plan, &WAYS, |spec| match strict {
        StrictMode::On => schema::within(&spec.input.value(), &OPENAI_STRICT, key),
        StrictMode::Off => schema::loose(&spec.input.value(), key),
    });
    let mut tools = Vec::with_capacity(drafts.tools.len());
    let mut extra = Map::new();
    for draft in &drafts.tools {
        match draft {
            ToolDraft::Function(function) => tools.push(definition(function)),
            // The one tool that is none of the list.
            ToolDraft::Builtin(definition) if definition.get(SEARCH).is_some() => {
                extra.extend(definition.as_object().cloned().unwrap_or_default());
            }
            ToolDraft::Builtin(definition) => tools.push((*definition).clone()),
        }
    }
    let forced: Vec<Value> = forced(plan, &drafts.names)
        .into_iter()
        .map(|(tool, wire)| named(wire, drafts.builtins.get(tool)))
        .collect();
    let mut rendering = drafts.rendering(tools);
    rendering.extra = extra;
    rendering.tool_choice = match forced.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(json!({
            "type": "allowed_tools",
            "allowed_tools": { "mode": "required", "tools": several },
        })),
    };
    if !forced.is_empty() && must_come_alone(plan) {
        rendering.extra.extend(alone());
    }
    rendering.forced = forced;
    rendering
}

fn definition(function: &FunctionDraft<'_>) -> Value {
    let mut inner = json!({
        "name": function.name,
        "description": function.description,
        "parameters": function.schema,
    });
    if function.strict
        && let Value::Object(inner) = &mut inner
    {
        inner.insert("strict".to_owned(), true.into());
    }
    json!({ "type": "function", "function": inner })
}

/// A built-in tool of Chat Completions may be a custom one, which is called with free text.
fn named(wire: &str, builtin: Option<&&Value>) -> Value {
    if builtin.is_some_and(|definition| definition.get("custom").is_some()) {
        return json!({ "type": "custom", "custom": { "name": wire } });
    }
    json!({ "type": "function", "function": { "name": wire } })
}

/// One call at most.
pub(crate) fn alone() -> Map<String, Value> {
    let mut extra = Map::new();
    extra.insert("parallel_tool_calls".to_owned(), false.into());
    extra
}
