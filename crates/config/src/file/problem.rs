//! What is wrong with a file: where, what, and the cure.

use std::fmt;

use serde::Serialize;

/// One fault of a file, or one thing that its writer should know.
///
/// Shown as ``crib.toml:12:3: source[1].mcp.comand: unknown key; did you mean `command`?``.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigProblem {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// Of the key, as in `source[1].mcp.command`; empty for the whole file.
    pub path: String,
    /// What is wrong; never the value of a secret.
    pub message: String,
    pub cure: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, path, message, cure } = self;
        write!(f, "{file}:{line}:{column}: ")?;
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        write!(f, "{message}; {cure}")
    }
}
