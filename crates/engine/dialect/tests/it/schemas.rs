//! Schemas of every shape, and what is said in words where an API takes no rule.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_core::PlanRequest;
use toolcrib_dialect::Dialect;

use crate::calls::any_json;
use crate::checker;
use crate::fixture::{is_listed, plan_of, spec, variants};

fn shown(dialect: &dyn Dialect, input: Value) -> (Value, Vec<(String, String)>) {
    let plan = plan_of([spec("t", "T.", input)], PlanRequest::default());
    let rendering = dialect.rendering(&plan);
    let losses = rendering.losses.iter().map(|loss| (loss.path.clone(), loss.what.clone()));
    (rendering.tools.clone(), losses.collect())
}

fn variant(name: &str) -> Box<dyn Dialect> {
    variants().into_iter().find(|(folder, _)| *folder == name).unwrap().1
}

proptest! {
    #[test]
    fn any_schema_is_shown_within_the_rules_or_refused_with_a_reason(schema in any_json()) {
        let mut input = schema;
        if let Some(fields) = input.as_object_mut() {
            fields.remove("type");
        }
        if toolcrib_json::schema::Schema::compile(&input).is_err() {
            return Ok(());
        }
        // What a catalog keeps out (letters that nobody sees) comes to no dialect.
        prop_assume!(is_listed(spec("t", "T.", input.clone())));
        let plan = plan_of([spec("t", "T.", input.clone())], PlanRequest::default());
        for (folder, dialect) in variants() {
            let rendering = dialect.rendering(&plan);
            let is_shown = rendering.wire_name("t").is_some();
            prop_assert_eq!(usize::from(is_shown) + rendering.refused.len(), 1);
            let problems = checker::problems(dialect.name(), &rendering.tools);
            prop_assert!(problems.is_empty(), "{} {}\n{}\n{:?}", folder, input, rendering.tools, problems);
        }
    }
}

#[test]
fn a_root_of_forms_becomes_one_object_and_the_forms_are_said() {
    let input = json!({
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "required": ["id"],
        "anyOf": [{"required": ["title"], "properties": {"title": {"type": "string"}}}, {"required": ["text"]}],
    });
    let (tools, losses) = shown(variant("anthropic").as_ref(), input);
    assert_eq!(
        tools,
        json!([{
            "name": "t",
            "description": "T. (give at least one of these forms: (title) or (text))",
            "input_schema": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "title": {"type": "string"}},
                "required": ["id"],
            },
        }])
    );
    assert_eq!(losses, [("/anyOf".to_owned(), "anyOf".to_owned())]);
}

#[test]
fn an_empty_list_of_schemas_says_nothing_and_is_not_sent() {
    let input = json!({"type": "object", "properties": {"a": {"prefixItems": [], "allOf": []}}});
    let (tools, _) = shown(variant("openai-chat").as_ref(), input);
    let expected = json!({"type": "object", "properties": {"a": {}}});
    assert_eq!(tools.pointer("/0/function/parameters"), Some(&expected));
}

#[test]
fn a_root_of_very_many_forms_is_refused_and_not_cut() {
    let many: Vec<_> = (0..1_900).map(|place| json!({"required": [format!("a{place}")]})).collect();
    let input = json!({"type": "object", "anyOf": many});
    let plan = plan_of([spec("t", "T.", input)], PlanRequest::default());
    for (folder, dialect) in variants() {
        let refused: Vec<_> =
            dialect.rendering(&plan).refused.iter().map(ToString::to_string).collect();
        assert_eq!(refused, ["`t` is not shown: its root has too many forms"], "{folder}");
    }
}

