//! The list or object that a text holds, in whichever way a model wrote it.
//!
//! Texts are read as whole arguments are. What reads as a container is one, what merely looks like
//! one is refused: nothing of the kind is ever one element of a list.

use jsonschema::{JsonType, JsonTypeSet};
use serde_json::Value;

use super::sole_type::SoleType;
use crate::repair::{self, Repair, RepairKind};

/// Text in text in text is unwrapped so often.
const WRAPPED: usize = 4;

/// Words for nothing.
const NOTHING: [&str; 5] = ["null", "none", "nil", "undefined", "nan"];

/// What a text stands for where a list or an object is wanted and no text is.
pub(crate) fn container(text: &str, types: JsonTypeSet, alone: SoleType) -> Option<Value> {
    let wanted = types.remove(JsonType::Null);
    let (takes_list, takes_object) =
        (wanted.contains(JsonType::Array), wanted.contains(JsonType::Object));
    if !takes_list && !takes_object {
        return None;
    }
    let (written, text) = (text, text.trim());
    let is_list = wanted == JsonTypeSet::empty().insert(JsonType::Array);
    if NOTHING.iter().any(|word| word.eq_ignore_ascii_case(text)) {
        return types.contains(JsonType::Null).then_some(Value::Null);
    }
    match read(text, WRAPPED)? {
        TextContent::Container(list @ Value::Array(_)) if takes_list => Some(list),
        TextContent::Container(object @ Value::Object(_)) if takes_object => Some(object),
        TextContent::Container(object @ Value::Object(_)) if is_list && alone == SoleType::Yes => {
            Some(Value::from(vec![object]))
        }
        TextContent::Plain(plain) if is_list => {
            // What was not wrapped stays as it was written, with the blanks around it.
            let item = if plain == text { written.to_owned() } else { plain };
            Some(Value::from(vec![item]))
        }
        TextContent::Container(_) | TextContent::Plain(_) => None,
    }
}

enum TextContent {
    Container(Value),
    /// It looks like no container.
    Plain(String),
}

/// `None`: it looks like a container and cannot be read as one.
fn read(text: &str, wrapped: usize) -> Option<TextContent> {
    match repair::read_strict(text) {
        Ok(value @ (Value::Array(_) | Value::Object(_))) => {
            return Some(TextContent::Container(value));
        }
        Ok(Value::String(inner)) => return read(inner.trim(), wrapped.checked_sub(1)?),
        Ok(Value::Number(_) | Value::Bool(_)) => return Some(TextContent::Plain(text.to_owned())),
        Ok(Value::Null) | Err(_) => {}
    }
    if !looks_like_a_container(text) {
        return Some(TextContent::Plain(text.to_owned()));
    }
    let opens = text.starts_with(['[', '{', '(', '`']);
    let read = repair::read(text).ok().filter(|_| opens)?;
    let is_plain = read.repairs.iter().all(|repair| is_plain(repair, text));
    is_plain.then_some(TextContent::Container(read.value))
}

/// What nothing but a container begins with or has in it, and what says that there is nothing.
fn looks_like_a_container(text: &str) -> bool {
    let named = text.split_once(['(', '{', '[']).map(|(name, _)| name.trim_end());
    let is_made = named
        .is_some_and(|name| text.ends_with([')', '}', ']']) && !name.contains(char::is_whitespace));
    let begins = ['[', ']', '{', '}', '(', '<', '`', '\\', '"', '\'', '“', '”', '‘', '«'];
    text.is_empty() || is_made || text.starts_with(begins) || text.contains([',', '\n'])
}

/// Whether a repair leaves no doubt about what is in the container: nothing of it may be cut.
fn is_plain(repair: &Repair, text: &str) -> bool {
    // The last value is whole if something closes it.
    let is_closed = || text.ends_with(['"', '\'', ']', '}', ')']);
    let is_doubtful = matches!(
        repair.change,
        RepairKind::Prose
            | RepairKind::Documents
            | RepairKind::SpareDocument
            | RepairKind::Unfinished
            | RepairKind::MissingQuote
            | RepairKind::MissingValue
            | RepairKind::MissingBrace
            | RepairKind::StrayText
            | RepairKind::StrayBracket
            | RepairKind::EarlyBracket
            | RepairKind::StrayQuote
            | RepairKind::NotFinite
    );
    !is_doubtful && (repair.change != RepairKind::MissingBracket || is_closed())
}
