//! Values as XML, as a document says by its `xml` objects. What it says nothing of is an element of
//! the property's own name.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use toolcrib_core::ToolError;

use super::refusal::refused;
use super::style::plain;
use crate::operation::xml::{XmlContent, XmlModel, XmlNode, XmlNodeId, XmlNodeType, is_name};

/// A whole document.
pub(super) fn document(xml: &XmlModel, value: &Value) -> Result<String, ToolError> {
    let mut writer = XmlWriter {
        xml,
        out: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(),
        scope: Vec::new(),
    };
    let root = xml.nodes.first();
    // There is one root: around a list it stands in any case.
    match root.map(|root| &root.holds) {
        Some(XmlContent::Items(items)) => {
            let wrapper = root.cloned().unwrap_or_default();
            writer.wrapped(&xml.name, &wrapper, (*items, &xml.name), listed(value))?;
        }
        Some(XmlContent::Value | XmlContent::Fields(_)) | None => {
            writer.element(&xml.name, Some(0), value)?;
        }
    }
    Ok(writer.out)
}

struct XmlWriter<'x> {
    xml: &'x XmlModel,
    out: String,
    /// Prefixes (empty: none) and what they stand for, from outside to inside.
    scope: Vec<(String, String)>,
}

static NOTHING: XmlNode = XmlNode {
    name: None,
    namespace: None,
    prefix: None,
    written: XmlNodeType::Element,
    is_wrapped: false,
    holds: XmlContent::Value,
};