#[test]
fn what_strict_cannot_say_is_sent_loose_with_a_loss() {
    let map = json!({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"}}}});
    for name in ["openai-chat-strict", "openai-responses-strict", "anthropic-strict"] {
        let (tools, losses) = shown(variant(name).as_ref(), map.clone());
        assert!(!tools.to_string().contains("\"strict\":true"), "{name}: {tools}");
        assert!(
            tools.to_string().contains("\"additionalProperties\":{\"type\":\"string\"}"),
            "{name}"
        );
        let expected =
            ("/properties/m".to_owned(), "strict: an object with fields of any name".to_owned());
        assert_eq!(losses, [expected], "{name}");
    }
}

#[test]
fn strict_openai_has_every_field_and_null_for_those_that_may_be_left_out() {
    let input = json!({"type": "object", "properties": {
        "a": {"type": "string", "description": "A.", "default": "x"},
        "b": {"enum": ["p", "q"]},
        "c": {"$ref": "#/$defs/c"},
        "d": {"type": "object", "properties": {"e": {"const": 1}}},
    }, "$defs": {"c": {"type": "boolean"}}});
    let (tools, losses) = shown(variant("openai-chat-strict").as_ref(), input);
    assert_eq!(
        tools.pointer("/0/function/parameters").unwrap(),
        &json!({
            "type": "object",
            "properties": {
                "a": {"type": ["string", "null"], "description": "A. (default x)"},
                "b": {"type": ["string", "null"], "enum": ["p", "q", null]},
                "c": {"anyOf": [{"$ref": "#/$defs/c"}, {"type": "null"}]},
                "d": {
                    "type": ["object", "null"],
                    "properties": {"e": {"type": ["integer", "null"], "enum": [1, null]}},
                    "required": ["e"],
                    "additionalProperties": false,
                },
            },
            "required": ["a", "b", "c", "d"],
            "additionalProperties": false,
            "$defs": {"c": {"type": "boolean"}},
        })
    );
    assert_eq!(losses, [("/properties/a/default".to_owned(), "default".to_owned())]);
}

#[test]
fn gemini_keeps_what_its_json_schema_has_and_is_told_the_rest() {
    let input = json!({"type": "object", "properties": {
        "a": {"type": "string", "minLength": 2, "pattern": "^a+$"},
        "b": {"oneOf": [{"type": "integer"}, {"type": "string"}], "description": "B."},
        "c": {"const": "x"},
        "d": {"enum": ["p", null]},
        "e": {"enum": [true]},
    }});
    let (tools, losses) = shown(variant("gemini").as_ref(), input);
    let path = "/0/functionDeclarations/0/parametersJsonSchema/properties";
    assert_eq!(
        tools.pointer(path).unwrap(),
        &json!({
            "a": {"type": "string", "description": "(at least 2 characters; pattern ^a+$)"},
            "b": {"description": "B.", "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "c": {"type": "string", "enum": ["x"]},
            "d": {"anyOf": [{"type": "string", "enum": ["p"]}, {"type": "null"}]},
            "e": {"type": "boolean", "description": "(one of [true])"},
        })
    );
    let what: Vec<_> = losses.into_iter().map(|(path, _)| path).collect();
    assert_eq!(what, ["/properties/a/minLength", "/properties/a/pattern", "/properties/e/enum"]);
}

#[test]
fn one_bad_schema_costs_one_tool() {
    let forms: Vec<_> = (0..1_900).map(|n| json!({"required": [format!("a{n}")]})).collect();
    let many = json!({"type": "object", "anyOf": forms});
    let good = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let specs = [spec("many", "M.", many), spec("good", "G.", good)];
    let plan = plan_of(specs, PlanRequest::default());
    for (folder, dialect) in variants() {
        let rendering = dialect.rendering(&plan);
        let refused: Vec<_> =
            rendering.refused.iter().map(|refused| refused.tool.as_str()).collect();
        assert!(refused.contains(&"many") && !refused.contains(&"good"), "{folder}: {refused:?}");
        assert!(rendering.wire_name("good").is_some(), "{folder}");
    }
}

#[test]
fn a_schema_that_explodes_is_bounded() {
    // Each definition holds the next one twice, which would be 2^40 values if it were unfolded.
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1), "minProperties": 1});
        definitions.insert(
            format!("d{level}"),
            json!({"type": "object", "properties": {"a": next, "b": next}}),
        );
    }
    definitions.insert("d40".to_owned(), json!({"type": "object"}));
    let input = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let plan = plan_of([spec("t", "T.", input)], PlanRequest::default());
    for (_, dialect) in variants() {
        let rendering = dialect.rendering(&plan);
        assert!(rendering.tools.to_string().len() < 10_000_000);
    }
}

#[test]
fn recursion_through_a_field_that_must_be_given_is_opened_for_gemini() {
    let input = json!({"type": "object", "properties": {"top": {"$ref": "#/$defs/a"}}, "required": ["top"], "$defs": {
        "a": {"type": "object", "properties": {"n": {"type": "integer"}, "b": {"$ref": "#/$defs/b"}}, "required": ["n", "b"]},
        "b": {"type": "array", "items": {"$ref": "#/$defs/a"}},
    }});
    let (tools, losses) = shown(variant("gemini").as_ref(), input);
    let path = "/0/functionDeclarations/0/parametersJsonSchema/$defs/a";
    assert_eq!(
        tools.pointer(path).unwrap(),
        &json!({
            "type": "object",
            "properties": {"n": {"type": "integer"}, "b": {"$ref": "#/$defs/b"}},
            "required": ["n"],
            "description": "(`b` must be given)",
        })
    );
    assert_eq!(losses, [("/$defs/a/required".to_owned(), "required".to_owned())]);
}

/// `count` fields that are made by `field`.
fn fields(count: usize, field: impl Fn(usize) -> Value) -> Value {
    (0..count).map(|place| (format!("f{place}"), field(place))).collect()
}

#[test]
fn schemas_that_ask_for_much_work_are_done_with_soon() {
    let forms = |count: usize, prefix: &str| -> Value {
        let form = |place| json!({"properties": {format!("{prefix}{place}"): {"type": "string"}}, "required": [format!("{prefix}{place}")]});
        (0..count).map(form).collect()
    };
    let circle = fields(
        600,
        |place| json!({"type": "object", "properties": {"n": {"$ref": format!("#/$defs/f{}", (place + 1) % 600)}}, "required": ["n"]}),
    );
    let rules: Vec<_> = (0..400).map(|least| json!({"properties": {"a": {"minimum": least}, "b": {"items": {"minLength": least}}}})).collect();
    let costly = [
        json!({"type": "object", "allOf": rules}),
        json!({"type": "object", "properties": {"x": {"type": "object", "allOf": rules}}}),
        json!({"type": "object", "properties": fields(1_900, |_| json!({"type": "string"}))}),
        json!({"type": "object", "anyOf": forms(450, "a"), "oneOf": forms(450, "b")}),
        json!({"type": "object", "properties": {"x": {
            "properties": fields(300, |_| json!({})), "anyOf": forms(150, "a"), "oneOf": forms(150, "b")}}}),
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/f0"}}, "$defs": circle}),
        json!({"type": "object", "properties": {"x": {"type": "string", "enum": (0..5_000).collect::<Vec<_>>()}}}),
    ];
    for input in costly {
        let plan = plan_of([spec("t", "T.", input.clone())], PlanRequest::default());
        for (folder, dialect) in variants() {
            let started = Instant::now();
            let rendering = dialect.rendering(&plan);
            let took = started.elapsed();
            let seen = usize::from(rendering.wire_name("t").is_some()) + rendering.refused.len();
            assert_eq!(seen, 1, "{folder}");
            println!("{folder}: {:.40} in {took:?}", input.to_string());
            assert!(took < Duration::from_secs(10), "{folder}: {took:?}");
        }
    }
}
