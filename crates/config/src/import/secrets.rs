//! Values of variables and headers: which may be written down, and how the others are referred
//! to.

use std::collections::BTreeMap;

use serde_json::Value;

use super::notes::ImportNotes;
use super::{names, variables};
use crate::secrets::literal_secret;

/// Headers that hold no secret.
const HARMLESS: [&str; 6] =
    ["accept", "accept-language", "content-type", "user-agent", "mcp-protocol-version", "origin"];

/// Words that go before a secret.
const WORDS: [&str; 8] =
    ["apikey", "api-key", "basic", "bearer", "digest", "key", "negotiate", "token"];

pub(super) struct ImportSecrets<'v> {
    inputs: &'v [Value],
    /// The variables that stand for a value, with that value.
    given: BTreeMap<String, String>,
}

/// A value, what it is called, and whose it is.
#[derive(Clone, Copy)]
struct NamedValue<'a> {
    id: &'a str,
    name: &'a str,
    value: &'a str,
}

/// A value as it may stand in the new file.
pub(super) enum ImportedValue {
    /// With references in it.
    Text(String),
    /// Nobody can fill it in, for this reason.
    Open(String),
}

impl<'v> ImportSecrets<'v> {
    pub(super) fn new(inputs: &'v [Value]) -> Self {
        Self { inputs, given: BTreeMap::new() }
    }

    /// The value of a variable of the environment.
    pub(super) fn variable(
        &mut self,
        id: &str,
        name: &str,
        value: &str,
        notes: &mut ImportNotes,
    ) -> String {
        let is_secret =
            literal_secret::looks_secret(name, value) || literal_secret::names_secret(name);
        // A file that is named is no secret, whatever it holds.
        let is_file = value.starts_with('/')
            && !literal_secret::has_known_shape(value)
            && ["FILE", "PATH", "DIR"].iter().any(|end| name.to_ascii_uppercase().ends_with(end));
        self.value(
            NamedValue { id, name, value },
            is_secret && !is_file && !value.is_empty(),
            notes,
        )
    }

    /// The value of a header, which is a secret unless it is known not to be.
    pub(super) fn header(
        &mut self,
        id: &str,
        name: &str,
        value: &str,
        notes: &mut ImportNotes,
    ) -> String {
        let is_harmless = HARMLESS.contains(&name.to_ascii_lowercase().as_str())
            && !literal_secret::looks_secret("", value);
        let scheme = value.split_once(' ').filter(|(scheme, _)| {
            ["bearer", "basic", "token"].contains(&scheme.to_ascii_lowercase().as_str())
        });
        let variable = format!("{id}_{name}");
        let asked = |value| NamedValue { id, name: &variable, value };
        match scheme {
            Some((scheme, rest)) if !is_harmless => {
                format!("{scheme} {}", self.value(asked(rest.trim()), true, notes))
            }
            _ => self.value(asked(value), !is_harmless, notes),
        }
    }

    fn value(&mut self, asked: NamedValue<'_>, is_secret: bool, notes: &mut ImportNotes) -> String {
        let value = asked.value;
        if value.contains("${") {
            return match self.references(value, is_secret, notes) {
                ImportedValue::Text(text) => text,
                // It may be anything, so it is asked for like a secret.
                ImportedValue::Open(open) => {
                    notes.add(open);
                    self.refer(asked, notes)
                }
            };
        }
        let named = variables::all(value);
        let is_sure = named.iter().all(|named| named.is_sure);
        if !named.is_empty() && is_sure {
            return self.otherwise_named(asked, &named, is_secret, notes);
        }
        if is_secret {
            return self.refer(asked, notes);
        }
        if let Some(variable) = named.first().and_then(|named| value.get(named.range.clone())) {
            notes.add(format!(
                "`{}` in `{}` is handed over as it stands: write `${{env:NAME}}` if the other program \
                 fills it in",
                names::shown(variable),
                names::shown(asked.name)
            ));
        }
        value.to_owned()
    }