impl<'x> XmlWriter<'x> {
    fn node(&self, id: Option<XmlNodeId>) -> &'x XmlNode {
        id.and_then(|id| self.xml.nodes.get(id)).unwrap_or(&NOTHING)
    }

    /// One property: an element, or those of a list.
    fn property(
        &mut self,
        name: &str,
        id: Option<XmlNodeId>,
        value: &Value,
    ) -> Result<(), ToolError> {
        let node = self.node(id);
        let own = node.name.as_deref().unwrap_or(name);
        match (&node.holds, value) {
            (_, Value::Null) => Ok(()),
            (XmlContent::Items(items), value) if node.is_wrapped => {
                self.wrapped(own, node, (*items, own), listed(value))
            }
            (XmlContent::Items(items), value) => {
                let name = self.node(Some(*items)).name.as_deref().unwrap_or(own);
                listed(value).iter().try_for_each(|item| self.element(name, Some(*items), item))
            }
            (_, Value::Array(all)) => all.iter().try_for_each(|it| self.element(own, None, it)),
            (_, value) => self.element(own, id, value),
        }
    }

    fn wrapped(
        &mut self,
        name: &str,
        node: &XmlNode,
        (items, usual): (XmlNodeId, &str),
        all: &[Value],
    ) -> Result<(), ToolError> {
        let known = self.scope.len();
        let tag = self.open(name, node, &[])?;
        let item = self.node(Some(items)).name.as_deref().unwrap_or(usual);
        all.iter().try_for_each(|value| self.element(item, Some(items), value))?;
        self.close(&tag, known);
        Ok(())
    }

    /// The depth is bounded with that of the arguments.
    fn element(
        &mut self,
        name: &str,
        id: Option<XmlNodeId>,
        value: &Value,
    ) -> Result<(), ToolError> {
        let node = self.node(id);
        let known = self.scope.len();
        match value {
            Value::Null => {}
            Value::Array(items) => {
                let inner = match node.holds {
                    XmlContent::Items(items) => Some(items),
                    XmlContent::Value | XmlContent::Fields(_) => None,
                };
                let tag = self.open(name, node, &[])?;
                let item = self.node(inner).name.as_deref().unwrap_or(name);
                items.iter().try_for_each(|value| self.element(item, inner, value))?;
                self.close(&tag, known);
            }
            Value::Object(members) => self.object(name, node, members)?,
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                let tag = self.open(name, node, &[])?;
                let text = escaped(name, &plain(value), XmlNodeType::Text)?;
                self.out.push_str(&text);
                self.close(&tag, known);
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        name: &str,
        node: &'x XmlNode,
        members: &Map<String, Value>,
    ) -> Result<(), ToolError> {
        let declared: &[(String, XmlNodeId)] = match &node.holds {
            XmlContent::Fields(fields) => fields,
            XmlContent::Value | XmlContent::Items(_) => &[],
        };
        let given = |(name, id): &'x (String, XmlNodeId)| {
            Some((name.as_str(), Some(*id), members.get(name)?))
        };
        let declared_names = |name: &str| declared.iter().any(|(known, _)| known == name);
        let others = members.iter().filter(|(name, _)| !declared_names(name));
        let others = others.map(|(name, value)| (name.as_str(), None, value));
        let all: Vec<(&str, Option<XmlNodeId>, &Value)> =
            declared.iter().filter_map(given).chain(others).filter(|it| !it.2.is_null()).collect();
        let is = |id: &Option<XmlNodeId>, written: XmlNodeType| self.node(*id).written == written;
        let attributes: Vec<_> =
            all.iter().filter(|(_, id, _)| is(id, XmlNodeType::Attribute)).copied().collect();
        let known = self.scope.len();
        let tag = self.open(name, node, &attributes)?;
        for (name, id, value) in all {
            match self.node(id).written {
                XmlNodeType::Attribute => {}
                XmlNodeType::Text => {
                    let text = escaped(name, &plain(value), XmlNodeType::Text)?;
                    self.out.push_str(&text);
                }
                XmlNodeType::Element => self.property(name, id, value)?,
            }
        }
        self.close(&tag, known);
        Ok(())
    }

    fn open(
        &mut self,
        name: &str,
        node: &XmlNode,
        attributes: &[(&str, Option<XmlNodeId>, &Value)],
    ) -> Result<String, ToolError> {
        let tag = qualified(name, node)?;
        self.out.push('<');
        self.out.push_str(&tag);
        self.declare(node)?;
        for (name, id, value) in attributes {
            let node = self.node(*id);
            if node.prefix.is_some() {
                self.declare(node)?;
            }
            let own = qualified(node.name.as_deref().unwrap_or(name), node)?;
            let text = escaped(name, &joined(value), XmlNodeType::Attribute)?;
            let _ = write!(self.out, " {own}=\"{text}\"");
        }
        self.out.push('>');
        Ok(tag)
    }

    fn close(&mut self, tag: &str, known: usize) {
        let _ = write!(self.out, "</{tag}>");
        self.scope.truncate(known);
    }

    /// Says what a prefix stands for, where that is not known yet.
    fn declare(&mut self, node: &XmlNode) -> Result<(), ToolError> {
        let Some(namespace) = &node.namespace else { return Ok(()) };
        let prefix = node.prefix.clone().unwrap_or_default();
        let known = self.scope.iter().rev().find(|(known, _)| *known == prefix);
        if known.is_some_and(|(_, known)| known == namespace) {
            return Ok(());
        }
        let colon = if prefix.is_empty() { "" } else { ":" };
        let text = escaped(&prefix, namespace, XmlNodeType::Attribute)?;
        let _ = write!(self.out, " xmlns{colon}{prefix}=\"{text}\"");
        self.scope.push((prefix, namespace.clone()));
        Ok(())
    }
}

fn listed(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        Value::Null => &[],
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            std::slice::from_ref(value)
        }
    }
}

/// A list in an attribute is one of words, as XML Schema has it.
fn joined(value: &Value) -> String {
    match value.as_array() {
        Some(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        None => plain(value),
    }
}

fn qualified(name: &str, node: &XmlNode) -> Result<String, ToolError> {
    if !is_name(name) {
        let why = "cannot be the name of an element of XML: use letters, digits, `-`, `_` and `.`";
        return Err(refused(name, why));
    }
    Ok(match &node.prefix {
        Some(prefix) => format!("{prefix}:{name}"),
        None => name.to_owned(),
    })
}

fn escaped(name: &str, text: &str, place: XmlNodeType) -> Result<String, ToolError> {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if place == XmlNodeType::Attribute => out.push_str("&quot;"),
            // Readers make other white space of these.
            '\r' => out.push_str("&#13;"),
            '\n' if place == XmlNodeType::Attribute => out.push_str("&#10;"),
            '\t' if place == XmlNodeType::Attribute => out.push_str("&#9;"),
            '\n' | '\t' => out.push(c),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                let why = "holds a control character, which XML cannot hold: leave it out";
                return Err(refused(name, why));
            }
            c => out.push(c),
        }
    }
    Ok(out)
}
