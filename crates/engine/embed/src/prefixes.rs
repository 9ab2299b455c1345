//! Words before a text that tell a model what it is for.

use toolcrib_search::EmbedPurpose;

/// What stands before each text. Models of the E5 family want `query: ` and `passage: `, others say
/// in their description what they want; most want nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefixes {
    pub query: String,
    pub tool: String,
}

impl Prefixes {
    pub(crate) fn before(&self, purpose: EmbedPurpose, text: &str) -> String {
        let prefix = match purpose {
            EmbedPurpose::Tool => &self.tool,
            EmbedPurpose::Query => &self.query,
        };
        format!("{prefix}{text}")
    }

    /// Others make other vectors.
    #[cfg(feature = "sentence-model")]
    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.query.as_bytes(), self.tool.as_bytes()].join(&0)
    }
}