    /// The references of other programs that have another form.
    fn otherwise_named(
        &mut self,
        asked: NamedValue<'_>,
        named: &[variables::VariableReference<'_>],
        is_secret: bool,
        notes: &mut ImportNotes,
    ) -> String {
        let (mut text, mut done) = (String::new(), 0);
        for named in named {
            let before = asked.value.get(done..named.range.start).unwrap_or_default();
            if hides(before, is_secret) {
                notes.add("a secret stands beside a reference");
                return self.refer(asked, notes);
            }
            notes.export(named.name, "the file refers to it");
            text.extend([before, "${env:", named.name, "}"]);
            done = named.range.end;
        }
        let rest = asked.value.get(done..).unwrap_or_default();
        if hides(rest, is_secret) {
            notes.add("a secret stands beside a reference");
            return self.refer(asked, notes);
        }
        text + rest
    }

    /// A reference in the place of a value, which goes nowhere.
    fn refer(&mut self, asked: NamedValue<'_>, notes: &mut ImportNotes) -> String {
        let NamedValue { id, name, value } = asked;
        let plain = names::variable(name);
        // Two servers may call two values by one name.
        let longer = names::variable(&format!("{id}_{name}"));
        let numbered = (2..).map(|count| format!("{longer}_{count}"));
        let free = |variable: &String| {
            self.given.get(variable).is_none_or(|given| given == value) && !variable.is_empty()
        };
        let mut candidates = [plain, longer.clone()].into_iter().chain(numbered);
        let variable = candidates.find(free).unwrap_or_default();
        let is_new = self.given.insert(variable.clone(), value.to_owned()).is_none();
        if is_new {
            let text = "the value is not copied: export it under this name";
            notes.secret_export(&variable, text);
        }
        format!("${{env:{variable}}}")
    }

    /// The references of other programs in our words.
    fn references(
        &mut self,
        value: &str,
        is_secret: bool,
        notes: &mut ImportNotes,
    ) -> ImportedValue {
        let mut text = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((reference, after)) = after.split_once('}') else {
                return ImportedValue::Open("a `${` has no `}`".to_owned());
            };
            if hides(before, is_secret) {
                return ImportedValue::Open("a secret stands beside a reference".to_owned());
            }
            text.push_str(before);
            rest = after;
            let variable = match reference.split_once(':') {
                Some(("env", name)) => named(name, None, notes),
                Some(("input", input)) => self.input(input, notes),
                // `${NAME:-default}`.
                Some((name, default)) if default.starts_with('-') => {
                    named(name, Some("its default is not taken"), notes)
                }
                None if reference
                    .chars()
                    .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') =>
                {
                    named(reference, None, notes)
                }
                Some(_) | None => None,
            };
            let Some(variable) = variable else {
                let shown = if is_secret { "..".to_owned() } else { names::shown(reference) };
                return ImportedValue::Open(format!("`${{{shown}}}` cannot be filled in here"));
            };
            text.extend(["${env:", &variable, "}"]);
        }
        if hides(rest, is_secret) {
            return ImportedValue::Open("a secret stands beside a reference".to_owned());
        }
        text.push_str(rest);
        ImportedValue::Text(text)
    }

    /// What VS Code asks a person for.
    fn input(&mut self, input: &str, notes: &mut ImportNotes) -> Option<String> {
        let variable = names::variable(input);
        if variable.is_empty() {
            return None;
        }
        let marker = format!("${{input:{input}}}");
        if self.given.insert(variable.clone(), marker).is_none() {
            let asked =
                self.inputs.iter().find(|asked| asked.get("id").is_some_and(|id| id == input));
            let about = asked.and_then(|asked| asked.get("description")).and_then(Value::as_str);
            let about = about.map_or_else(String::new, |text| format!(": {}", names::shown(text)));
            notes.export(&variable, format!("a person was asked for it{about}"));
        }
        Some(variable)
    }
}

/// Whether what stands beside a reference may be a secret itself: where one is expected, all but
/// the words that go before one.
fn hides(text: &str, is_secret: bool) -> bool {
    let is_word = |word: &str| WORDS.contains(&word.to_ascii_lowercase().as_str());
    let mut words = text.split([' ', '=', ':', ',', ';']).filter(|word| !word.is_empty());
    if is_secret {
        words.any(|word| !is_word(word))
    } else {
        literal_secret::looks_secret("", text)
    }
}

/// The variable that a file refers to.
fn named(name: &str, more: Option<&str>, notes: &mut ImportNotes) -> Option<String> {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.is_empty() || name.len() > 128 || !name.chars().all(legal) {
        return None;
    }
    if let Some(more) = more {
        notes.export(name, format!("the file refers to it; {more}"));
    }
    Some(name.to_owned())
}
