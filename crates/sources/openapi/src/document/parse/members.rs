//! What the members of a document hold, by where they stand.

/// What an object holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberContent {
    /// Words that the format knows.
    Keywords,
    /// Names that somebody gave, of things with keywords.
    Names,
    /// Names of texts.
    Texts,
    /// Values of the API itself, and whatever else is nobody's business.
    Data,
}

impl MemberContent {
    /// What the value of a member holds.
    pub(crate) fn within(self, key: &str) -> Self {
        match self {
            Self::Data | Self::Texts => Self::Data,
            Self::Names => Self::Keywords,
            Self::Keywords => match key {
                "const" | "default" | "enum" | "example" | "examples" | "value" => Self::Data,
                _ if key.starts_with("x-") => Self::Data,
                "mapping" | "scopes" => Self::Texts,
                "$defs"
                | "additionalOperations"
                | "callbacks"
                | "content"
                | "definitions"
                | "dependentSchemas"
                | "encoding"
                | "headers"
                | "links"
                | "parameters"
                | "pathItems"
                | "paths"
                | "patternProperties"
                | "properties"
                | "requestBodies"
                | "responses"
                | "schemas"
                | "securityDefinitions"
                | "securitySchemes"
                | "variables"
                | "webhooks" => Self::Names,
                _ => Self::Keywords,
            },
        }
    }

    /// What the items of a list hold.
    pub(crate) fn listed(self) -> Self {
        if self == Self::Names { Self::Keywords } else { self }
    }
}
