//! Valid JSON to a value in one pass, with a depth bound and no key that stands for two values.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::number::LITERAL;
use crate::repair::bounds::RepairBounds;

/// Why a text is not read; the place counts from 1, the column in bytes as `serde_json` does.
pub(crate) struct StrictError {
    pub(crate) why: StrictErrorKind,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

pub(crate) enum StrictErrorKind {
    /// Not JSON; the text is `serde_json`'s, which names the place and quotes nothing.
    Syntax(String),
    TooDeep,
    TooMany,
    /// The key stands twice in one object with different values.
    Duplicate(String),
}

/// Reads one JSON document and nothing after it.
///
/// A key that is repeated with the same value is harmless; one with another value is refused,
/// because whoever checked the first value and whoever acts on the last would not mean the same.
///
/// `inside`: of how many containers the text is a part.
pub(crate) fn parse(
    text: &str,
    inside: usize,
    bounds: &RepairBounds,
) -> Result<Value, StrictError> {
    let fault = RefCell::new(None);
    let mut source = serde_json::Deserializer::from_str(text);
    let left = Cell::new(bounds.values);
    let node = StrictSeed { depth: inside, most: bounds.depth, fault: &fault, left: &left };
    node.deserialize(&mut source).and_then(|value| source.end().map(|()| value)).map_err(|error| {
        StrictError {
            line: error.line(),
            column: error.column(),
            why: fault.take().unwrap_or_else(|| StrictErrorKind::Syntax(error.to_string())),
        }
    })
}

fn number<E: serde::de::Error>(literal: &str) -> Result<Value, E> {
    serde_json::from_str(literal).map(Value::Number).map_err(E::custom)
}

#[derive(Clone, Copy)]
struct StrictSeed<'f> {
    depth: usize,
    /// Containers inside each other.
    most: usize,
    fault: &'f RefCell<Option<StrictErrorKind>>,
    /// Values that may still come.
    left: &'f Cell<usize>,
}

impl StrictSeed<'_> {
    fn inside<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth >= self.most {
            self.fault.replace(Some(StrictErrorKind::TooDeep));
            return Err(E::custom("nested too deep"));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for StrictSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        let Some(left) = self.left.get().checked_sub(1) else {
            self.fault.replace(Some(StrictErrorKind::TooMany));
            return Err(D::Error::custom("too many values"));
        };
        self.left.set(left);
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictSeed<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Number::from_u128(value).map_or(Value::Null, Value::Number))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Number::from_i128(value).map_or(Value::Null, Value::Number))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut source: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut items = Vec::new();
        while let Some(item) = source.next_element_seed(inside)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut source: A) -> Result<Value, A::Error> {
        let mut first = source.next_key::<String>()?;
        if first.as_deref() == Some(LITERAL) {
            return number(&source.next_value::<String>()?);
        }
        let inside = self.inside()?;
        let mut members = Map::new();
        while let Some(key) = match first.take() {
            Some(key) => Some(key),
            None => source.next_key::<String>()?,
        } {
            let value = source.next_value_seed(inside)?;
            match members.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(value);
                }
                Entry::Occupied(place) if *place.get() == value => {}
                Entry::Occupied(place) => {
                    self.fault.replace(Some(StrictErrorKind::Duplicate(place.key().clone())));
                    return Err(A::Error::custom("repeated key"));
                }
            }
        }
        Ok(Value::Object(members))
    }
}
