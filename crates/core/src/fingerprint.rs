//! A spec's identity: what a person accepted, and what a ticket is bound to.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::canonical;
use crate::spec::ToolSpec;

/// SHA-256, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Of a value's canonical text: the order of keys does not count.
    pub fn of(value: &Value) -> Self {
        Self(Sha256::digest(canonical::text(value)).into())
    }

    /// The same of an object by its fields, one after the other.
    pub(crate) fn of_fields(fields: &Map<String, Value>) -> Self {
        let mut fields: Vec<_> = fields.iter().collect();
        fields.sort_unstable_by_key(|(name, _)| name.as_str());
        let mut hash = Sha256::new();
        hash.update("{");
        for (position, (name, value)) in fields.into_iter().enumerate() {
            if position > 0 {
                hash.update(",");
            }
            hash.update(Value::from(name.as_str()).to_string());
            hash.update(":");
            hash.update(canonical::text(value));
        }
        hash.update("}");
        Self(hash.finalize().into())
    }

    pub(crate) fn of_spec(spec: &ToolSpec) -> Self {
        let mut value = spec.to_json();
        if let Value::Object(fields) = &mut value {
            fields.remove("origin");
            fields.remove("enabled");
        }
        Self::of(&value)
    }

    /// The first eight digits, for people.
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.to_string()
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        const CURE: &str = "a fingerprint is 64 hexadecimal digits: write the file anew";
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(CURE);
        }
        for (position, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(position * 2..position * 2 + 2).ok_or(CURE)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| CURE)?;
        }
        Ok(Self(bytes))
    }
}
