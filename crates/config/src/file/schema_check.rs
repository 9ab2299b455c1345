//! The file against its schema: every wrong key and every wrong type at once, each in its place.
//!
//! What is wrong is left out of the value that comes back, so that the rest can be checked too.

use serde_json::{Map, Number, Value};
use toml::de::DeValue;
use toolcrib_engine::rules::instead;
use toolcrib_json::invisible::exact;

use super::document::{TomlDocument, TomlItem, TomlTable};
use super::findings::Findings;
use super::former_options::FormerOption;
use super::schema::SCHEMA;
use super::toml_path::{TomlPath, TomlPathStep};
use crate::raw::SECRET;
use crate::secrets::literal_secret;

/// What the design names and this version does not do.
const LATER: [&str; 3] = ["builtin", "desk", "code"];

/// References within references, as many as a schema of ours can have.
const DEEPEST_REFERENCE: usize = 8;

/// The file as far as it has the right shape.
pub(crate) fn read(document: &TomlDocument<'_>, findings: &mut Findings<'_, '_>) -> Value {
    let mut shape = SchemaCheck { findings };
    let whole = shape.table(&SCHEMA, document.table(), &TomlPath::default(), 0);
    whole.unwrap_or_else(|| Value::Object(Map::new()))
}

struct SchemaCheck<'f, 'd, 't> {
    findings: &'f mut Findings<'d, 't>,
}

