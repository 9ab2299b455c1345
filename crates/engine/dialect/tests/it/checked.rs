//! The checker itself, with schemas that break one rule each.

use serde_json::{Value, json};

use crate::checker::problems;

#[test]
fn the_checker_sees_what_is_wrong() {
    let strict = |schema: Value| json!([{"type": "function", "function": {"name": "t", "strict": true, "parameters": schema}}]);
    let closed = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let wrong = [
        ("openai-chat", strict(json!({"type": "object", "properties": {}}))),
        ("openai-chat", strict(closed(json!({"a": {"type": "string"}}), json!([])))),
        (
            "openai-chat",
            strict(closed(json!({"a": {"type": "string", "default": ""}}), json!(["a"]))),
        ),
        ("openai-chat", strict(closed(json!({"a": {"$ref": "#/$defs/a"}}), json!(["a"])))),
        ("openai-chat", strict(closed(json!({"a": {}}), json!(["a"])))),
        (
            "openai-chat",
            json!([{"function": {"name": "a.b", "parameters": {"type": "object", "properties": {}}}}]),
        ),
        (
            "anthropic",
            json!([{"name": "t", "input_schema": {"type": "object", "properties": {"a[b]": {}}}}]),
        ),
        (
            "anthropic",
            json!([{"name": "t", "input_schema": {"type": "object", "properties": {}, "anyOf": [{}]}}]),
        ),
        (
            "gemini",
            json!([{"functionDeclarations": [{"name": "t", "parametersJsonSchema": {"type": "object", "properties": {"a": {"const": 1}}}}]}]),
        ),
    ];
    for (dialect, tools) in wrong {
        assert_eq!(
            problems(dialect, &tools).len(),
            1,
            "{dialect} {tools}: {:?}",
            problems(dialect, &tools)
        );
    }
}
