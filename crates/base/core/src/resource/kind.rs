//! Kinds of what a source offers beside tools.

/// What a source offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    Prompt,
    Resource,
    Template,
}

impl ResourceKind {
    /// The field of a definition that names it.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Prompt => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
        }
    }

    pub(super) fn category(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Resource | Self::Template => "resource",
        }
    }
}
