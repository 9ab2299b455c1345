//! Definitions and choice of Anthropic Messages.

use std::borrow::Cow;

use serde_json::{Value, json};
use toolcrib_core::{Plan, ToolSpec};

use super::Anthropic;
use crate::dialect::StrictMode;
use crate::draft::{DialectRules, FunctionDraft, ToolDraft, ToolDrafts};
use crate::names::NameAlphabet;
use crate::openai_chat::definitions::ALPHABET as NAMES;
use crate::rendering::{Rendering, forced, must_come_alone};
use crate::schema::{self, ANTHROPIC_STRICT, DialectSchema, SchemaLoss, UnsupportedReason};

const SEARCH: &str = "tool_search_tool_bm25";

const WAYS: DialectRules = DialectRules {
    dialect: Anthropic::NAME,
    names: NameAlphabet { reserved: &[SEARCH], ..NAMES },
    builtin_name: |definition| definition.get("name")?.as_str(),
    defers: true,
};

/// `[A-Za-z0-9_.-]`, 64 at most: other names of fields are refused with the whole request.
const FIELDS: NameAlphabet =
    NameAlphabet { longest: 64, first: is_field, rest: is_field, reserved: &[] };

fn is_field(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

pub(super) fn key(name: &str) -> Cow<'_, str> {
    FIELDS.encode(name)
}

/// What the API takes of strict tools in one request.
struct StrictBudget {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl StrictBudget {
    /// In the order of the catalog; a tool that does not fit is sent without strict.
    fn compile(&mut self, spec: &ToolSpec) -> Result<DialectSchema, UnsupportedReason> {
        let strict = schema::within(&spec.input.value(), &ANTHROPIC_STRICT, key)?;
        if !strict.strict || !spec.builtin.is_empty() {
            return Ok(strict);
        }
        let left = (
            self.tools.checked_sub(1),
            self.optional.checked_sub(strict.optional),
            self.unions.checked_sub(strict.unions),
        );
        if let (Some(tools), Some(optional), Some(unions)) = left {
            *self = Self { tools, optional, unions };
            return Ok(strict);
        }
        let mut loose = schema::loose(&spec.input.value(), key)?;
        loose.lost.push(SchemaLoss {
            path: String::new(),
            what: "strict: more tools, optional fields or choices than one request may have"
                .to_owned(),
            cure: "the tool is sent without strict",
        });
        Ok(loose)
    }
}

pub(super) fn render(plan: &Plan, strict: StrictMode) -> Rendering {
    let mut budget = StrictBudget { tools: 20, optional: 24, unions: 16 };
    let mut drafts = ToolDrafts::of(plan, &WAYS, |spec| match strict {
        StrictMode::On => budget.compile(spec),
        StrictMode::Off => schema::loose(&spec.input.value(), key),
    });
    let tools = definitions(&drafts.tools);
    let chosen: Vec<_> = forced(plan, &drafts.names)
        .into_iter()
        .map(|(tool, wire)| (tool.clone(), json!({ "type": "tool", "name": wire })))
        .collect();
    let choice = match chosen.as_slice() {
        [] => None,
        [(_, one)] => Some(one.clone()),
        several => {
            for (tool, _) in several {
                let cure = "the API forces one tool or any: the model must call some tool; \
                            `forced_requests` has a choice for each";
                drafts.lose(tool, "forced", cure);
            }
            Some(json!({ "type": "any" }))
        }
    };
    let mut rendering = drafts.rendering(tools);
    rendering.forced = chosen.into_iter().map(|(_, choice)| choice).collect();
    rendering.tool_choice = choice;
    if let (Some(Value::Object(choice)), true) = (&mut rendering.tool_choice, must_come_alone(plan))
    {
        choice.insert("disable_parallel_tool_use".to_owned(), true.into());
    }
    rendering
}

/// In the order of the catalog. The search is never held back, which is the one tool that the API
/// wants at least, and stands before the first tool that it may find.
fn definitions(drafts: &[ToolDraft<'_>]) -> Vec<Value> {
    let mut tools = Vec::with_capacity(drafts.len() + 1);
    let mut searches = false;
    for draft in drafts {
        match draft {
            ToolDraft::Builtin(definition) => tools.push((*definition).clone()),
            ToolDraft::Function(function) => {
                if function.deferred && !searches {
                    searches = true;
                    tools.push(json!({ "type": "tool_search_tool_bm25_20251119", "name": SEARCH }));
                }
                tools.push(definition(function));
            }
        }
    }
    tools
}

fn definition(function: &FunctionDraft<'_>) -> Value {
    let mut definition = json!({
        "name": function.name,
        "description": function.description,
        "input_schema": function.schema,
    });
    if let Value::Object(fields) = &mut definition {
        for (switch, on) in [("strict", function.strict), ("defer_loading", function.deferred)] {
            if on {
                fields.insert(switch.to_owned(), true.into());
            }
        }
    }
    definition
}
