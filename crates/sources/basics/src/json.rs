//! Values out of a JSON document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib_core::ToolError;

use crate::json_path::JsonPath;
use crate::tool::{BasicToolInfo, BasicToolsResult, basic};

pub(crate) fn tools() -> BasicToolsResult {
    let about = BasicToolInfo {
        name: "json_query",
        category: "json",
        action: "query",
        summary: "Takes values out of a JSON document by a path.",
        description: "Takes values out of a JSON document by a JSONPath. Use it to read a part of \
                      a large result. Read are `$`, `.name`, `['name']`, `[0]`, `[-1]`, `[1:3]`, \
                      `[*]`, `..name` and lists as in `[0,2]`; filters are not.",
        steady: true,
    };
    Ok(vec![basic(&about, json_query)?])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JsonQueryArguments {
    /// The document: a JSON value, or its text.
    json: Value,
    /// The path, such as `$.items[*].name`.
    #[schemars(length(min = 1, max = 500))]
    path: String,
}

#[derive(Serialize, JsonSchema)]
struct JsonQueryResult {
    /// The values found, in the order of the document.
    // Any value may be there, and clients refuse the schema `true` that says so.
    #[schemars(extend("items" = { "description": "A value as it stands in the document." }))]
    values: Vec<Value>,
    /// How many values the path leads to.
    found: usize,
    /// Some were left out of `values`, because there are too many or they are too large.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

const LARGEST_TEXT: usize = 1_000_000;
const MOST_VALUES: usize = 1000;
/// Bytes of all values as JSON: one value may hold the others, so counting them is not enough.
const LARGEST_RESULT: usize = 200_000;

fn json_query(
    JsonQueryArguments { json, path }: JsonQueryArguments,
) -> Result<JsonQueryResult, ToolError> {
    let path = JsonPath::read(&path).map_err(ToolError::told)?;
    let document = match json {
        Value::String(text) => read(&text)?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            json
        }
    };
    let found = path.find(&document).map_err(ToolError::told)?;
    let mut values = Vec::new();
    let mut bytes = 0;
    for value in found.iter().take(MOST_VALUES) {
        bytes += value.to_string().len();
        if bytes > LARGEST_RESULT {
            break;
        }
        values.push(Value::clone(value));
    }
    Ok(JsonQueryResult { cut: values.len() < found.len(), values, found: found.len() })
}

fn read(text: &str) -> Result<Value, ToolError> {
    if text.len() > LARGEST_TEXT {
        let size = text.len();
        return Err(ToolError::told(format!(
            "`json` has {size} bytes, and {LARGEST_TEXT} is the limit: give a part of it"
        )));
    }
    serde_json::from_str(text).map_err(|error| {
        ToolError::told(format!(
            "`json` is a text that is no JSON: {error}. Correct it and call again"
        ))
    })
}
