//! How a value is written as XML: what the `xml` objects of a document say, by place.

/// The elements of a body, which may lead back to themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Xml {
    pub(crate) nodes: Vec<Node>,
    /// Of the root element.
    pub(crate) name: String,
}

/// The place of a node; the root is the first.
pub(crate) type Id = usize;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Node {
    /// `None`: as the property is called.
    pub(crate) name: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) prefix: Option<String>,
    pub(crate) written: Written,
    /// Of a list: whether an element stands around its items.
    pub(crate) is_wrapped: bool,
    pub(crate) holds: Holds,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Written {
    #[default]
    Element,
    Attribute,
    /// The text of the element around it.
    Text,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Holds {
    #[default]
    Value,
    /// By the names of the properties, in the order of the document.
    Fields(Vec<(String, Id)>),
    Items(Id),
}

/// Whether a text is a name without a colon; XML allows more of other scripts than this.
pub(crate) fn is_name(text: &str) -> bool {
    let starts = |c: char| c == '_' || c.is_alphabetic();
    let goes_on = |c: char| starts(c) || c.is_alphanumeric() || matches!(c, '-' | '.');
    text.len() <= 200 && text.starts_with(starts) && text.chars().all(goes_on)
}
