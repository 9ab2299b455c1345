//! The schemas of a tool: its parts and the definitions that they reach, within bounds.
//!
//! Definitions are taken nearest first while there is room. Where not all fit, what they say of
//! themselves is shortened first; one that still does not fit stays as its type alone, so a large
//! model costs its depths and never the tool.

use indexmap::IndexSet;
use serde_json::{Map, Value, json};
use toolcrib_core::CompactJson;

use super::{DefinitionId, SchemaDefinitions, SchemaPart, patterns, values};
use crate::document::document_set::DocumentSite;

/// Bytes of all inputs, or all outputs, of so many operations.
pub(super) fn most(operations: usize) -> usize {
    MOST_IN_ALL.saturating_add(BYTES_OF_ONE.saturating_mul(operations))
}

/// One argument of a tool.
pub(crate) struct ToolArgument {
    pub(crate) name: String,
    pub(crate) part: SchemaPart,
    pub(crate) required: bool,
}

/// What a tool takes.
pub(crate) struct ToolInput {
    pub(crate) arguments: Vec<ToolArgument>,
    /// What must not hold of them together.
    pub(crate) barred: Option<Value>,
}

/// What a schema became as the schema of results.
pub(super) struct AssembledOutput {
    schema: Option<CompactJson<Value>>,
    /// What it takes of the bytes of all outputs.
    bytes: usize,
}

/// What a schema may still take.
#[derive(Debug, Clone, Copy)]
struct SchemaBudget {
    bytes: usize,
    subschemas: usize,
    patterns: usize,
}

/// A fifth of what the catalog takes: more would fill a model's context.
const INPUT: SchemaBudget = SchemaBudget { bytes: 48 * 1024, subschemas: 1_800, patterns: 32 };
/// Results are described to be read, not to be checked.
const OUTPUT: SchemaBudget = SchemaBudget { bytes: 12 * 1024, subschemas: 400, patterns: 32 };
/// Of all inputs of a document, and of all outputs: parts that operations share multiply.
const MOST_IN_ALL: usize = 32 * 1024 * 1024;
/// What each operation adds to that.
const BYTES_OF_ONE: usize = 4 * 1024;
/// What an input may take when that is used up.
const LITTLE: usize = 2 * 1024;
/// Besides its name: `"": {"type":"object"},`.
const STUB_BYTES: usize = 24;

/// The schema of the arguments: a closed object.
pub(crate) fn arguments(
    shelf: &mut SchemaDefinitions<'_>,
    ToolInput { mut arguments, barred }: ToolInput,
    about: &str,
) -> Result<Value, String> {
    for argument in &mut arguments {
        if !shelf.is_sound_within(&argument.part) {
            shrink(shelf, argument, about);
        }
    }
    let input = INPUT.of(shelf);
    let mut room = input.after(&arguments);
    while room.is_none() {
        let largest = arguments.iter_mut().max_by_key(|argument| argument.part.bytes);
        let Some(largest) = largest.filter(|it| it.part.bytes > 100) else {
            return Err("its arguments are too many for one tool".to_owned());
        };
        shrink(shelf, largest, about);
        room = input.after(&arguments);
    }
    let mut roots = IndexSet::new();
    roots.extend(arguments.iter().flat_map(|argument| argument.part.refs.iter().copied()));
    let used: IndexSet<String> =
        arguments.iter().flat_map(|argument| argument.part.patterns.iter().cloned()).collect();
    shelf.spent += input.bytes - room.map_or(0, |room| room.bytes);
    let mut closure = DefinitionClosure {
        room: room.unwrap_or(input),
        found: roots,
        patterns: used,
        brief: false,
    };
    let (mut definitions, mut whole) = closure.clone().collect(shelf);
    if !whole {
        closure.brief = true;
        (definitions, whole) = closure.clone().collect(shelf);
        let what = if whole { "described in short" } else { "left open" };
        shelf.notes.add(about, format!("some of its definitions are {what}: they are too large"));
    }
    let required: Vec<&str> =
        arguments.iter().filter(|it| it.required).map(|it| it.name.as_str()).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Null);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema.extend(barred.map(|rule| ("not".to_owned(), rule)));
    let properties = arguments.into_iter().map(|it| (it.name, it.part.schema)).collect();
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Ok(Value::Object(schema))
}

