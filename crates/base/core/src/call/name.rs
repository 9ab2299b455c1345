//! The names of tools, sources and calls: checked once, at the border.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcrib_json::invisible::exact;

/// Longest tool name, in characters; the limit of MCP and of the widest model API.
pub const LONGEST_NAME: usize = 128;

/// The name of a tool: 1 to 128 characters of `A-Z a-z 0-9 _ . : / -`.
///
/// A dialect that allows fewer characters has a codec of its own; the crib's name never changes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(Arc<str>);

/// A name that no tool may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{shown}` cannot name a tool: use 1 to {LONGEST_NAME} characters of `A-Z a-z 0-9 _ . : / -`"
)]
pub struct InvalidName {
    shown: String,
}

impl ToolName {
    /// Checks a name; nothing is changed silently.
    pub fn new(name: impl AsRef<str>) -> Result<Self, InvalidName> {
        let name = name.as_ref();
        let legal = !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(is_legal);
        if legal { Ok(Self(name.into())) } else { Err(InvalidName { shown: shown(name) }) }
    }

    /// Makes a legal name of a foreign one: what is not allowed becomes `_`, the rest is cut.
    ///
    /// Two foreign names may fall together; whoever merges them sees the conflict.
    pub fn sanitize(foreign: &str) -> Self {
        let name: String = foreign
            .chars()
            .map(|c| if u8::try_from(c).is_ok_and(is_legal) { c } else { '_' })
            .take(LONGEST_NAME)
            .collect();
        Self(if name.is_empty() { "unnamed".into() } else { name.into() })
    }

    /// The same without a cut, for what is only compared and never shown: two addresses must not
    /// fall together where rules tell them apart.
    pub(crate) fn whole(foreign: &str) -> Self {
        let legal = |c| if u8::try_from(c).is_ok_and(is_legal) { c } else { '_' };
        Self(foreign.chars().map(legal).collect::<String>().into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_legal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'/' | b'-')
}

/// A foreign text as it may stand in an error: one line, 40 characters at most.
pub(crate) fn shown(text: &str) -> String {
    let begin: String = text.chars().take(40).collect();
    let mut shown = exact(&begin).into_owned();
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

impl TryFrom<String> for ToolName {
    type Error = InvalidName;
    fn try_from(name: String) -> Result<Self, InvalidName> {
        Self::new(name)
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> Self {
        name.as_str().to_owned()
    }
}

impl Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

/// The name of a source, as the operator wrote it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceId(Arc<str>);

impl SourceId {
    pub fn new(id: impl AsRef<str>) -> Self {
        Self(id.as_ref().into())
    }

    /// The source of tools that are functions of the host program.
    pub fn code() -> Self {
        Self::new("code")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}
