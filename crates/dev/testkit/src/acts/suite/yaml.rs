//! The files of the suite as trees of JSON.

use std::borrow::Cow;

use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Levels of a file.
const MOST_LEVELS: usize = 64;

/// A list or a map that is not over.
enum OpenNode {
    List(Vec<Value>),
    /// With the key whose value comes next.
    Map(Map<String, Value>, Option<String>),
}

/// The tree of a file; why not, in words.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut open: Vec<OpenNode> = Vec::new();
    let mut root = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| error.to_string())?;
        let line = span.start.line();
        if open.len() > MOST_LEVELS {
            return Err(format!("line {line}: it nests deeper than {MOST_LEVELS} levels"));
        }
        let whole = step(event, &mut open).map_err(|why| format!("line {line}: {why}"))?;
        let Some(whole) = whole else { continue };
        match open.last_mut() {
            None => root = Some(whole),
            Some(OpenNode::List(items)) => items.push(whole),
            Some(OpenNode::Map(members, key)) => match key.take() {
                Some(key) => drop(members.insert(key, whole)),
                None => *key = Some(word(&whole)),
            },
        }
    }
    root.ok_or_else(|| "it is empty".to_owned())
}

/// A node that is whole with this event.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser's other events say nothing of nodes"
)]
fn step(event: Event<'_>, open: &mut Vec<OpenNode>) -> Result<Option<Value>, &'static str> {
    match event {
        Event::Scalar(text, style, _, _) => Ok(Some(scalar(text, style == ScalarStyle::Plain))),
        Event::Alias(_) => Err("the suite knows no aliases"),
        Event::SequenceStart(..) => {
            open.push(OpenNode::List(Vec::new()));
            Ok(None)
        }
        Event::MappingStart(..) => {
            open.push(OpenNode::Map(Map::new(), None));
            Ok(None)
        }
        Event::SequenceEnd | Event::MappingEnd => Ok(open.pop().map(|node| match node {
            OpenNode::List(items) => Value::Array(items),
            OpenNode::Map(members, _) => Value::Object(members),
        })),
        _ => Ok(None),
    }
}

/// A word by the core schema of YAML 1.2, as far as JSON writes it the same way.
fn scalar(text: Cow<'_, str>, is_plain: bool) -> Value {
    if is_plain {
        match text.as_ref() {
            "" | "~" | "null" => return Value::Null,
            "true" => return Value::Bool(true),
            "false" => return Value::Bool(false),
            word => {
                let number: Result<serde_json::Number, _> = serde_json::from_str(word);
                if let Ok(number) = number {
                    return Value::Number(number);
                }
            }
        }
    }
    Value::String(text.into_owned())
}

fn word(key: &Value) -> String {
    key.as_str().map_or_else(|| key.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;

    #[test]
    fn a_word_is_what_the_core_schema_makes_of_it_unless_it_is_quoted() {
        let text = "a: [1, -32601, 2.5, true, null, ~, word, \"1.0\", '7']\nb:\n  - c: >\n      two\n      lines\n  - d: \"{{x}}\"\n";
        let wanted = json!({
            "a": [1, -32601, 2.5, true, null, null, "word", "1.0", "7"],
            "b": [{ "c": "two lines\n" }, { "d": "{{x}}" }],
        });
        assert_eq!(read(text), Ok(wanted));
        assert!(read("a: *b").is_err());
        assert!(read("").is_err());
        assert!(read(&"[".repeat(200)).is_err());
    }
}
