//! A call as a model made it: nothing in it is trusted yet.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// One request to run one tool, already out of its wire shape but not yet checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Call {
    /// The model API's name for the call; not unique, and invented where the API gave none.
    pub id: String,
    /// The crib's name of the tool, as far as the dialect could tell.
    pub name: String,
    pub arguments: RawArguments,
    /// Why this is no call at all, if it is none: it is answered all the same.
    pub fault: Option<String>,
    pub wire: Wire,
    /// The caller's own name for the call: sent again under it, the call does not run again and
    /// has the same answer. 1 to 255 bytes.
    pub key: Option<String>,
    /// It came through a tool that passes calls on. The gate says so; nobody else needs to.
    pub relayed: bool,
}

/// What a dialect must give back with the answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Wire {
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
        let wire = Wire { name: name.clone(), echo: Map::new() };
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
        let batch = Uuid::now_v7();
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

impl Serialize for CallKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
