//! The way to a value of a file.

use std::fmt;

use toolcrib_json::invisible::exact;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TomlPathStep {
    Key(String),
    Index(usize),
}

/// The way from the top of the file to a value. Shown as `source[1].mcp.command`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TomlPath(Vec<TomlPathStep>);

impl TomlPath {
    #[must_use]
    pub(crate) fn key(&self, key: &str) -> Self {
        self.step(TomlPathStep::Key(key.to_owned()))
    }

    #[must_use]
    pub(crate) fn index(&self, index: usize) -> Self {
        self.step(TomlPathStep::Index(index))
    }

    fn step(&self, step: TomlPathStep) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    pub(crate) fn steps(&self) -> &[TomlPathStep] {
        &self.0
    }

    /// The last key on the way.
    pub(crate) fn name(&self) -> &str {
        let key = |step: &'_ TomlPathStep| matches!(step, TomlPathStep::Key(_));
        match self.0.iter().rfind(|step| key(step)) {
            Some(TomlPathStep::Key(key)) => key,
            Some(TomlPathStep::Index(_)) | None => "",
        }
    }

    pub(crate) fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl fmt::Display for TomlPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                TomlPathStep::Key(key) if is_bare(key) => {
                    let dot = if position > 0 { "." } else { "" };
                    write!(f, "{dot}{key}")?;
                }
                // A key may hold anything: it stays on one line.
                TomlPathStep::Key(key) => {
                    let dot = if position > 0 { "." } else { "" };
                    let begin: String = key.chars().take(60).collect();
                    let shown = exact(&begin).replace('"', "\\\"");
                    write!(f, "{dot}\"{shown}\"")?;
                }
                TomlPathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Whether a key needs no quotes in TOML.
pub(crate) fn is_bare(key: &str) -> bool {
    let bare = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'-';
    !key.is_empty() && key.len() <= 128 && key.bytes().all(bare)
}
