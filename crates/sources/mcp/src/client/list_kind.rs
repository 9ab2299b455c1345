//! The lists that a server may have.

/// Which list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListKind {
    /// The capability of a server that has it.
    pub(crate) capability: &'static str,
    pub(crate) method: &'static str,
    /// The field of a result that holds the entries.
    pub(crate) key: &'static str,
    pub(crate) words: &'static str,
}

pub(crate) const TOOLS: ListKind =
    ListKind { capability: "tools", method: "tools/list", key: "tools", words: "tools" };
pub(crate) const PROMPTS: ListKind =
    ListKind { capability: "prompts", method: "prompts/list", key: "prompts", words: "prompts" };
pub(crate) const RESOURCES: ListKind = ListKind {
    capability: "resources",
    method: "resources/list",
    key: "resources",
    words: "resources",
};
pub(crate) const TEMPLATES: ListKind = ListKind {
    capability: "resources",
    method: "resources/templates/list",
    key: "resourceTemplates",
    words: "templates",
};

/// Under which key the result of a method has the entries of a list, if it is one.
pub(crate) fn key(method: &str) -> Option<&'static str> {
    let kind =
        [TOOLS, PROMPTS, RESOURCES, TEMPLATES].into_iter().find(|kind| kind.method == method);
    Some(kind?.key)
}
