//! Definitions and choice of Responses.

use serde_json::{Value, json};
use toolcrib_core::{Exposure, Plan, ToolSpec};

use super::{DeferralMode, OpenAiResponses};
use crate::dialect::StrictMode;
use crate::draft::{DialectRules, FunctionDraft, ToolDraft, ToolDrafts};
use crate::openai_chat::definitions::{ALPHABET, alone};
use crate::openai_chat::key;
use crate::rendering::{Rendering, must_come_alone};
use crate::schema::{self, OPENAI_STRICT};

const WAYS: DialectRules = DialectRules {
    dialect: OpenAiResponses::NAME,
    names: ALPHABET,
    builtin_name: |definition| definition.get("name")?.as_str(),
    defers: true,
};

pub(super) fn render(plan: &Plan, options: OpenAiResponses) -> Rendering {
    let mut drafts = ToolDrafts::of(plan, &WAYS, |spec| match options.strict {
        StrictMode::On => schema::within(&spec.input.value(), &OPENAI_STRICT, key),
        StrictMode::Off => schema::loose(&spec.input.value(), key),
    });
    let tools = definitions(&drafts.tools, held_back(plan, options));
    let mut chosen: Vec<Value> = Vec::new();
    for tool in plan.forced() {
        let name = &tool.listed.spec.name;
        let choice = match drafts.builtins.get(name) {
            Some(definition) => builtin_choice(definition),
            None => named(drafts.names.wire(name.as_str())),
        };
        match choice {
            Some(choice) => chosen.push(choice),
            None => drafts.lose(name, "forced", "the API cannot be made to call it"),
        }
    }
    let mut rendering = drafts.rendering(tools);
    rendering.tool_choice = match chosen.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(json!({ "type": "allowed_tools", "mode": "required", "tools": several })),
    };
    if !chosen.is_empty() && must_come_alone(plan) {
        rendering.extra = alone();
    }
    rendering.forced = chosen;
    rendering
}

/// How tools are held back. One by one each shows its description, which for a whole catalog is a
/// third of what all of them would take: a lazy plan is held back in namespaces.
fn held_back(plan: &Plan, options: OpenAiResponses) -> DeferralMode {
    match plan.shown().rest {
        Exposure::Deferred => DeferralMode::Namespaces,
        Exposure::Listed | Exposure::Hidden => options.deferred,
    }
}

/// In the order of the catalog; the search stands before the first tool that it may find, so that
/// what joins later changes nothing before it.
fn definitions(drafts: &[ToolDraft<'_>], deferred: DeferralMode) -> Vec<Value> {
    let mut tools: Vec<Value> = Vec::with_capacity(drafts.len() + 1);
    let mut searches = false;
    let mut namespaces: Vec<(String, usize)> = Vec::new();
    for draft in drafts {
        let function = match draft {
            ToolDraft::Builtin(definition) => {
                tools.push((*definition).clone());
                continue;
            }
            ToolDraft::Function(function) => function,
        };
        if function.deferred && !searches {
            searches = true;
            tools.push(json!({ "type": "tool_search" }));
        }
        if !function.deferred || deferred == DeferralMode::Flat {
            tools.push(definition(function));
            continue;
        }
        let name = namespace(function.spec);
        let known = namespaces.iter().find(|(known, _)| *known == name);
        let place = known.map_or(tools.len(), |(_, place)| *place);
        if place == tools.len() {
            tools.push(json!({
                "type": "namespace",
                "name": name,
                "description": described(function.spec),
                "tools": [],
            }));
            namespaces.push((name, place));
        }
        let members = tools.get_mut(place).and_then(|namespace| namespace.get_mut("tools"));
        if let Some(Value::Array(members)) = members {
            members.push(definition(function));
        }
    }
    tools
}

/// `parameters` and `strict` are keys that must be there.
fn definition(function: &FunctionDraft<'_>) -> Value {
    let mut definition = json!({
        "type": "function",
        "name": function.name,
        "description": function.description,
        "parameters": function.schema,
        "strict": function.strict,
    });
    if function.deferred
        && let Value::Object(fields) = &mut definition
    {
        fields.insert("defer_loading".to_owned(), true.into());
    }
    definition
}

fn group(spec: &ToolSpec) -> &str {
    spec.category.as_deref().unwrap_or(spec.origin.source.as_str())
}

fn namespace(spec: &ToolSpec) -> String {
    ALPHABET.encode(group(spec)).into_owned()
}

fn described(spec: &ToolSpec) -> String {
    match &spec.category {
        Some(category) => format!("Tools for {category}."),
        None => format!("Tools of {}.", spec.origin.source),
    }
}

fn named(wire: Option<&str>) -> Option<Value> {
    wire.map(|wire| json!({ "type": "function", "name": wire }))
}

/// How the API's own tool is forced, if it can be.
fn builtin_choice(definition: &Value) -> Option<Value> {
    let kind = definition.get("type")?.as_str()?;
    match kind {
        "custom" | "function" => Some(json!({ "type": kind, "name": definition.get("name")? })),
        "mcp" => Some(json!({ "type": kind, "server_label": definition.get("server_label")? })),
        "file_search"
        | "web_search_preview"
        | "computer"
        | "code_interpreter"
        | "image_generation"
        | "shell"
        | "apply_patch"
        | "programmatic_tool_calling" => Some(json!({ "type": kind })),
        _ => None,
    }
}
