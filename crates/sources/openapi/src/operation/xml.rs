//! How a value is written as XML: what the `xml` objects of a document say, by place.

/// The elements of a body, which may lead back to themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct XmlModel {
    pub(crate) nodes: Vec<XmlNode>,
    /// Of the root element.
    pub(crate) name: String,
}

/// The place of a node; the root is the first.
pub(crate) type XmlNodeId = usize;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct XmlNode {
    /// `None`: as the property is called.
    pub(crate) name: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) prefix: Option<String>,
    pub(crate) written: XmlNodeType,
    /// Of a list: whether an element stands around its items.
    pub(crate) is_wrapped: bool,
    pub(crate) holds: XmlContent,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum XmlNodeType {
    #[default]
    Element,
    Attribute,
    /// The text of the element around it.
    Text,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum XmlContent {
    #[default]
    Value,
    /// By the names of the properties, in the order of the document.
    Fields(Vec<(String, XmlNodeId)>),
    Items(XmlNodeId),
}

/// Whether a text is a name without a colon; XML allows more of other scripts than this.
pub(crate) fn is_name(text: &str) -> bool {
    let starts = |c: char| c == '_' || c.is_alphabetic();
    let goes_on = |c: char| starts(c) || c.is_alphanumeric() || matches!(c, '-' | '.');
    text.len() <= 200 && text.starts_with(starts) && text.chars().all(goes_on)
}
