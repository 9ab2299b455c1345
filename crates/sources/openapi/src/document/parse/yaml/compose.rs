//! The events of a parser as nodes; an alias is the node that it means, and no copy of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use granit_parser::{Event, Parser, ScalarStyle, Tag};

/// Levels of a document; the reader of JSON has the same bound.
const MAX_DEPTH: u64 = 127;
/// Nodes of a text.
const MOST_NODES: u64 = 8_000_000;
/// Nodes that all aliases of a text unfold to.
const MOST_COPIED: u64 = 1_000_000;

pub(super) enum YamlNode<'t> {
    Scalar(YamlScalar<'t>),
    List(Vec<YamlNode<'t>>),
    Map(Vec<(YamlScalar<'t>, YamlNode<'t>)>),
    /// What has an anchor, wherever it stands.
    Shared(Rc<YamlNode<'t>>),
}

impl<'t> YamlNode<'t> {
    /// The node itself, whoever shares it.
    pub(super) fn plain(&self) -> &YamlNode<'t> {
        let mut node = self;
        while let YamlNode::Shared(shared) = node {
            node = shared;
        }
        node
    }
}

/// A text, a number, or another single value, as it is written.
#[derive(Clone)]
pub(super) struct YamlScalar<'t> {
    pub(super) text: Cow<'t, str>,
    /// Without quotes, so that it may be other than text.
    pub(super) is_plain: bool,
    pub(super) tag: ScalarTag,
    pub(super) line: u32,
}

/// What a tag says of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarTag {
    /// Nothing, or nothing that is known.
    Unsaid,
    Text,
    /// One of the kinds that are found out by how a plain word looks.
    Other,
}

/// What a node unfolds to.
#[derive(Clone, Copy, Default)]
struct NodeSize {
    nodes: u64,
    bytes: u64,
    height: u64,
}

impl NodeSize {
    fn add(&mut self, part: NodeSize) {
        self.nodes = self.nodes.saturating_add(part.nodes);
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.height = self.height.max(part.height.saturating_add(1));
    }
}

/// A list or a map that is not over.
struct OpenCollection<'t> {
    anchor: usize,
    size: NodeSize,
    held: CollectionItems<'t>,
}

enum CollectionItems<'t> {
    List(Vec<YamlNode<'t>>),
    /// With the key whose value comes next.
    Map(Vec<(YamlScalar<'t>, YamlNode<'t>)>, Option<YamlScalar<'t>>),
}

#[derive(Default)]
struct YamlComposer<'t> {
    open: Vec<OpenCollection<'t>>,
    anchors: HashMap<usize, (Rc<YamlNode<'t>>, NodeSize)>,
    root: Option<(YamlNode<'t>, NodeSize)>,
    /// Nodes of the text itself.
    parsed: u64,
}

/// The nodes of a text; why not, in words.
pub(super) fn compose(text: &str, limit: usize) -> Result<YamlNode<'_>, String> {
    let depth = usize::try_from(MAX_DEPTH).unwrap_or(usize::MAX);
    let options = granit_parser::options! {
        simple_key_max_lookahead: 4_096,
        flow_nesting_limit: depth,
        block_nesting_limit: depth,
    };
    let mut composer = YamlComposer::default();
    let mut documents = 0;
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| error.to_string())?;
        let line = span.start.line();
        if let Event::DocumentStart(..) = event {
            documents += 1;
            if documents > 1 {
                return Err(format!("line {line}: another document begins: keep one in a file"));
            }
        }
        composer.take(event, line).map_err(|why| format!("line {line}: {why}"))?;
    }
    let Some((root, size)) = composer.root else { return Ok(YamlNode::List(Vec::new())) };
    let copied = size.nodes.saturating_sub(composer.parsed);
    let most = u64::try_from(text.len().saturating_add(limit)).unwrap_or(u64::MAX);
    if copied > MOST_COPIED || size.bytes > most {
        return Err(format!(
            "its aliases unfold to more than {MOST_COPIED} nodes or {limit} bytes: write what they \
             repeat as `$ref`"
        ));
    }
    Ok(root)
}

impl<'t> YamlComposer<'t> {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the kinds of events are the parser's: others say nothing of nodes"
    )]
    fn take(&mut self, event: Event<'t>, line: usize) -> Result<(), String> {
        let (held, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let bytes = text.len() as u64;
                let scalar = YamlScalar {
                    text,
                    is_plain: style == ScalarStyle::Plain,
                    tag: kind(tag.as_deref()),
                    line: u32::try_from(line).unwrap_or(u32::MAX),
                };
                self.parsed += 1;
                return self.put(
                    YamlNode::Scalar(scalar),
                    NodeSize { nodes: 1, bytes, height: 0 },
                    anchor,
                );
            }
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor);
                let (shared, size) = known.ok_or("an alias stands within what it means")?;
                let (shared, size) = (YamlNode::Shared(Rc::clone(shared)), *size);
                return self.put(shared, size, 0);
            }
            Event::SequenceStart(_, anchor, _) => (CollectionItems::List(Vec::new()), anchor),
            Event::MappingStart(_, anchor, _) => (CollectionItems::Map(Vec::new(), None), anchor),
            Event::SequenceEnd | Event::MappingEnd => return self.close(),
            _ => return Ok(()),
        };
        self.parsed += 1;
        let size = NodeSize { nodes: 1, bytes: 0, height: 1 };
        self.open.push(OpenCollection { anchor, size, held });
        if self.parsed > MOST_NODES {
            return Err(format!("it has more than {MOST_NODES} parts"));
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let Some(OpenCollection { anchor, size, held }) = self.open.pop() else { return Ok(()) };
        let node = match held {
            CollectionItems::List(items) => YamlNode::List(items),
            CollectionItems::Map(members, _) => YamlNode::Map(members),
        };
        self.put(node, size, anchor)
    }

    /// Puts a whole node where it belongs.
    fn put(&mut self, node: YamlNode<'t>, size: NodeSize, anchor: usize) -> Result<(), String> {
        if size.height > MAX_DEPTH {
            return Err("it nests too deep".to_owned());
        }
        let node = if anchor == 0 {
            node
        } else {
            let shared = Rc::new(node);
            self.anchors.insert(anchor, (Rc::clone(&shared), size));
            YamlNode::Shared(shared)
        };
        let Some(open) = self.open.last_mut() else {
            self.root = Some((node, size));
            return Ok(());
        };
        open.size.add(size);
        match &mut open.held {
            CollectionItems::List(items) => items.push(node),
            CollectionItems::Map(members, key) => match key.take() {
                Some(key) => members.push((key, node)),
                None => match node.plain() {
                    YamlNode::Scalar(scalar) => *key = Some(scalar.clone()),
                    YamlNode::List(_) | YamlNode::Map(_) | YamlNode::Shared(_) => {
                        return Err("a list or a map cannot be a key".to_owned());
                    }
                },
            },
        }
        Ok(())
    }
}

fn kind(tag: Option<&Tag>) -> ScalarTag {
    let Some(tag) = tag else { return ScalarTag::Unsaid };
    let whole = format!("{}{}", tag.handle(), tag.suffix());
    match whole.strip_prefix("tag:yaml.org,2002:") {
        Some("str" | "binary" | "timestamp") => ScalarTag::Text,
        Some("int" | "float" | "bool" | "null") => ScalarTag::Other,
        // `!` alone: text, as it is written.
        None if whole == "!" => ScalarTag::Text,
        Some(_) | None => ScalarTag::Unsaid,
    }
}
