//! What callers see of the tools.

use serde_json::{Value, json};
use toolcrib_basics::tools;
use toolcrib_core::Effect;

#[test]
fn the_tools_stand_in_a_fixed_order_by_category() {
    let rows: Vec<_> = tools()
        .iter()
        .map(|shelved| {
            let spec = &shelved.spec;
            format!(
                "{} {} {} {}",
                spec.category.as_deref().unwrap(),
                spec.name,
                spec.actions.join(","),
                if spec.idempotent { "steady" } else { "fresh" }
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            "time time_now read fresh",
            "time time_convert convert steady",
            "time time_between compare steady",
            "arithmetic calculate calculate steady",
            "text text_count count steady",
            "text text_case transform steady",
            "text text_replace transform steady",
            "text text_lines read steady",
            "identity uuid_new create fresh",
            "identity hash_text hash steady",
            "json json_query query steady",
        ]
    );
}

#[test]
fn every_tool_reads_only_and_is_described_to_its_last_field() {
    for shelved in tools().iter() {
        let spec = &shelved.spec;
        let name = &spec.name;
        assert_eq!(spec.effect, Effect::Read, "{name}");
        assert!((20..=80).contains(&spec.summary.len()), "{name}: {}", spec.summary);
        assert!(spec.description.contains("Use it "), "{name}: when to use it");
        assert_eq!(spec.input.value()["additionalProperties"], json!(false), "{name}");
        let input = spec.input.value();
        let fields = input["properties"].as_object().unwrap();
        assert!(!fields.is_empty(), "{name}");
        for (field, schema) in fields {
            assert!(schema["description"].is_string(), "{name}.{field}: {schema}");
        }
        let output = spec.output.as_ref().unwrap().value();
        assert_eq!(output["type"], json!("object"), "{name}: {output}");
        assert!(!output.to_string().contains("$ref"), "{name}: {output}");
    }
}

/// Clients of strict providers refuse a tool with such a schema.
#[test]
fn no_schema_stands_as_a_mere_true_or_false() {
    for shelved in tools().iter() {
        let spec = &shelved.spec;
        for schema in [spec.input.value(), spec.output.as_ref().unwrap().value()] {
            assert_eq!(bare(&schema), None, "{}: {schema}", spec.name);
        }
    }
}

/// Where a schema is a boolean; `additionalProperties` may be one.
fn bare(schema: &Value) -> Option<String> {
    let Some(fields) = schema.as_object() else {
        return schema.is_boolean().then(String::new);
    };
    let mut inner = fields.iter().flat_map(|(key, value)| -> Vec<(&str, &Value)> {
        match (key.as_str(), value) {
            ("items" | "contains" | "not", schema) => vec![(key, schema)],
            ("properties" | "$defs", Value::Object(schemas)) => {
                schemas.iter().map(|(name, schema)| (name.as_str(), schema)).collect()
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(schemas)) => {
                schemas.iter().map(|schema| (key.as_str(), schema)).collect()
            }
            _ => Vec::new(),
        }
    });
    inner.find_map(|(key, schema)| bare(schema).map(|rest| format!("/{key}{rest}")))
}

#[test]
fn a_schema_names_limits_defaults_and_choices() {
    let shelved = tools().get("uuid_new").unwrap().clone();
    let expected = json!({
        "type": "object",
        "properties": {
            "version": {
                "description": "v4: random; v7: ordered by time, for keys of databases.",
                "type": "string",
                "enum": ["v4", "v7"],
                "default": "v4",
            },
            "count": {
                "description": "How many.",
                "type": "integer",
                "format": "uint",
                "minimum": 1,
                "maximum": 100,
                "default": 1,
            },
        },
        "additionalProperties": false,
    });
    assert_eq!(shelved.spec.input, expected);
    let output = json!({
        "type": "object",
        "properties": { "uuids": { "type": "array", "items": { "type": "string" } } },
        "required": ["uuids"],
    });
    assert_eq!(shelved.spec.output, Some(output.into()));
}
