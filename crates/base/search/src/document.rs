//! What a tool says of itself, as the index takes it.

use std::borrow::Cow;

/// One tool: any of the texts may be empty, any of the lists too.
///
/// A text may be borrowed or owned; nothing of it is kept but words, the name and the facets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolDocument<'a> {
    /// The name by which the tool is called, as it is: `createEvent`, `github.list_issues`.
    pub name: Cow<'a, str>,
    /// One line.
    pub summary: Cow<'a, str>,
    /// May begin with the summary or repeat it.
    pub description: Cow<'a, str>,
    /// A facet, and words too.
    pub category: Option<Cow<'a, str>>,
    /// What it does, in a word each (`read`, `create`): a facet, and words too.
    pub actions: Vec<Cow<'a, str>>,
    /// Where it comes from: a facet, and words too.
    pub source: Cow<'a, str>,
    /// What the source says of itself: words that its tools take for granted.
    pub about_source: Cow<'a, str>,
    /// A facet, and words too.
    pub tags: Vec<Cow<'a, str>>,
    /// What it takes, nested ones too where that helps.
    pub arguments: Vec<DocumentArgument<'a>>,
    /// Names of the fields of its result, where they are known.
    pub results: Vec<Cow<'a, str>>,
    /// Questions that it serves, as people ask them.
    pub examples: Vec<Cow<'a, str>>,
    /// Other names.
    pub aliases: Vec<Cow<'a, str>>,
    /// Whether it may change something.
    pub writes: bool,
}

/// What a tool takes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DocumentArgument<'a> {
    pub name: Cow<'a, str>,
    pub description: Cow<'a, str>,
    /// What it may be, where that is a list.
    pub values: Vec<Cow<'a, str>>,
    pub required: bool,
}

/// Where a word stands in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentField {
    /// The name and its aliases.
    Name,
    Summary,
    Description,
    ArgumentName,
    /// Descriptions of arguments.
    ArgumentText,
    /// What an argument may be.
    Value,
    /// Names of the fields of the result.
    Result,
    /// Tags, category and actions.
    Label,
    /// The source and what it says of itself.
    Source,
    Example,
}

impl DocumentField {
    /// Every field, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Name,
        Self::Summary,
        Self::Description,
        Self::ArgumentName,
        Self::ArgumentText,
        Self::Value,
        Self::Result,
        Self::Label,
        Self::Source,
        Self::Example,
    ];

    /// Its word in an explanation.
    pub fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Summary => "summary",
            Self::Description => "description",
            Self::ArgumentName => "argument",
            Self::ArgumentText => "argument text",
            Self::Value => "value",
            Self::Result => "result",
            Self::Label => "label",
            Self::Source => "source",
            Self::Example => "example",
        }
    }

    pub(crate) fn number(self) -> usize {
        self as usize
    }
}
