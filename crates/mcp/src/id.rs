//! The id of a request, read as it stands.

use std::fmt;

use rmcp::model::RequestId;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// Beyond this, readers that keep numbers as floating point take two of them for one.
const EXACT: u64 = (1 << 53) - 1;

/// The SDK's own type takes `1.0` for 1, and keeps a copy of what it reads, to try one kind after the other.
pub(crate) struct Id(pub(crate) RequestId);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Id;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a text or a whole number")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Id, E> {
                if number.unsigned_abs() > EXACT {
                    return Err(E::custom("the number is not exact to every reader"));
                }
                Ok(Id(RequestId::Number(number)))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Id, E> {
                self.visit_i64(i64::try_from(number).map_err(E::custom)?)
            }

            fn visit_str<E>(self, text: &str) -> Result<Id, E> {
                Ok(Id(RequestId::String(text.into())))
            }
        }
        source.deserialize_any(Either)
    }
}
