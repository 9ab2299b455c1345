//! The id of a request, read as it stands.

use rmcp::model::RequestId;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Beyond this, readers that keep numbers as floating point take two of them for one.
const EXACT: u64 = (1 << 53) - 1;

/// The SDK's own type takes `1.0` for 1, and keeps a copy of what it reads, to try one kind after
/// the other.
pub(crate) struct StrictRequestId(pub(crate) RequestId);

impl<'de> Deserialize<'de> for StrictRequestId {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        // Numbers come in a form of `serde_json`'s own, which only its value reads.
        let read = Value::deserialize(source)?;
        let told = "expected a text, or a whole number that is exact to every reader";
        Self::of(&read).ok_or_else(|| D::Error::custom(told))
    }
}

impl StrictRequestId {
    pub(crate) fn of(id: &Value) -> Option<Self> {
        match id {
            Value::String(text) => Some(Self(RequestId::String(text.as_str().into()))),
            Value::Number(number) => {
                let whole = number.as_i64().filter(|whole| whole.unsigned_abs() <= EXACT);
                whole.map(|whole| Self(RequestId::Number(whole)))
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }
}
