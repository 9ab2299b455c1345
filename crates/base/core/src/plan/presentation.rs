//! How the tools of a plan are shown to a model: all at once, or a core of them and the means to
//! find the rest, which stand beside the catalog.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::visibility::Exposure;
use crate::call::name::ToolName;
use crate::catalog::CatalogTool;

/// What is wished.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Discovery {
    /// All visible tools in full.
    #[default]
    Direct,
    /// A core in full; the rest is found when it is needed.
    Lazy,
    /// Whichever costs less.
    Auto,
}

impl Discovery {
    /// The words by which people and programs name them.
    pub const WORDS: [&'static str; 3] = ["direct", "lazy", "auto"];

    /// The one of a word.
    pub fn read(word: &str) -> Option<Self> {
        [Self::Direct, Self::Lazy, Self::Auto].into_iter().find(|mode| mode.as_str() == word)
    }

    pub fn as_str(self) -> &'static str {
        let [direct, lazy, auto] = Self::WORDS;
        match self {
            Self::Direct => direct,
            Self::Lazy => lazy,
            Self::Auto => auto,
        }
    }
}

/// How the tools of a plan are shown, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presentation {
    /// `Direct` or `Lazy`.
    pub mode: Discovery,
    /// What is made of the tools that are not in the core.
    pub rest: Exposure,
    /// As a sentence.
    pub because: Cow<'static, str>,
}

impl Default for Presentation {
    fn default() -> Self {
        let because = Cow::Borrowed("nothing else was asked for");
        Self { mode: Discovery::Direct, rest: Exposure::Listed, because }
    }
}

/// Tools that stand in no catalog: by which a model finds and calls the others. Cheap to clone.
///
/// No policy is asked about them, since they do nothing of their own: what they tell is what the
/// plan shows its caller, and what they bring about passes the gate itself.
#[derive(Clone, Default)]
pub struct MetaTools {
    pub tools: Arc<[MetaTool]>,
    /// Of these, the one whose calls are calls of the tool that they name.
    pub relay: Option<ToolName>,
    /// Of these, the one that searches.
    pub finder: Option<ToolName>,
}

/// One of them.
#[derive(Clone)]
pub struct MetaTool {
    pub listed: CatalogTool,
    /// `Hidden`: it is called by whoever knows of it.
    pub exposure: Exposure,
}

impl MetaTools {
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.tools.iter().position(|extra| extra.listed.spec.name.as_str() == name)
    }

    pub(super) fn has(&self, tool: &CatalogTool) -> bool {
        self.tools.iter().any(|extra| std::ptr::eq(&raw const extra.listed, tool))
    }
}
