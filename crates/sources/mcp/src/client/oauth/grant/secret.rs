//! How secrets stand in the file of their owner. `Secret` has no `Serialize`, so that it is written
//! nowhere by accident; here it is written.

use serde::{Deserialize, Deserializer, Serializer};
use toolcrib_core::Secret;

pub(crate) fn serialize<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    String::deserialize(deserializer).map(Secret::new)
}

/// One that may not be there.
pub(crate) mod optional {
    use serde::{Deserialize, Deserializer, Serializer};
    use toolcrib_core::Secret;

    #[expect(clippy::ref_option, reason = "serde wants it so")]
    pub(crate) fn serialize<S: Serializer>(
        secret: &Option<Secret>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match secret {
            Some(secret) => serializer.serialize_some(secret.expose()),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Secret>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(text.map(Secret::new))
    }
}
