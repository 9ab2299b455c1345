//! The arguments of a call.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use toolcrib_json::number::Decimal;

use crate::outcome::{ErrorKind, ToolError};
use crate::tool::fingerprint::Fingerprint;

/// The arguments of a call: always a JSON object. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arguments(Arc<Map<String, Value>>);

impl Arguments {
    pub fn new(fields: Map<String, Value>) -> Self {
        Self(Arc::new(fields))
    }

    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    pub fn into_value(self) -> Value {
        Value::Object(Arc::unwrap_or_clone(self.0))
    }

    /// What `Fingerprint::of` gives of them, without a copy.
    pub fn digest(&self) -> Fingerprint {
        Fingerprint::of_fields(&self.0)
    }

    /// Reads the arguments as a type; what does not fit is the model's to put right.
    pub fn read<A: DeserializeOwned>(&self) -> Result<A, ToolError> {
        // `()` is what a function without arguments takes.
        let nothing = || A::deserialize(Value::Null).ok().filter(|_| self.0.is_empty());
        // What serde keeps for later (flattened, untagged) takes numbers as floats write them.
        let shortest = || A::deserialize(&shortest(&self.0)?).ok();
        let read = A::deserialize(&*self.0);
        read.or_else(|error| shortest().or_else(nothing).ok_or(error)).map_err(|error| {
            let message = format!("the arguments do not fit: {error}; correct them and call again");
            ToolError::new(ErrorKind::InvalidArguments, message)
        })
    }
}

/// The arguments with `1.10` as `1.1`, wherever a float is exactly the number. `None`: they are so.
fn shortest(fields: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut fields = fields.clone();
    let mut waiting: Vec<&mut Value> = fields.values_mut().collect();
    let mut is_other = false;
    while let Some(value) = waiting.pop() {
        match value {
            Value::Number(number) => {
                let float = number.as_f64().filter(|_| !number.is_i64() && !number.is_u64());
                let float = float.and_then(Number::from_f64);
                let is_exact = |float: &Number| Decimal::of(float) == Decimal::of(number);
                if let Some(float) = float.filter(is_exact)
                    && float != *number
                {
                    *number = float;
                    is_other = true;
                }
            }
            Value::Array(items) => waiting.extend(items),
            Value::Object(members) => waiting.extend(members.values_mut()),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    is_other.then_some(fields)
}
