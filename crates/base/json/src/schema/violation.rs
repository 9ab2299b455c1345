//! What is wrong with a value, as a model needs to hear it.

use std::fmt;

use super::excerpt::line;

/// One place where a value does not satisfy its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON Pointer into the value; empty for the value itself.
    pub path: String,
    /// What the schema asks for, for example ``a string (date-time)``.
    pub expected: String,
    /// What is there, on one short line; empty where `expected` says it all, as in
    /// ``not a known argument, did you mean `title`?``.
    pub got: String,
}

/// What is wrong with a value: at least one place, at most [`Violations::MOST`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Violations {
    /// The places, in the order of the schema's keywords.
    pub places: Vec<Violation>,
    /// How many more there are.
    pub more: usize,
}

impl Violations {
    /// The most places that are told: who has more to mend is served better by a second look.
    pub const MOST: usize = 8;
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(formatter, "`{}`: ", line(&self.path))?;
        }
        if self.got.is_empty() {
            formatter.write_str(&self.expected)
        } else {
            write!(formatter, "expected {}, got {}", self.expected, self.got)
        }
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.places.iter().enumerate() {
            formatter.write_str(if index > 0 { "; " } else { "" })?;
            violation.fmt(formatter)?;
        }
        if self.more > 0 {
            write!(formatter, "; and {} more", self.more)?;
        }
        Ok(())
    }
}
