//! The text of a pin file.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use toolcrib_core::{Fingerprint, SourceId, ToolName, ToolSpec};
use toolcrib_json::told;

use super::PinFile;

/// The version of the form below.
const VERSION: u64 = 1;

/// How deep a recorded value may nest: together with what stands around it, less than a JSON
/// parser takes, so that no tool can make the file unreadable.
const DEEPEST: usize = 64;

/// One accepted tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pin {
    pub(super) source: SourceId,
    pub(super) fingerprint: Fingerprint,
    /// All that the fingerprint covers; what nests too deep is there by its own fingerprint.
    pub(super) spec: Map<String, Value>,
}

/// Why a text is no pin file.
#[derive(Debug, thiserror::Error)]
pub enum PinFileError {
    #[error(
        "the pin file cannot be read: {}: restore it, or delete it and accept the tools anew",
        told(.0)
    )]
    Unreadable(serde_json::Error),
    #[error(
        "the pin file has version {found}, this program knows {VERSION}: use the program that \
         wrote it, or delete it and accept the tools anew"
    )]
    Version { found: u64 },
}

/// Not as a cause, since it would be told once more with names of types.
impl From<serde_json::Error> for PinFileError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl PinFileError {
    /// Counted from 1, where a line is to blame.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Unreadable(error) => Some(error.line()),
            Self::Version { .. } => None,
        }
    }
}

impl Pin {
    pub(super) fn of(spec: &ToolSpec, fingerprint: Fingerprint) -> Self {
        Self { source: spec.origin.source.clone(), fingerprint, spec: recorded(spec) }
    }
}

/// The fields of a spec that its fingerprint covers, but for the name, with all keys sorted.
pub(super) fn recorded(spec: &ToolSpec) -> Map<String, Value> {
    let Value::Object(mut fields) = spec.to_json() else { return Map::new() };
    for key in ["name", "origin", "enabled"] {
        fields.remove(key);
    }
    for value in fields.values_mut() {
        if deeper_than(value, DEEPEST) {
            *value = Value::from(format!("too deep to record: {}", Fingerprint::of(value)));
        }
    }
    sort(&mut fields);
    fields
}

fn deeper_than(value: &Value, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return true };
    match value {
        Value::Array(items) => items.iter().any(|item| deeper_than(item, levels)),
        Value::Object(fields) => fields.values().any(|value| deeper_than(value, levels)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Called on what is known not to nest deep.
fn sort(fields: &mut Map<String, Value>) {
    fn within(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(within),
            Value::Object(fields) => sort(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    fields.sort_keys();
    fields.values_mut().for_each(within);
}

impl PinFile {
    /// The same pins are the same text.
    pub fn to_text(&self) -> String {
        let mut tools = Map::new();
        for (name, of_name) in &self.pins {
            let pins = of_name.values().map(|Pin { source, fingerprint, spec }| {
                json!({ "source": source, "fingerprint": fingerprint, "spec": spec })
            });
            let mut pins: Vec<_> = pins.collect();
            let only = if pins.len() == 1 { pins.pop() } else { None };
            tools.insert(name.to_string(), only.unwrap_or(Value::Array(pins)));
        }
        format!("{:#}\n", json!({ "version": VERSION, "tools": tools }))
    }

    pub fn parse(text: &str) -> Result<Self, PinFileError> {
        // The version first: another version may have another form.
        let PinFileVersion { version } = serde_json::from_str(text)?;
        if version != VERSION {
            return Err(PinFileError::Version { found: version });
        }
        let PinFileBody { tools, .. } = serde_json::from_str(text)?;
        Ok(Self { pins: tools })
    }
}

#[derive(Deserialize)]
struct PinFileVersion {
    version: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PinFileBody {
    #[serde(rename = "version")]
    _version: u64,
    #[serde(deserialize_with = "each_once")]
    tools: BTreeMap<ToolName, BTreeMap<SourceId, Pin>>,
}

/// A merge can leave a tool in the file twice: a reader looks at one, the program at the other.
fn each_once<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<ToolName, BTreeMap<SourceId, Pin>>, D::Error> {
    struct UniqueNamesVisitor;
    impl<'de> Visitor<'de> for UniqueNamesVisitor {
        type Value = BTreeMap<ToolName, BTreeMap<SourceId, Pin>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("tools under their names")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pins = BTreeMap::new();
            while let Some((name, of_name)) = map.next_entry::<ToolName, PinsOfName>()? {
                if pins.contains_key(&name) {
                    return Err(A::Error::custom(format!("`{name}` is there twice")));
                }
                pins.insert(name, of_name.0);
            }
            Ok(pins)
        }
    }
    deserializer.deserialize_map(UniqueNamesVisitor)
}

/// The pins of one name: one, or a list of those of several sources.
struct PinsOfName(BTreeMap<SourceId, Pin>);

impl<'de> Deserialize<'de> for PinsOfName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = PinsOfName;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a pin, or a list of the pins of several sources")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let pin = Pin::deserialize(MapAccessDeserializer::new(map))?;
                Ok(PinsOfName(BTreeMap::from([(pin.source.clone(), pin)])))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut pins = BTreeMap::new();
                while let Some(pin) = list.next_element::<Pin>()? {
                    if let Some(twice) = pins.insert(pin.source.clone(), pin) {
                        let source = twice.source;
                        return Err(A::Error::custom(format!("one of `{source}` is there twice")));
                    }
                }
                Ok(PinsOfName(pins))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}
