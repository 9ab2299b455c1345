//! How it is looked up whether a call took effect of which nobody knows how it ended.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::canonical;
use crate::call::arguments::Arguments;
use crate::call::name::ToolName;
use crate::outcome::content::{Content, Part};

/// A tool that reads, and what its answer has where the call took effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    pub tool: ToolName,
    /// Its arguments. A text `{name}` stands for that argument of the call, and `{name/part}` for
    /// what is in it; where the call has none, the lookup has none either.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub arguments: Map<String, Value>,
    /// Where in the data of its answer, as a JSON pointer; empty: all of it.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub at: String,
    /// What is there if the call took effect; `None`: something, which `null`, `false`, nothing at
    /// all, and an empty text, list or object are not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub is: Option<Value>,
}

impl Verify {
    /// The arguments by which this call is looked up.
    pub fn arguments_for(&self, call: &Arguments) -> Arguments {
        let fields = self.arguments.iter();
        let filled = fields.filter_map(|(name, said)| Some((name.clone(), fill(said, call)?)));
        Arguments::new(filled.collect())
    }

    /// Whether the call took effect, by this answer; `None`: it has no data.
    pub fn took_effect(&self, answer: &Content) -> Option<bool> {
        let read;
        let data = match (&answer.structured, &answer.parts[..]) {
            (Some(data), _) => data,
            // Many servers write their data as a text alone.
            (None, [Part::Text { text, .. }]) => {
                read = serde_json::from_str::<Value>(text).ok()?;
                &read
            }
            (None, _) => return None,
        };
        let found = data.pointer(&self.at);
        Some(match &self.is {
            Some(wanted) => found.is_some_and(|found| canonical::same(found, wanted)),
            None => found.is_some_and(is_something),
        })
    }
}

/// `None`: it stands for an argument that the call does not have.
fn fill(said: &Value, call: &Arguments) -> Option<Value> {
    match said {
        Value::String(text) => match text.strip_prefix('{').and_then(|text| text.strip_suffix('}'))
        {
            Some(path) => named(path, call),
            None => Some(said.clone()),
        },
        Value::Array(items) => Some(items.iter().filter_map(|item| fill(item, call)).collect()),
        Value::Object(fields) => {
            let filled =
                fields.iter().filter_map(|(name, it)| Some((name.clone(), fill(it, call)?)));
            Some(Value::Object(filled.collect()))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(said.clone()),
    }
}

fn named(path: &str, call: &Arguments) -> Option<Value> {
    let (name, rest) = match path.find('/') {
        Some(at) => path.split_at(at),
        None => (path, ""),
    };
    call.fields().get(name)?.pointer(rest).cloned()
}

fn is_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn verify(arguments: Value, at: &str, is: Option<Value>) -> Verify {
        let tool = ToolName::new("find").unwrap();
        let Value::Object(arguments) = arguments else { panic!("no object") };
        Verify { tool, arguments, at: at.to_owned(), is }
    }

    fn call(arguments: Value) -> Arguments {
        let Value::Object(fields) = arguments else { panic!("no object") };
        Arguments::new(fields)
    }

    #[test]
    fn what_the_call_said_stands_in_the_lookup_and_what_it_did_not_say_is_left_out() {
        let lookup = verify(
            json!({
                "reference": "{reference}", "limit": 1, "customer": "{customer/id}",
                "filter": { "status": ["paid", "{status}"], "text": "{no} text" }, "gone": "{gone}",
                "deep": "{customer/none}",
            }),
            "",
            None,
        );
        let of = call(json!({ "reference": "r-1", "customer": { "id": 7 }, "status": null }));
        let expected = json!({
            "reference": "r-1", "limit": 1, "customer": 7,
            "filter": { "status": ["paid", null], "text": "{no} text" },
        });
        assert_eq!(lookup.arguments_for(&of).into_value(), expected);
    }

    #[test]
    fn an_answer_tells_by_what_stands_at_its_place_or_by_that_anything_does() {
        let data = |data: Value| Content { structured: Some(data), ..Content::default() };
        let exactly = verify(json!({}), "/payments/0/status", Some(json!("paid")));
        let any = verify(json!({}), "/payments", None);
        for (answer, is_exact, is_any) in [
            (json!({ "payments": [{ "status": "paid" }] }), true, true),
            (json!({ "payments": [{ "status": "open" }] }), false, true),
            (json!({ "payments": [] }), false, false),
            (json!({ "payments": null }), false, false),
            (json!({ "payments": "" }), false, false),
            (json!({ "payments": false }), false, false),
            (json!({ "payments": {} }), false, false),
            (json!({ "payments": 0 }), false, true),
            (json!({}), false, false),
        ] {
            let answer = data(answer);
            assert_eq!(exactly.took_effect(&answer), Some(is_exact), "{answer:?}");
            assert_eq!(any.took_effect(&answer), Some(is_any), "{answer:?}");
        }
        let text = Content::text(r#"{"payments": [{"status": "paid"}]}"#);
        assert_eq!(exactly.took_effect(&text), Some(true));
        assert_eq!(exactly.took_effect(&Content::text("no data")), None);
        assert_eq!(exactly.took_effect(&Content::default()), None);
    }
}
