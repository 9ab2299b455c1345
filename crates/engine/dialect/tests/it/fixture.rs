//! A small catalog with one tool for each thing that dialects differ in.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use toolcrib_core::{
    AllowAll, Caller, Catalog, Content, Effect, Plan, PlanRequest, Tool, ToolOutcome, ToolSpec,
    Toolset, raw_tool,
};
use toolcrib_dialect::{
    Anthropic, DeferralMode, Dialect, Gemini, OpenAiChat, OpenAiResponses, StrictMode,
};

/// Every dialect with every option, under the name of its golden folder.
pub(crate) fn variants() -> Vec<(&'static str, Box<dyn Dialect>)> {
    let (off, on) = (StrictMode::Off, StrictMode::On);
    let namespaces = OpenAiResponses { strict: off, deferred: DeferralMode::Namespaces };
    let strict = OpenAiResponses { strict: on, deferred: DeferralMode::Flat };
    vec![
        ("openai-chat", Box::new(OpenAiChat { strict: off }) as Box<dyn Dialect>),
        ("openai-chat-strict", Box::new(OpenAiChat { strict: on })),
        ("openai-responses", Box::new(OpenAiResponses::default())),
        ("openai-responses-strict", Box::new(strict)),
        ("openai-responses-namespaces", Box::new(namespaces)),
        ("anthropic", Box::new(Anthropic { strict: off })),
        ("anthropic-strict", Box::new(Anthropic { strict: on })),
        ("gemini", Box::new(Gemini)),
    ]
}

pub(crate) fn spec(name: &str, description: &str, input: Value) -> ToolSpec {
    let mut spec = ToolSpec::new(name, description, Effect::Read).unwrap();
    spec.input = input.into();
    spec
}

fn catalog_of(specs: impl IntoIterator<Item = ToolSpec>) -> Catalog {
    let tools = specs.into_iter().map(|spec| -> Arc<dyn Tool> {
        raw_tool(spec, |_, _| async { ToolOutcome::Done(Content::text("done")) })
    });
    Catalog::of(Toolset::of(tools).unwrap())
}

/// Whether a catalog takes such a tool.
pub(crate) fn is_listed(spec: ToolSpec) -> bool {
    catalog_of([spec]).quarantined().is_empty()
}

/// A snapshot with these tools and nothing kept out.
pub(crate) fn catalog(specs: impl IntoIterator<Item = ToolSpec>) -> Arc<Catalog> {
    let catalog = Arc::new(catalog_of(specs));
    assert!(catalog.quarantined().is_empty(), "{:?}", catalog.quarantined());
    catalog
}

/// A plan of tools with these specs.
pub(crate) fn plan_of(specs: impl IntoIterator<Item = ToolSpec>, request: PlanRequest) -> Plan {
    let catalog = catalog(specs);
    Plan::make(&catalog, &Caller::local(), &AllowAll, request).unwrap()
}

/// A plan of all tools of the fixture, with nothing rendered yet.
pub(crate) fn fresh_plan() -> Plan {
    let request = PlanRequest::default().defer("archive_files").defer("archive_mail");
    plan_of(specs(), request)
}

/// The same, made once.
pub(crate) fn plan() -> Plan {
    static PLAN: LazyLock<Plan> = LazyLock::new(fresh_plan);
    PLAN.clone()
}

pub(crate) fn specs() -> Vec<ToolSpec> {
    let mut specs = plain();
    specs.extend(nested());
    specs.extend(odd());
    specs.extend(deferred_and_builtin());
    specs
}