/// The schema of a result, if it is an object and small enough to be whole.
///
/// A list has none: what MCP and models call structured is an object, and a wrapper around the
/// list would describe something that the API never says. Nor has an `allOf` without a type of
/// its own: whether all of its parts are objects is for the parts to say, and they may be `null`.
pub(crate) fn output<'l>(
    shelf: &mut SchemaDefinitions<'l>,
    site: DocumentSite<'l>,
    about: &str,
) -> Option<CompactJson<Value>> {
    if shelf.spent > shelf.most {
        return None;
    }
    let site = shelf.library.follow(site).ok()?;
    let place = std::ptr::from_ref(site.value).addr();
    if !shelf.outputs.contains_key(&place) {
        let before = shelf.spent;
        let schema = whole_output(shelf, site, about).map(CompactJson::new);
        let bytes = shelf.spent - before;
        shelf.spent = before;
        shelf.outputs.insert(place, AssembledOutput { schema, bytes });
    }
    let known = shelf.outputs.get(&place)?;
    // Each tool that shows it counts: whoever reads all of them reads it as often.
    shelf.spent += known.bytes;
    known.schema.clone()
}

/// The same, made anew.
fn whole_output<'l>(
    shelf: &mut SchemaDefinitions<'l>,
    site: DocumentSite<'l>,
    about: &str,
) -> Option<Value> {
    let is_object = |types: &Value| types == "object";
    let typed = site.value.get("type");
    if typed.map_or_else(|| site.value.get("properties").is_none(), |types| !is_object(types)) {
        return None;
    }
    // A look at the text before the work: most results that are too large are so by far.
    let bytes = values::bytes(site.value);
    shelf.library.step(bytes / 64);
    if bytes > 8 * OUTPUT.bytes {
        return None;
    }
    let part = shelf.part(site, about);
    let room = OUTPUT.less(&part)?;
    let sound = shelf.is_sound_within(&part);
    let found = part.refs.iter().copied().collect();
    let patterns = part.patterns.iter().cloned().collect();
    let closure = DefinitionClosure { room, found, patterns, brief: false };
    let definitions = closure.collect_whole(shelf)?;
    let mut schema = part.schema;
    // A result that may be `null` is none that a structured answer can hold.
    if let (Value::Object(schema), true) = (&mut schema, sound) {
        if schema.get("type") != Some(&json!("object")) {
            let rest = std::mem::take(schema);
            schema.insert("type".to_owned(), json!("object"));
            schema.extend(rest.into_iter().filter(|(keyword, _)| keyword != "type"));
        }
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), Value::Object(definitions));
        }
    }
    (sound && schema.is_object()).then_some(schema)
}

/// Leaves of an argument its type and what is said about it.
fn shrink(shelf: &mut SchemaDefinitions<'_>, argument: &mut ToolArgument, about: &str) {
    let mut open = values::open(&argument.part.schema);
    if let (Some(text), Value::Object(open)) = (argument.part.schema.get("description"), &mut open)
    {
        open.insert("description".to_owned(), text.clone());
    }
    argument.part = SchemaPart::of(open);
    shelf.notes.add(about, format!("`{}` is left open: it is too large", argument.name));
}

impl SchemaBudget {
    /// The room of one tool when so many bytes went to others.
    fn of(self, taken: &SchemaDefinitions<'_>) -> Self {
        if taken.spent > taken.most { Self { bytes: LITTLE, ..self } } else { self }
    }

    fn after(self, arguments: &[ToolArgument]) -> Option<Self> {
        let without = |room: Self, argument: &ToolArgument| {
            // Each definition that it refers to takes a stub at least.
            let refs = argument.part.refs.len();
            let bytes = room.bytes.checked_sub(2 * argument.name.len() + 8 + refs * STUB_BYTES)?;
            let subschemas = room.subschemas.checked_sub(refs)?;
            Self { bytes, subschemas, ..room }.less(&argument.part)
        };
        arguments.iter().try_fold(self, without)
    }

