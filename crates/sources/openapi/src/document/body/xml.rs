//! The `xml` objects of a body, by the rules of `OpenAPI` for them: what an element is called, what
//! is an attribute, which lists have an element around them, and the names spaces.

use std::collections::HashMap;

use serde_json::Value;

use crate::document::document_set::{DocumentSet, DocumentSite};
use crate::document::text::{flag, member};
use crate::operation::xml::{XmlContent, XmlModel, XmlNode, XmlNodeId, XmlNodeType, is_name};

/// Elements of one body.
const MOST: usize = 2_000;
/// `allOf` and the like are looked through this deep.
const DEEPEST: usize = 8;

/// How a body is written; `None`: it is no object and no list, so that only its writer knows.
pub(crate) fn shape(
    library: &DocumentSet,
    schema: DocumentSite<'_>,
) -> Result<Option<XmlModel>, String> {
    let mut reader = XmlModelReader { library, nodes: Vec::new(), known: HashMap::new() };
    let root = reader.node(schema)?;
    let named = reader.nodes.get(root).and_then(|node| node.name.clone());
    let is_plain = reader.nodes.get(root).is_none_or(|node| node.holds == XmlContent::Value);
    let component = member(schema.value, "$ref").and_then(|to| to.rsplit('/').next());
    let title = library.follow(schema).ok().and_then(|site| member(site.value, "title"));
    let called = [component, title].into_iter().flatten().find(|name| is_name(name));
    let name = named.unwrap_or_else(|| called.unwrap_or("root").to_owned());
    Ok((!is_plain).then_some(XmlModel { nodes: reader.nodes, name }))
}

struct XmlModelReader<'l> {
    library: &'l DocumentSet,
    nodes: Vec<XmlNode>,
    /// Schemas that were read, or are being read, without an `xml` beside a reference to them.
    known: HashMap<*const Value, XmlNodeId>,
}

impl<'l> XmlModelReader<'l> {
    fn node(&mut self, site: DocumentSite<'l>) -> Result<XmlNodeId, String> {
        let beside = site.get("xml").filter(|_| member(site.value, "$ref").is_some());
        let site = self.library.follow(site)?;
        let key: *const Value = site.value;
        if let Some(known) = self.known.get(&key).filter(|_| beside.is_none()) {
            return Ok(*known);
        }
        if self.nodes.len() >= MOST || self.library.is_tired() {
            return Err(format!("it has more than {MOST} elements"));
        }
        self.library.step(1);
        let id = self.nodes.len();
        self.nodes.push(XmlNode::default());
        if beside.is_none() {
            self.known.insert(key, id);
        }
        let mut node = XmlNode::default();
        let said = beside.or_else(|| self.said(site, 0));
        read(said.map(|said| said.value), &mut node)?;
        node.holds = self.holds(site)?;
        if let Some(slot) = self.nodes.get_mut(id) {
            *slot = node;
        }
        Ok(id)
    }

    /// What a schema, or a part of it, says of its element.
    fn said(&self, site: DocumentSite<'l>, depth: usize) -> Option<DocumentSite<'l>> {
        let own = site.get("xml");
        let parts = || site.get("allOf").into_iter().flat_map(DocumentSite::items).take(20);
        own.or_else(|| {
            let follow = |part| self.library.follow(part).ok();
            let mut parts = parts().filter(|_| depth < DEEPEST).filter_map(follow);
            parts.find_map(|part| self.said(part, depth + 1))
        })
    }

    fn holds(&mut self, site: DocumentSite<'l>) -> Result<XmlContent, String> {
        let is_type = |word: &str| match site.value.get("type") {
            Some(Value::Array(types)) => types.iter().any(|one| one == word),
            Some(one) => one == word,
            None => false,
        };
        if let Some(items) = site.get("items").filter(|items| items.value.is_object()) {
            return Ok(XmlContent::Items(self.node(items)?));
        }
        let mut fields = Vec::new();
        self.fields(site, &mut fields, 0)?;
        let is_object = !fields.is_empty() || is_type("object");
        Ok(if is_object { XmlContent::Fields(fields) } else { XmlContent::Value })
    }

    fn fields(
        &mut self,
        site: DocumentSite<'l>,
        fields: &mut Vec<(String, XmlNodeId)>,
        depth: usize,
    ) -> Result<(), String> {
        if depth > DEEPEST {
            return Ok(());
        }
        let parts = ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|key| site.get(key));
        for part in parts.flat_map(DocumentSite::items).take(64) {
            let part = self.library.follow(part)?;
            self.library.step(1);
            self.fields(part, fields, depth + 1)?;
        }
        for (name, property) in site.get("properties").into_iter().flat_map(DocumentSite::members) {
            if fields.iter().all(|(known, _)| known != name) {
                let id = self.node(property)?;
                fields.push((name.clone(), id));
            }
        }
        Ok(())
    }
}

/// Reads an `xml` object. Its words are part of every request, so they are names or nothing.
fn read(said: Option<&Value>, node: &mut XmlNode) -> Result<(), String> {
    let Some(said) = said else { return Ok(()) };
    let word = |key: &str| match member(said, key).filter(|word| !word.is_empty()) {
        Some(word) if is_name(word) => Ok(Some(word.to_owned())),
        Some(word) => {
            Err(format!("`{}` is no name of an element", crate::document::text::line(word, 60)))
        }
        None => Ok(None),
    };
    node.name = word("name")?;
    node.prefix = word("prefix")?;
    node.namespace = member(said, "namespace").filter(|it| !it.is_empty()).map(str::to_owned);
    node.is_wrapped = flag(said, "wrapped");
    node.written = match member(said, "nodeType") {
        Some("attribute") => XmlNodeType::Attribute,
        Some("text" | "cdata") => XmlNodeType::Text,
        // Of a list it says whether there is an element around it.
        Some("element") => {
            node.is_wrapped = true;
            XmlNodeType::Element
        }
        _ if flag(said, "attribute") => XmlNodeType::Attribute,
        _ => XmlNodeType::Element,
    };
    Ok(())
}
