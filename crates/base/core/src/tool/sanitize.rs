//! Specs that a person reads as a model does: nothing in their texts is hidden.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;
use toolcrib_json::invisible::{exact, is_unseen, prose};

use super::spec::{Guidance, ToolSpec};
use crate::call::host::HostQuestion;
use crate::call::json_fields::JsonFields;
use crate::call::name::shown;
use crate::resource::ResourceList;

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

impl ResourceList {
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
                let mut clean = Value::Object(JsonFields::clone(fields));
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

impl HostQuestion {
    /// The same for what a person is shown of a question, but that nothing is taken out: whoever
    /// decides sees what stands there. Names and values of fields are not touched, since they go
    /// back to whoever asks; such as hide something are given a title that tells it.
    pub(crate) fn tell_all(&mut self) {
        if let Some(Value::String(message)) = self.params.get_mut("message") {
            tell(message);
        }
        if let Some(form) = self.params.get_mut("requestedSchema") {
            tell_texts(form);
            let fields = form.get_mut("properties").and_then(Value::as_object_mut);
            for (name, field) in fields.into_iter().flatten() {
                tell_field(name, field);
            }
        }
    }

    /// Whether the address that a person is to open hides something, which none that can be opened
    /// does.
    pub(crate) fn hides_its_address(&self) -> bool {
        let address = self.params.get("url").and_then(Value::as_str);
        address.is_some_and(|address| matches!(exact(address), Cow::Owned(_)))
    }
}

/// Writes out what hides, and tells whether there was anything.
fn tell(text: &mut String) -> bool {
    let Cow::Owned(told) = prose(text) else { return false };
    *text = told;
    true
}

/// The same for the texts of a form, at any depth.
fn tell_texts(value: &mut Value) -> bool {
    each_text(value, &mut tell)
}

/// A field of a form, and what can be chosen in it.
fn tell_field(name: &str, field: &mut Value) {
    let Some(members) = field.as_object_mut() else { return };
    if let Cow::Owned(name) = exact(name)
        && !members.contains_key("title")
    {
        members.insert("title".to_owned(), name.into());
    }
    // What a person would only have to say yes to, and cannot see.
    if members.get("default").is_some_and(|value| hidden(value).is_some()) {
        members.remove("default");
    }
    tell_choices(members);
    if let Some(Value::Object(items)) = members.get_mut("items") {
        tell_choices(items);
    }
}

fn tell_choices(members: &mut JsonFields) {
    if let Some(Value::Array(names)) = members.get_mut("enumNames") {
        for name in names {
            if let Value::String(name) = name {
                tell(name);
            }
        }
    } else if let Some(Value::Array(values)) = members.get("enum")
        && values.iter().any(|value| hidden(value).is_some())
    {
        let names = values.iter().map(|value| value.as_str().map_or_else(|| value.clone(), told));
        let names = names.collect();
        members.insert("enumNames".to_owned(), names);
    }
    for list in ["oneOf", "anyOf"] {
        let choices = members.get_mut(list).and_then(Value::as_array_mut);
        for choice in choices.into_iter().flatten().filter_map(Value::as_object_mut) {
            if let Some(Value::String(value)) = choice.get("const")
                && let Cow::Owned(title) = exact(value)
                && !choice.contains_key("title")
            {
                choice.insert("title".to_owned(), title.into());
            }
        }
    }
}

fn told(text: &str) -> Value {
    exact(text).into()
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
    each_text(value, &mut clean)
}

/// Changes every text for a reader, and tells whether any is another now.
fn each_text(value: &mut Value, change: &mut impl FnMut(&mut String) -> bool) -> bool {
    match value {
        Value::Object(fields) => fields.iter_mut().fold(false, |found, (key, value)| {
            let changed = if let Value::String(text) = value {
                TEXTS.contains(&key.as_str()) && change(text)
            } else {
                each_text(value, change)
            };
            changed | found
        }),
        Value::Array(items) => {
            items.iter_mut().fold(false, |found, item| each_text(item, change) | found)
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
    use crate::tool::effect::Effect;

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
        let mut holdings = ResourceList {
            prompts: vec![
                fields(json!({ "name": "a", "description": "x\u{202e}",
                    "arguments": [{ "name": "b", "description": "y\u{200b}" }] })),
                fields(json!({ "name": "a\u{200b}" })),
            ],
            resources: vec![
                fields(json!({ "uri": "a://b", "title": "\u{e0041}z" })),
                fields(json!({ "uri": "a://\u{202e}b" })),
            ],
            ..ResourceList::default()
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