    fn less(self, part: &SchemaPart) -> Option<Self> {
        Some(Self {
            bytes: self.bytes.checked_sub(part.bytes)?,
            subschemas: self.subschemas.checked_sub(part.subschemas)?,
            patterns: self.patterns.checked_sub(part.patterns.len())?,
        })
    }
}

/// The definitions that a schema reaches, in the order in which they are found.
#[derive(Clone)]
struct DefinitionClosure {
    /// Descriptions of definitions are cut to a line.
    brief: bool,
    room: SchemaBudget,
    found: IndexSet<DefinitionId>,
    patterns: IndexSet<String>,
}

impl DefinitionClosure {
    /// The definitions, if all of them are whole: the first that is not ends it.
    fn collect_whole(mut self, stock: &mut SchemaDefinitions<'_>) -> Option<Map<String, Value>> {
        let before = self.room.bytes;
        for id in &self.found.clone() {
            self.room.reserve(stock.name_of(*id)).then_some(())?;
        }
        let mut definitions = Map::new();
        let mut next = 0;
        while let Some(id) = self.found.get_index(next).copied() {
            next += 1;
            stock.make_sound(id);
            let part = stock.part_of(id);
            let schema = self.take(stock, &part)?;
            definitions.insert(stock.name_of(id).to_owned(), schema);
        }
        stock.spent += before - self.room.bytes;
        Some(definitions)
    }

    /// The definitions, and whether they are whole.
    fn collect(mut self, stock: &mut SchemaDefinitions<'_>) -> (Map<String, Value>, bool) {
        let before = self.room.bytes;
        let mut definitions = Map::new();
        let mut whole = true;
        let mut next = 0;
        for id in &self.found.clone() {
            whole &= self.room.reserve(stock.name_of(*id));
        }
        while let Some(id) = self.found.get_index(next).copied() {
            next += 1;
            stock.make_sound(id);
            let part = stock.part_of(id);
            let taken = self.take(stock, &part);
            whole &= taken.is_some();
            let schema = taken.unwrap_or_else(|| values::open(&part.schema));
            definitions.insert(stock.name_of(id).to_owned(), schema);
        }
        stock.spent += before - self.room.bytes;
        (definitions, whole)
    }

    /// The definition with room for stubs of all that it refers to, if there is any.
    fn take(&mut self, stock: &SchemaDefinitions<'_>, part: &SchemaPart) -> Option<Value> {
        let mut room = self.room;
        let short = self.brief.then(|| {
            let mut schema = part.schema.clone();
            values::shorten(&mut schema);
            schema
        });
        let bytes = short.as_ref().map_or(part.bytes, values::bytes);
        room.bytes = room.bytes.checked_sub(bytes)?;
        room.subschemas = room.subschemas.checked_sub(part.subschemas)?;
        let fresh: Vec<DefinitionId> =
            part.refs.iter().filter(|id| !self.found.contains(*id)).copied().collect();
        if !fresh.iter().all(|id| room.reserve(stock.name_of(*id))) {
            return None;
        }
        let unknown = part.patterns.iter().filter(|it| !self.patterns.contains(*it)).count();
        let has_room = room.patterns.checked_sub(unknown);
        self.room = SchemaBudget { patterns: has_room.unwrap_or(room.patterns), ..room };
        self.found.extend(fresh);
        let mut schema = short.unwrap_or_else(|| part.schema.clone());
        if has_room.is_some() {
            self.patterns.extend(part.patterns.iter().cloned());
        } else {
            patterns::strip(&mut schema);
        }
        Some(schema)
    }
}

impl SchemaBudget {
    /// Takes the room of a definition that is left open; says whether there was any.
    fn reserve(&mut self, name: &str) -> bool {
        let bytes = self.bytes.checked_sub(name.len() + STUB_BYTES);
        let subschemas = self.subschemas.checked_sub(1);
        if let (Some(bytes), Some(subschemas)) = (bytes, subschemas) {
            *self = Self { bytes, subschemas, ..*self };
            return true;
        }
        false
    }
}
