//! Specs that a person reads as a model does: nothing in their texts is hidden.

use std::sync::Arc;

use serde_json::Value;
use toolcrib_json::unseen::is_unseen;

use crate::host::Ask;
use crate::library::{Fields, Holdings};
use crate::name::shown;
use crate::spec::{Guidance, ToolSpec};

/// The keywords of a schema that are texts for whoever reads it.
const TEXTS: [&str; 3] = ["description", "title", "$comment"];

impl ToolSpec {
    /// Takes out of its texts what nobody sees, and tells whether there was anything.
    ///
    /// Names and values in a schema are not touched, since arguments are held against them: a
    /// schema that hides something in those is kept out of the catalog.
    pub fn unhide(&mut self) -> bool {
        let mut guidance = Guidance::clone(&self.guidance);
        let lines = [&mut self.summary, &mut self.description].into_iter();
        let lines = lines.chain(&mut self.title).chain(&mut self.category);
        let lines = lines.chain(&mut self.actions).chain(&mut self.tags).chain(&mut self.checks);
        let mut found =
            lines.chain(&mut self.approval).fold(false, |found, text| clean(text) | found);
        if guidance.texts_mut().into_iter().fold(false, |found, text| clean(text) | found) {
            self.guidance = Arc::new(guidance);
            found = true;
        }
        for schema in [&mut self.input].into_iter().chain(&mut self.output) {
            found |= schema.edit(clean_texts);
        }
        // The hints of the Model Context Protocol hold a title too.
        found | self.extra.edit(|extra| extra.get_mut("annotations").is_some_and(clean_texts))
    }
}

impl Holdings {
    /// The same for prompts and resources: texts lose what nobody sees, and what hides it in its
    /// name or address is not there.
    pub fn unhide(&mut self) {
        let Self { prompts, resources, templates, said, .. } = self;
        for list in [prompts, resources, templates] {
            list.retain(|fields| {
                let mut names = ["name", "uri", "uriTemplate"].iter();
                !names.any(|key| fields.get(*key).is_some_and(|name| hidden(name).is_some()))
            });
            for fields in list {
                let mut clean = Value::Object(Fields::clone(fields));
                if clean_texts(&mut clean)
                    && let Value::Object(clean) = clean
                {
                    *fields = Arc::new(clean);
                }
            }
        }
        if said.instructions.as_ref().is_some_and(|text| clean(&mut text.clone())) {
            Arc::make_mut(said).instructions.as_mut().map(clean);
        }
    }
}

impl Ask {
    /// The same for what a person is shown of a question. Names and values of fields are not
    /// touched: they go back to whoever asks.
    pub fn unhide(&mut self) {
        if let Some(Value::String(message)) = self.params.get_mut("message") {
            clean(message);
        }
        let form = self.params.get_mut("requestedSchema");
        let Some(form) = form else { return };
        clean_texts(form);
        let fields = form.get_mut("properties").and_then(Value::as_object_mut);
        let fields = fields.into_iter().flat_map(|fields| fields.values_mut());
        let names = fields.filter_map(|field| field.get_mut("enumNames")?.as_array_mut());
        for name in names.flatten() {
            if let Value::String(name) = name {
                clean(name);
            }
        }
    }

    /// Whether the address that a person is to open hides something, which none that can be opened
    /// does.
    pub fn hides_its_address(&self) -> bool {
        let address = self.params.get("url").and_then(Value::as_str);
        address.is_some_and(|address| address.contains(is_unseen))
    }
}

/// Whether a character hides something where it stands. Line breaks and tabs do not, nor one mark
/// that joins or colours the letter or picture before it; a run of such marks spells something.
fn hides(character: char, before: char) -> bool {
    let is_mark = |c: char| matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
    let plain = matches!(character, '\n' | '\r' | '\t');
    let joins = is_mark(character) && !before.is_ascii() && !is_mark(before);
    is_unseen(character) && !plain && !joins
}

/// Takes out what hides, and tells whether there was anything.
fn clean(text: &mut String) -> bool {
    let mut before = ' ';
    let length = text.len();
    text.retain(|character| {
        let stays = !hides(character, before);
        before = if stays { character } else { before };
        stays
    });
    text.len() < length
}

