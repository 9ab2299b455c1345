//! The fields of an object as they stand: what is passed on, or looked at in parts, needs no tree.

use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Fields that an object may have to be read so.
const MOST: usize = 16;

/// The fields of an object, each there once, and written without escapes.
#[derive(Default)]
pub(crate) struct RawFields<'a>(pub(crate) Vec<(&'a str, &'a RawValue)>);

impl<'a> RawFields<'a> {
    /// `None`: it is no object, or one that only a tree can tell.
    pub(crate) fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let field = self.0.iter().find(|(known, _)| *known == name);
        field.map(|(_, value)| value.get())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawFields<'a> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct RawFieldsVisitor;
        impl<'de> Visitor<'de> for RawFieldsVisitor {
            type Value = RawFields<'de>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawFields<'de>, A::Error> {
                let mut fields: Vec<(&str, &RawValue)> = Vec::with_capacity(4);
                while let Some(field) = map.next_entry()? {
                    let (name, _): (&str, &RawValue) = field;
                    let is_known = fields.iter().any(|(known, _)| *known == name);
                    if is_known || fields.len() == MOST {
                        return Err(A::Error::custom("this is not plain"));
                    }
                    fields.push(field);
                }
                Ok(RawFields(fields))
            }
        }
        source.deserialize_map(RawFieldsVisitor)
    }
}
