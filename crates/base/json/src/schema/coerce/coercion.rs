//! One change that coercion made, in words.

use std::fmt;

use serde_json::Value;

use crate::schema::excerpt;

/// One thing that was changed in a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coercion {
    /// JSON Pointer to what was changed, as the value came in.
    pub path: String,
    /// What was there, on one short line.
    pub from: String,
    /// What is there now, on one short line; empty where it was dropped.
    pub to: String,
}

impl fmt::Display for Coercion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Coercion { from, to, .. } = self;
        let path = excerpt::line(&self.path);
        if to.is_empty() {
            write!(formatter, "`{path}`: dropped {from}")
        } else {
            write!(formatter, "`{path}`: took {from} as {to}")
        }
    }
}

impl Coercion {
    pub(super) fn new(path: &str, from: &Value, to: Option<&Value>) -> Coercion {
        const SHOWN: usize = 60;
        Coercion {
            path: path.to_owned(),
            from: excerpt::show(from, SHOWN),
            to: to.map(|to| excerpt::show(to, SHOWN)).unwrap_or_default(),
        }
    }
}
