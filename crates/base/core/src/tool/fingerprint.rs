//! A spec's identity: what a person accepted, and what a ticket is bound to.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::canonical;

/// SHA-256, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Of a value's canonical text: the order of keys does not count.
    pub fn of(value: &Value) -> Self {
        Self(Sha256::digest(canonical::text(value)).into())
    }

    /// The same of an object by its fields.
    pub(crate) fn of_fields(fields: &Map<String, Value>) -> Self {
        Self(Sha256::digest(canonical::text_of_fields(fields)).into())
    }

    /// The first eight digits, for people.
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |half: u8| half + if half < 10 { b'0' } else { b'a' - 10 };
        let mut digits = [0; 64];
        let (pairs, _) = digits.as_chunks_mut::<2>();
        for (pair, byte) in pairs.iter_mut().zip(self.0) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        // In one piece: it is written twice for every call.
        f.write_str(str::from_utf8(&digits).unwrap_or_default())
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_written_in_64_digits_and_read_again() {
        let of_null = "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b";
        let fingerprint = Fingerprint::of(&json!(null));
        assert_eq!(fingerprint.to_string(), of_null);
        assert_eq!(Fingerprint::try_from(of_null.to_owned()), Ok(fingerprint));
        assert_eq!((fingerprint.short(), format!("{fingerprint:?}").len()), ("74234e98".into(), 8));
    }
}
