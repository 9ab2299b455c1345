//! What must be an object of JSON: a struct would also be read from a list of its fields in their
//! order.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// PHP writes an object without fields as `[]`: where these members can be nothing but objects,
/// that is what they are.
pub(crate) fn empty_as_objects(fields: &mut Map<String, Value>, members: &[&str]) {
    for member in members {
        if let Some(value) = fields.get_mut(*member)
            && value.as_array().is_some_and(Vec::is_empty)
        {
            *value = Value::Object(Map::new());
        }
    }
}

pub(crate) struct StrictObject<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for StrictObject<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct StrictObjectVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for StrictObjectVisitor<T> {
            type Value = StrictObject<T>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<StrictObject<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(fields)).map(StrictObject)
            }
        }
        source.deserialize_map(StrictObjectVisitor(PhantomData))
    }
}
