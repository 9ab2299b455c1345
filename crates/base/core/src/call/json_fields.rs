//! A JSON object whose members nobody here looks into.

use serde_json::{Map, Value};

/// A JSON object.
pub type JsonFields = Map<String, Value>;
