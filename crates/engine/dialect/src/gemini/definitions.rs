//! Definitions and choice of Gemini.

use std::borrow::Cow;

use serde_json::{Value, json};
use toolcrib_core::Plan;

use super::Gemini;
use crate::draft::{DialectRules, FunctionDraft, ToolDraft, ToolDrafts};
use crate::names::NameAlphabet;
use crate::rendering::{Rendering, forced};
use crate::schema::{self, GEMINI};

const WAYS: DialectRules = DialectRules {
    dialect: Gemini::NAME,
    names: NameAlphabet {
        longest: 128,
        first: |byte| byte.is_ascii_alphabetic() || byte == b'_',
        rest: |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-'),
        reserved: &[],
    },
    builtin_name: |_| None,
    defers: false,
};

/// `[A-Za-z_][A-Za-z0-9_]*`, 64 at most.
const FIELDS: NameAlphabet = NameAlphabet {
    longest: 64,
    first: |byte| byte.is_ascii_alphabetic() || byte == b'_',
    rest: |byte| byte.is_ascii_alphanumeric() || byte == b'_',
    reserved: &[],
};

pub(super) fn key(name: &str) -> Cow<'_, str> {
    FIELDS.encode(name)
}

pub(super) fn render(plan: &Plan) -> Rendering {
    let mut drafts =
        ToolDrafts::of(plan, &WAYS, |spec| schema::within(&spec.input.value(), &GEMINI, key));
    let mut declarations = Vec::with_capacity(drafts.tools.len());
    let mut builtins = Vec::new();
    for draft in &drafts.tools {
        match draft {
            ToolDraft::Function(function) => declarations.push(declaration(function)),
            ToolDraft::Builtin(definition) => builtins.push((*definition).clone()),
        }
    }
    let names: Vec<String> =
        forced(plan, &drafts.names).into_iter().map(|(_, wire)| wire.to_owned()).collect();
    for tool in plan.forced() {
        let name = &tool.listed.spec.name;
        if drafts.builtins.contains_key(name) {
            drafts.lose(name, "forced", "the API cannot be made to use it");
        }
    }
    let mixed = !builtins.is_empty() && !declarations.is_empty();
    let mut tools = Vec::new();
    if !declarations.is_empty() {
        tools.push(json!({ "functionDeclarations": declarations }));
    }
    tools.extend(builtins);
    let mut rendering = drafts.rendering(tools);
    rendering.choice_field = "toolConfig";
    rendering.forced = names.iter().map(|name| config(std::slice::from_ref(name), mixed)).collect();
    rendering.tool_choice = (mixed || !names.is_empty()).then(|| config(&names, mixed));
    rendering
}

/// A function without arguments has no schema: one surface of the API refuses an empty object.
fn declaration(function: &FunctionDraft<'_>) -> Value {
    let mut declaration = json!({
        "name": function.name,
        "description": function.description,
    });
    if let (true, Value::Object(fields)) = (takes_arguments(&function.schema), &mut declaration) {
        fields.insert("parametersJsonSchema".to_owned(), function.schema.clone());
    }
    declaration
}

fn takes_arguments(schema: &Value) -> bool {
    let fields = schema.get("properties").and_then(Value::as_object);
    let further = schema.get("additionalProperties");
    fields.is_some_and(|fields| !fields.is_empty()) || further.is_some_and(|any| any != false)
}

/// Functions beside built-in tools need a switch of their own.
fn config(names: &[String], mixed: bool) -> Value {
    let mut config = json!({});
    if let Value::Object(fields) = &mut config {
        if !names.is_empty() {
            let calling = json!({ "mode": "ANY", "allowedFunctionNames": names });
            fields.insert("functionCallingConfig".to_owned(), calling);
        }
        if mixed {
            fields.insert("includeServerSideToolInvocations".to_owned(), true.into());
        }
    }
    config
}
