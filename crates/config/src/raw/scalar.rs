//! Strings with a form of their own.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// The word of the schema that says that references may stand in a string.
pub(crate) const SECRET: &str = "x-secret";

/// A string that may hold `${env:NAME}` and `${file:PATH}`.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub(crate) struct SecretText(pub(crate) String);

/// `30s`, or a number of seconds.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum PauseText {
    Seconds(u64),
    Text(String),
}

/// `8MiB`, or a number of bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum SizeText {
    Bytes(u64),
    Text(String),
}

/// Says nothing: what was meant for a reference may have been written in its place.
impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[text]")
    }
}

impl JsonSchema for SecretText {
    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A string in which `${env:NAME}` stands for a variable of the environment and `${file:PATH}` for the text of a file; `$${` is a plain `${`.",
            "type": "string",
            SECRET: true,
        })
    }
}

impl JsonSchema for PauseText {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "`500ms`, `30s`, `5m`, `2h`, `1d`, or a number of seconds.",
            "anyOf": [
                { "type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$" },
                { "type": "integer", "minimum": 0 },
            ],
        })
    }
}

impl JsonSchema for SizeText {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "`64KiB`, `8MiB`, or a number of bytes.",
            "anyOf": [
                { "type": "string", "pattern": "^[0-9]+(B|KiB|MiB|GiB)$" },
                { "type": "integer", "minimum": 0 },
            ],
        })
    }
}
