//! The text of a pin file.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use toolcrib_core::{SourceId, ToolName};

use super::PinFile;
use super::pin::Pin;
use super::pin_file_error::{PinFileError, VERSION};

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
