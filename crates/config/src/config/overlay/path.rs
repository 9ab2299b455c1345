//! Which fields may be changed over the file.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use toml_edit::Key;

/// Keys of a path at the most.
const DEEPEST: usize = 5;
/// Longest path, in bytes.
const LONGEST: usize = 1_024;
/// Lists of rules at the top of the file.
const RULES: [&str; 3] = ["allow", "ask", "deny"];
const OF_SOURCE: [&str; 4] = ["enabled", "include", "exclude", "timeout"];
const OF_PROFILE: [&str; 6] = ["allow", "ask", "deny", "discovery", "eager", "max_calls"];

/// A field that may be changed over the file: `tool.NAME.FIELD`, `source.ID.enabled`,
/// `profile.NAME.max_calls`, or `allow`, `ask` and `deny` of the top; and `source.ID`, a whole source
/// that the file does not have.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OverlayPath(Vec<String>);

/// What a path leads to.
pub(super) enum OverlayField<'p> {
    /// A list of the top, to which entries are added.
    Rules(&'p str),
    /// A whole source.
    AddedSource {
        id: &'p str,
    },
    Source {
        id: &'p str,
        field: &'p str,
    },
    /// A table of the top, the name of one within it, and the keys below that.
    Named {
        table: &'p str,
        name: &'p str,
        keys: &'p [String],
    },
}

impl OverlayPath {
    /// A place of the file, whether it may be changed over it or not.
    pub(super) fn of(keys: &[&str]) -> Self {
        Self(keys.iter().map(|key| (*key).to_owned()).collect())
    }

    pub(super) fn field(&self) -> Option<OverlayField<'_>> {
        match self.0.as_slice() {
            [rules] => Some(OverlayField::Rules(rules)),
            [top, id] if top == "source" => Some(OverlayField::AddedSource { id }),
            [top, id, field] if top == "source" => Some(OverlayField::Source { id, field }),
            [table, name, keys @ ..] => Some(OverlayField::Named { table, name, keys }),
            [] => None,
        }
    }

    /// The place of a whole source.
    pub fn of_source(id: &str) -> Self {
        Self(vec!["source".to_owned(), id.to_owned()])
    }

    /// Whether it is a whole source.
    pub fn is_source(&self) -> bool {
        matches!(self.field(), Some(OverlayField::AddedSource { .. }))
    }

    /// Whether it is a list of rules at the top, to which entries are added.
    pub fn is_rules(&self) -> bool {
        matches!(self.field(), Some(OverlayField::Rules(_)))
    }

    /// Its keys, from the top of the file.
    pub fn keys(&self) -> &[String] {
        &self.0
    }
}

impl FromStr for OverlayPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("the path has more than {LONGEST} bytes"));
        }
        let keys = Key::parse(text).map_err(|_| {
            format!(
                "`{text}` is no path of a file: write keys with dots between them, and those with \
                 other letters in quotes, as in `tool.\"a/b\".enabled`"
            )
        })?;
        let keys: Vec<_> = keys.iter().map(|key| key.get().to_owned()).collect();
        let words: Vec<_> = keys.iter().map(String::as_str).collect();
        let may_change = match words.as_slice() {
            [rules] => RULES.contains(rules),
            ["tool", _, _, ..] => keys.len() <= DEEPEST,
            ["source", _] => true,
            ["source", _, field] => OF_SOURCE.contains(field),
            ["profile", _, field] => OF_PROFILE.contains(field),
            _ => false,
        };
        if may_change {
            return Ok(Self(keys));
        }
        Err(format!(
            "`{text}` cannot be changed over the file: a field of a tool can (`tool.NAME.enabled`), \
             a whole source (`source.ID`), `{}` of a source, `{}` of a profile, and `{}` at the top; change the file itself",
            OF_SOURCE.join("`, `"),
            OF_PROFILE.join("`, `"),
            RULES.join("`, `"),
        ))
    }
}

impl TryFrom<String> for OverlayPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<OverlayPath> for String {
    fn from(path: OverlayPath) -> Self {
        path.to_string()
    }
}

impl fmt::Display for OverlayPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, key) in self.0.iter().enumerate() {
            let dot = if position > 0 { "." } else { "" };
            write!(f, "{dot}{}", Key::new(key.as_str()).display_repr())?;
        }
        Ok(())
    }
}
