//! A call as a model made it: nothing in it is trusted yet.

pub(crate) mod arguments;
pub(crate) mod caller;
pub(crate) mod context;
pub(crate) mod host;
pub(crate) mod json_fields;
pub(crate) mod name;
pub(crate) mod trace;

use std::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

/// One request to run one tool, already out of its wire shape but not yet checked.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "what its host says of it, each by itself")]
pub struct Call {
    /// The model API's name for the call; not unique, and invented where the API gave none.
    pub id: String,
    /// Whether the model API gave the id, and nobody made it up.
    pub named: bool,
    /// The crib's name of the tool, as far as the dialect could tell.
    pub name: String,
    pub arguments: RawArguments,
    /// Why this is no call at all, if it is none: it is answered all the same.
    pub fault: Option<String>,
    pub wire: CallWire,
    /// The caller's own name for the call: sent again under it, the call does not run again and
    /// has the same answer. 1 to 255 bytes.
    pub key: Option<String>,
    /// It was made before, and its host cannot tell what came of that: unless it is harmless to
    /// repeat, it runs if a person lets it.
    pub again: bool,
    /// Its caller made it before and gave it up, and means it once more: only where that is so, it
    /// is not held back.
    pub anew: bool,
    /// It came through a tool that passes calls on. The gate says so; nobody else needs to.
    pub relayed: bool,
}

/// What a dialect must give back with the answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CallWire {
    /// The tool's name as the model wrote it.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub name: String,
    /// Opaque fields to echo.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub echo: Map<String, Value>,
}

/// Arguments as they came: anything at all.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum RawArguments {
    #[default]
    Absent,
    /// JSON in a string, perhaps broken.
    Text(String),
    Value(Value),
}

impl Call {
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: RawArguments) -> Self {
        let name = name.into();
        let wire = CallWire { name: name.clone(), echo: Map::new() };
        Self { id: id.into(), name, arguments, wire, ..Self::default() }
    }

    /// Something that is no call; `fault` says what is missing.
    pub fn malformed(id: impl Into<String>, fault: impl Into<String>) -> Self {
        Self { id: id.into(), fault: Some(fault.into()), ..Self::default() }
    }
}

impl From<Value> for RawArguments {
    fn from(value: Value) -> Self {
        if let Value::String(text) = value { Self::Text(text) } else { Self::Value(value) }
    }
}

impl From<Option<Value>> for RawArguments {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::Absent, Self::from)
    }
}

/// Our own name of a call: unguessable, unique, ordered by time of its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey {
    batch: Uuid,
    index: u32,
}

impl CallKey {
    /// One random number a batch, not one a call.
    pub(crate) fn batch() -> impl Fn(usize) -> Self {
        let batch = name_of_a_batch();
        move |index| Self { batch, index: u32::try_from(index).unwrap_or(u32::MAX) }
    }

    /// Reads what `Display` wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let (batch, index) = text.split_once('-')?;
        Some(Self { batch: Uuid::try_parse(batch).ok()?, index: index.parse().ok()? })
    }

    /// The place of the call in its batch, from zero.
    pub fn place(&self) -> usize {
        self.index as usize
    }
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.batch.simple(), self.index)
    }
}

/// A UUID of version 7 that the operating system is not asked for: it was asked once for a seed,
/// and whoever sees some of these names learns nothing of the others.
fn name_of_a_batch() -> Uuid {
    static SEED: LazyLock<[Uuid; 2]> = LazyLock::new(|| [Uuid::new_v4(), Uuid::new_v4()]);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut hash = Sha256::new();
    SEED.iter().for_each(|seed| hash.update(seed));
    let drawn: [u8; 32] = hash.chain_update(number.to_be_bytes()).finalize().into();
    let drawn = drawn.first_chunk().copied().unwrap_or_default();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    Builder::from_unix_timestamp_millis(millis, &drawn).into_uuid()
}

impl Serialize for CallKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_batch_has_a_name_of_its_own_that_tells_its_time() {
        let names: Vec<Uuid> = (0..1_000).map(|_| name_of_a_batch()).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 1_000);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        for name in &names {
            assert_eq!(name.get_version_num(), 7);
            let (seconds, _) = name.get_timestamp().unwrap().to_unix();
            assert!(now.as_secs() - seconds < 60, "{name}");
        }
        let key = CallKey::batch()(3);
        assert_eq!((CallKey::parse(&key.to_string()), key.place()), (Some(key), 3));
    }
}