impl SchemaCheck<'_, '_, '_> {
    fn value(&mut self, schema: &Value, item: &TomlItem<'_>, place: &TomlPath) -> Option<Value> {
        let schema = resolved(schema);
        if let Some(words) = words(schema) {
            return self.word(&words, item, place);
        }
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            let choices = choices.iter().map(resolved);
            let fitting = choices.clone().find(|choice| fits(choice, item.get_ref()));
            if let Some(choice) = fitting {
                return self.value(choice, item, place);
            }
            let wanted: Vec<_> = choices.map(wanted).collect();
            return self.wrong(item, place, &wanted.join(" or "));
        }
        if !fits(schema, item.get_ref()) {
            return self.wrong(item, place, wanted(schema));
        }
        match item.get_ref() {
            DeValue::String(text) => self.text(schema, text, item, place),
            DeValue::Integer(number) => {
                let read = i64::from_str_radix(number.as_str(), number.radix()).ok();
                self.number(schema, read, item, place)
            }
            DeValue::Boolean(flag) => Some(Value::Bool(*flag)),
            DeValue::Array(items) => {
                let schema = schema.get("items").unwrap_or(&Value::Null);
                let items = items.iter().enumerate();
                let kept =
                    items.filter_map(|(at, item)| self.value(schema, item, &place.index(at)));
                Some(Value::Array(kept.collect()))
            }
            DeValue::Table(table) => self.table(schema, table, place, item.span().start),
            DeValue::Float(number) => {
                // JSON has neither infinity nor what is no number.
                match number.as_str().parse().ok().and_then(Number::from_f64) {
                    Some(number) => self.fraction(schema, number, item, place),
                    None => self.wrong(item, place, wanted(schema)),
                }
            }
            DeValue::Datetime(_) => self.wrong(item, place, wanted(schema)),
        }
    }

    fn table(
        &mut self,
        schema: &Value,
        table: &TomlTable<'_>,
        place: &TomlPath,
        at: usize,
    ) -> Option<Value> {
        let none = Map::new();
        let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let others = schema.get("additionalProperties").filter(|others| **others != false);
        let others = others.or(is_free(schema).then_some(schema));
        let mut members = Map::new();
        for (key, item) in table {
            let (name, at) = (key.get_ref().as_ref(), key.span().start);
            let place = place.key(name);
            let Some(schema) = known.get(name).or(others) else {
                self.unknown(at, item, &place, known);
                continue;
            };
            if let Some(value) = self.value(schema, item, &place) {
                members.insert(name.to_owned(), value);
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        let mut whole = true;
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            whole &= members.contains_key(name);
            if !table.contains_key(name) {
                let message = format!("`{name}` is missing");
                self.findings.problem_from(at, place, message, format!("add `{name} = ...`"));
            }
        }
        whole.then_some(Value::Object(members))
    }

    fn unknown(
        &mut self,
        at: usize,
        item: &TomlItem<'_>,
        place: &TomlPath,
        known: &Map<String, Value>,
    ) {
        if self.findings.is_full() {
            return;
        }
        let name = place.name();
        if LATER.contains(&name) {
            let message = "this is not available in this version";
            return self.findings.problem_from(at, place, message, "remove it");
        }
        if let Some(option) = FormerOption::at(place) {
            return self.former(at, item, place, option);
        }
        if FormerOption::any_below(place)
            && let DeValue::Table(table) = item.get_ref()
        {
            return self.former_table(at, table, place);
        }
        let known: Vec<_> = known.keys().map(String::as_str).collect();
        let cure = if known.is_empty() { "delete it".to_owned() } else { instead(name, &known) };
        self.findings.problem_from(at, place, "unknown key", cure);
    }

    /// What is a constant now. A file that was stricter than it is refused: nothing may be looser
    /// than a file says.
    fn former(&mut self, at: usize, item: &TomlItem<'_>, place: &TomlPath, option: &FormerOption) {
        let FormerOption { value, reason, .. } = option;
        let message = format!("this is no option any more: it is always {value}, since {reason}");
        if option.keeps(item.get_ref()) {
            self.findings.warning_from(at, place, message, "delete it");
        } else {
            let cure = format!("delete it, if {value} will do");
            self.findings.problem_from(at, place, message, cure);
        }
    }

    /// A table none of whose options is one any more.
    fn former_table(&mut self, at: usize, table: &TomlTable<'_>, place: &TomlPath) {
        if table.is_empty() {
            let message = "nothing of this is an option any more";
            self.findings.warning_from(at, place, message, "delete it");
        }
        for (key, item) in table {
            let place = place.key(key.get_ref());
            self.unknown(key.span().start, item, &place, &Map::new());
        }
    }

    fn word(&mut self, words: &[&str], item: &TomlItem<'_>, place: &TomlPath) -> Option<Value> {
        let Some(word) = item.get_ref().as_str() else {
            return self.wrong(item, place, "a string");
        };
        if words.contains(&word) {
            return Some(Value::from(word));
        }
        if self.findings.is_full() {
            return None;
        }
        let at = item.span().start;
        if LATER.contains(&word) {
            let message = format!("`{word}` is not available in this version");
            let cure = format!("use `{}`", words.join("` or `"));
            self.findings.problem_from(at, place, message, cure);
        } else {
            let message = format!("`{}` is none of the words for this", shown(word));
            // A date that is near another one is no slip of the pen.
            let cure = if words.iter().all(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
                format!("use one of `{}`", words.join("`, `"))
            } else {
                instead(word, words)
            };
            self.findings.problem_from(at, place, message, cure);
        }
        None
    }

    fn text(
        &mut self,
        schema: &Value,
        text: &str,
        item: &TomlItem<'_>,
        place: &TomlPath,
    ) -> Option<Value> {
        let at = item.span().start;
        let is_secret = schema.get(SECRET).is_some();
        if !is_secret && ["${env:", "${file:"].iter().any(|start| text.contains(start)) {
            let message = "no reference to a secret may stand here";
            let cure = if place.steps().iter().any(|step| step_is(step, "command")) {
                "everybody on this machine can read arguments: hand it over in `env`"
            } else {
                "write the value, or move it to `env`, `headers` or `auth`"
            };
            self.findings.problem_from(at, place, message, cure);
            return None;
        }
        if !is_secret && literal_secret::has_known_shape(text) {
            let message = "this looks like a secret, and this is no place for one";
            let cure = "put `${env:NAME}` into `env`, `headers` or `auth` instead";
            self.findings.warning_from(at, place, message, cure);
        }
        Some(Value::from(text))
    }

    fn number(
        &mut self,
        schema: &Value,
        number: Option<i64>,
        item: &TomlItem<'_>,
        place: &TomlPath,
    ) -> Option<Value> {
        let bound = |key| schema.get(key).and_then(Value::as_f64);
        // Every bound of the schema is a whole number below 2^53.
        #[expect(clippy::cast_precision_loss, reason = "compared with bounds that are far below")]
        let within = |number: &i64| {
            bound("minimum").is_none_or(|least| *number as f64 >= least)
                && bound("maximum").is_none_or(|most| *number as f64 <= most)
        };
        // `u32` has no maximum in the schema.
        let fits = |number: &i64| {
            schema.get("format").is_none_or(|format| format != "uint32")
                || u32::try_from(*number).is_ok()
        };
        let number = number.filter(within).filter(fits);
        if number.is_none() {
            let least = bound("minimum").unwrap_or_default();
            let cure = format!("write a whole number from {least}");
            let message = "this number is too small or too large";
            self.findings.problem_from(item.span().start, place, message, cure);
        }
        number.map(Value::from)
    }

    fn fraction(
        &mut self,
        schema: &Value,
        number: Number,
        item: &TomlItem<'_>,
        place: &TomlPath,
    ) -> Option<Value> {
        let bound = |key| schema.get(key).and_then(Value::as_f64);
        let value = number.as_f64()?;
        let within = bound("minimum").is_none_or(|least| value >= least)
            && bound("maximum").is_none_or(|most| value <= most);
        if !within {
            let least = bound("minimum").unwrap_or_default();
            let message = "this number is too small or too large";
            let cure = format!("write a number from {least}");
            self.findings.problem_from(item.span().start, place, message, cure);
        }
        within.then_some(Value::Number(number))
    }

    fn wrong(&mut self, item: &TomlItem<'_>, place: &TomlPath, wanted: &str) -> Option<Value> {
        let message = format!("wrong type: {}", item.get_ref().type_str());
        self.findings.problem_from(item.span().start, place, message, format!("write {wanted}"));
        None
    }
}