fn clean_texts(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter_mut().fold(false, |found, (key, value)| {
            let cleaned = if let Value::String(text) = value {
                TEXTS.contains(&key.as_str()) && clean(text)
            } else {
                clean_texts(value)
            };
            cleaned | found
        }),
        Value::Array(items) => {
            items.iter_mut().fold(false, |found, item| clean_texts(item) | found)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The first name or value of a schema that hides something, as a person can read it.
pub(crate) fn hidden(schema: &Value) -> Option<String> {
    match schema {
        Value::Object(fields) => fields.iter().find_map(|(key, value)| {
            if key.contains(is_unseen) {
                return Some(shown(key));
            }
            if value.is_string() && TEXTS.contains(&key.as_str()) { None } else { hidden(value) }
        }),
        Value::Array(items) => items.iter().find_map(hidden),
        Value::String(text) => clean(&mut text.clone()).then(|| shown(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::effect::Effect;

    #[test]
    fn what_is_hidden_in_texts_goes_and_what_is_seen_stays() {
        let mut spec = ToolSpec::new("t", "One.\r\n\tTwo \u{26a0}\u{fe0f}.", Effect::Read).unwrap();
        let whole = spec.clone();
        assert!(!spec.unhide());
        assert_eq!(spec, whole);
        spec.description =
            "Reads\u{e0041}\u{e0042} a\u{202e} fi\u{200b}le.\u{1b}[2J\u{26a0}\u{fe0f}\u{fe0f}"
                .to_owned();
        spec.title = Some("T\u{feff}".to_owned());
        Arc::make_mut(&mut spec.guidance).source = "\u{2066}Be good\u{2069}".to_owned();
        spec.input = json!({ "type": "object", "properties": {
            "description": { "type": "string", "description": "A\u{200d}b", "enum": ["\n"] } } })
        .into();
        let hints = json!({ "annotations": { "title": "x\u{2028}" } });
        spec.extra = hints.as_object().unwrap().clone().into();
        assert!(spec.unhide());
        assert_eq!(spec.description, "Reads a file.[2J\u{26a0}\u{fe0f}");
        assert_eq!((spec.title.as_deref(), spec.guidance.source.as_str()), (Some("T"), "Be good"));
        assert_eq!(spec.input.value()["properties"]["description"]["description"], "Ab");
        assert_eq!(spec.extra.value()["annotations"]["title"], "x");
        assert!(!spec.unhide());
    }

    #[test]
    fn prompts_and_resources_hide_nothing_either() {
        let fields = |value: Value| Arc::new(value.as_object().unwrap().clone());
        let mut holdings = Holdings {
            prompts: vec![
                fields(json!({ "name": "a", "description": "x\u{202e}",
                    "arguments": [{ "name": "b", "description": "y\u{200b}" }] })),
                fields(json!({ "name": "a\u{200b}" })),
            ],
            resources: vec![
                fields(json!({ "uri": "a://b", "title": "\u{e0041}z" })),
                fields(json!({ "uri": "a://\u{202e}b" })),
            ],
            ..Holdings::default()
        };
        Arc::make_mut(&mut holdings.said).instructions = Some("Be\u{feff} good.".to_owned());
        holdings.unhide();
        let prompt = json!({ "name": "a", "description": "x",
            "arguments": [{ "name": "b", "description": "y" }] });
        assert_eq!(holdings.prompts, [fields(prompt)]);
        assert_eq!(holdings.resources, [fields(json!({ "uri": "a://b", "title": "z" }))]);
        assert_eq!(holdings.said.instructions.as_deref(), Some("Be good."));
    }

    #[test]
    fn names_and_values_that_hide_something_are_found() {
        let with = |value: &str| json!({ "properties": { "a": { "enum": [value] } } });
        for fine in ["a", "", "\n", "\t", "\r\n", "\u{2764}\u{fe0f}", "\u{645}\u{200c}\u{62e}"] {
            assert_eq!(hidden(&with(fine)), None, "{fine:?}");
        }
        for bad in ["a\u{200b}", "\u{fe0f}", "a\u{fe0f}", "\u{2764}\u{fe0f}\u{fe0f}", "\u{1b}[2J"] {
            assert!(hidden(&with(bad)).is_some(), "{bad:?}");
        }
        assert!(hidden(&json!({ "properties": { "a\u{202e}": {} } })).is_some());
        assert_eq!(hidden(&json!({ "description": "a\u{202e}" })), None);
    }
}
