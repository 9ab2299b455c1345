//! XML of a server: elements and their text, within bounds and without entities of its own.

use quick_xml::NsReader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;

/// How deep elements may stand in each other; answers of servers have some ten levels.
const DEEPEST: usize = 32;
/// Most elements of one answer.
const MOST_ELEMENTS: usize = 500_000;

pub(super) const DAV: &str = "DAV:";
pub(super) const CAL: &str = "urn:ietf:params:xml:ns:caldav";

/// One element with all that stands in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct XmlElement {
    /// Empty if it is in none.
    pub namespace: String,
    /// Without a prefix.
    pub name: String,
    /// The attribute `name`, the only one that CalDAV's answers are read for.
    pub label: Option<String>,
    /// The text that stands in it directly.
    pub text: String,
    pub children: Vec<XmlElement>,
}

/// Why a text is no XML that is read here.
#[derive(Debug, thiserror::Error)]
pub enum XmlError {
    #[error("it is no XML")]
    Malformed(#[from] quick_xml::Error),
    #[error("it goes deeper than {DEEPEST} elements")]
    TooDeep,
    #[error("it has more than {MOST_ELEMENTS} elements")]
    TooMany,
    #[error("it declares a document type, which is not read")]
    DocType,
    #[error("it names the entity `{0}`, which is not known")]
    Entity(String),
    #[error("it has no element, or more than one outside")]
    NotOne,
}

impl XmlElement {
    /// Reads a whole document.
    pub fn read(text: &str) -> Result<Self, XmlError> {
        let mut reader = NsReader::from_str(text);
        let mut open: Vec<Self> = Vec::new();
        let mut whole = None;
        let mut count = 0;
        loop {
            let (namespace, event) = reader.read_resolved_event()?;
            let ended = match event {
                Event::Start(start) => {
                    count += 1;
                    open.push(begun(&namespace, &start)?);
                    None
                }
                Event::Empty(start) => {
                    count += 1;
                    Some(begun(&namespace, &start)?)
                }
                Event::End(_) => open.pop(),
                Event::Text(text) => {
                    append(&mut open, &text.xml10_content());
                    None
                }
                Event::CData(text) => {
                    append(&mut open, &text.xml10_content());
                    None
                }
                Event::GeneralRef(name) => {
                    if let Some(letter) = name.resolve_char_ref()? {
                        append(&mut open, letter.encode_utf8(&mut [0; 4]));
                    } else {
                        let meant = resolve_predefined_entity(&name);
                        let meant = meant.ok_or_else(|| XmlError::Entity(shown(&name)))?;
                        append(&mut open, meant);
                    }
                    None
                }
                Event::DocType(_) => return Err(XmlError::DocType),
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => None,
            };
            if open.len() > DEEPEST {
                return Err(XmlError::TooDeep);
            }
            if count > MOST_ELEMENTS {
                return Err(XmlError::TooMany);
            }
            match (ended, open.last_mut()) {
                (None, _) => {}
                (Some(ended), Some(outer)) => outer.children.push(ended),
                (Some(ended), None) if whole.is_none() => whole = Some(ended),
                (Some(_), None) => return Err(XmlError::NotOne),
            }
        }
        // The reader itself sees elements that are not closed as the end only.
        whole.filter(|_| open.is_empty()).ok_or(XmlError::NotOne)
    }

    pub(super) fn is(&self, namespace: &str, name: &str) -> bool {
        self.namespace == namespace && self.name == name
    }

    /// The first child of a name.
    pub(super) fn child(&self, namespace: &str, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.is(namespace, name))
    }

    /// The children of a name.
    pub(super) fn all<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.is(namespace, name))
    }

    /// The text of the first `href` in it.
    pub(super) fn href(&self) -> Option<&str> {
        self.child(DAV, "href").map(|href| href.text.trim()).filter(|href| !href.is_empty())
    }
}

fn begun(namespace: &ResolveResult<'_>, start: &BytesStart<'_>) -> Result<XmlElement, XmlError> {
    let namespace = match namespace {
        ResolveResult::Bound(namespace) => namespace.0.to_owned(),
        ResolveResult::Unbound | ResolveResult::Unknown(_) => String::new(),
    };
    let name = start.local_name().as_ref().to_owned();
    let attribute = start.try_get_attribute("name").map_err(quick_xml::Error::from)?;
    let label = match attribute {
        Some(label) => Some(unescape(&label.value).map_err(quick_xml::Error::from)?.into_owned()),
        None => None,
    };
    Ok(XmlElement { namespace, name, label, ..XmlElement::default() })
}

fn append(open: &mut [XmlElement], text: &str) {
    if let Some(inner) = open.last_mut() {
        inner.text.push_str(text);
    }
}

fn shown(name: &str) -> String {
    name.chars().take(40).collect()
}

/// Text as it stands between tags.
pub(super) fn escaped(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}
