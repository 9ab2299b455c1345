//! The id of a request, read as it stands.

use std::fmt;

use rmcp::model::RequestId;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

/// The SDK's own type keeps a copy of what it reads, to try one kind after the other.
pub(crate) struct Id(pub(crate) RequestId);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Id;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a text or a whole number")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Id, E> {
                Ok(Id(RequestId::Number(number)))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Id, E> {
                let number = i64::try_from(number).map_err(E::custom)?;
                Ok(Id(RequestId::Number(number)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Id, E> {
                Ok(Id(RequestId::String(text.into())))
            }
        }
        source.deserialize_any(Either)
    }
}