fn plain() -> Vec<ToolSpec> {
    vec![
        spec(
            "add",
            "Adds two numbers.",
            json!({
                "type": "object",
                "properties": {"x": {"type": "integer", "minimum": 0}, "y": {"type": "integer"}},
                "required": ["x", "y"],
                "additionalProperties": false,
            }),
        ),
        spec("now", "Tells the time.", json!({"type": "object", "properties": {}})),
        spec(
            "book",
            "Books a room.",
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "room": {"type": "string", "enum": ["north", "south"], "description": "Which room."},
                    "start": {"type": "string", "format": "date-time"},
                    "minutes": {"type": "integer", "default": 30, "maximum": 480},
                    "guests": {
                        "type": "array",
                        "minItems": 1,
                        "uniqueItems": true,
                        "items": {
                            "type": "object",
                            "properties": {
                                "mail": {"type": "string", "pattern": "^[^@]+@[^@]+$", "maxLength": 80},
                                "role": {"enum": ["host", null]},
                            },
                            "required": ["mail"],
                        },
                    },
                },
                "required": ["room", "start"],
            }),
        ),
    ]
}

fn nested() -> Vec<ToolSpec> {
    vec![
        spec(
            "draw",
            "Draws a shape.",
            json!({
                "type": "object",
                "properties": {
                    "shape": {
                        "description": "What to draw.",
                        "oneOf": [
                            {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
                            {"type": "object", "properties": {"kind": {"const": "square"}, "a": {"type": "number"}}, "required": ["kind", "a"]},
                        ],
                    },
                    "at": {"oneOf": [{"type": "string", "minLength": 1}, {"type": "string", "pattern": "^a"}]},
                },
                "required": ["shape"],
            }),
        ),
        spec(
            "plant",
            "Plants a tree.",
            json!({
                "type": "object",
                "properties": {
                    "root": {"$ref": "#/$defs/node", "description": "Where it begins."},
                    "twin": {"$ref": "#/$defs/node"},
                },
                "required": ["root"],
                "$defs": {"node": {
                    "type": "object",
                    "properties": {
                        "label": {"type": "string"},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    },
                    "required": ["label"],
                }},
            }),
        ),
    ]
}

fn odd() -> Vec<ToolSpec> {
    let long = format!("reports.{}/v2:list", "quarterly_".repeat(8));
    vec![
        spec(
            &long,
            "Lists reports. Grüße, 世界 — “quoted”.",
            json!({
                "type": "object",
                "properties": {"filter[id]": {"type": "string"}, "größe": {"type": ["integer", "null"]}},
                "required": ["filter[id]"],
            }),
        ),
        spec(
            "find",
            "Finds a person.",
            json!({
                "type": "object",
                "properties": {"limit": {"type": "integer"}},
                "oneOf": [
                    {"properties": {"by": {"const": "id"}, "id": {"type": "integer"}}, "required": ["by", "id"]},
                    {"properties": {"by": {"const": "name"}, "name": {"type": "string"}}, "required": ["by", "name"]},
                ],
            }),
        ),
        spec(
            "label",
            "Labels a thing.",
            json!({
                "type": "object",
                "properties": {
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "size": {"allOf": [{"type": "integer", "minimum": 1}, {"maximum": 9}]},
                },
                "if": {"required": ["size"]},
                "then": {"required": ["labels"]},
            }),
        ),
    ]
}

fn deferred_and_builtin() -> Vec<ToolSpec> {
    let path = || json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let mut files = spec("archive_files", "Archives files.", path());
    files.category = Some("archive".to_owned());
    let mut mail = spec("archive_mail", "Archives mail.", path());
    mail.category = Some("archive".to_owned());
    let mut search = spec("web_search", "Searches the web.", json!({"type": "object"}));
    let mut sql = spec(
        "sql",
        "Runs a query.",
        json!({
            "type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"],
        }),
    );
    let define = |spec: &mut ToolSpec, dialect: &str, definition: Value| {
        spec.builtin.insert(dialect.to_owned(), definition);
    };
    let web = json!({"type": "web_search_20250305", "name": "web_search"});
    define(&mut search, "openai-responses", json!({"type": "web_search"}));
    define(&mut search, "anthropic", web);
    define(&mut search, "gemini", json!({"googleSearch": {}}));
    let custom = json!({"name": "sql", "description": "Runs a query."});
    define(&mut sql, "openai-chat", json!({"type": "custom", "custom": custom}));
    define(&mut sql, "openai-responses", json!({"type": "custom", "name": "sql"}));
    vec![files, mail, search, sql]
}