fn step_is(step: &TomlPathStep, name: &str) -> bool {
    matches!(step, TomlPathStep::Key(key) if key == name)
}

/// What a schema refers to.
fn resolved(mut schema: &Value) -> &Value {
    for _ in 0..DEEPEST_REFERENCE {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
        let Some(target) = target.and_then(|pointer| SCHEMA.pointer(pointer)) else { break };
        schema = target;
    }
    schema
}

/// The words of a schema that lists them.
fn words(schema: &Value) -> Option<Vec<&str>> {
    let words = schema.get("enum")?.as_array()?;
    Some(words.iter().filter_map(Value::as_str).collect())
}

/// Whether a schema takes any value.
fn is_free(schema: &Value) -> bool {
    !["type", "enum", "anyOf"].iter().any(|word| schema.get(word).is_some())
}

fn fits(schema: &Value, value: &DeValue<'_>) -> bool {
    let kind = match value {
        DeValue::String(_) => "string",
        DeValue::Integer(_) => "integer",
        DeValue::Boolean(_) => "boolean",
        DeValue::Array(_) => "array",
        DeValue::Table(_) => "object",
        DeValue::Float(_) => "number",
        // No value of the file is one.
        DeValue::Datetime(_) => return false,
    };
    let is_number = |wanted: &Value| wanted == "number" && kind == "integer";
    schema.get("type").is_none_or(|wanted| wanted == kind || is_number(wanted))
}

fn wanted(schema: &Value) -> &'static str {
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => "a string",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("boolean") => "`true` or `false`",
        Some("array") => match schema.pointer("/items/type").and_then(Value::as_str) {
            Some("string") => "a list of strings",
            _ => "a list of tables",
        },
        Some("object") => "a table",
        _ => "another value",
    }
}

/// A word of the file on one line, 40 characters at most.
pub(crate) fn shown(word: &str) -> String {
    exact(&word.chars().take(40).collect::<String>()).into_owned()
}
