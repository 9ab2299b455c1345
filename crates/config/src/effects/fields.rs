//! What the arguments and the result of a tool tell of it.

use serde_json::{Map, Value};

use super::name::words;
use super::verbs::{CHANGES, EITHER, VerbForm, of};

/// How deep fields of fields are looked at, and how many in all; what has more is not judged.
const DEEPEST: usize = 6;
const MOST: usize = 512;

/// Texts that somebody runs.
const RUNS: [&str; 16] = [
    "cmd",
    "code",
    "command",
    "commands",
    "cypher",
    "exec",
    "graphql",
    "javascript",
    "js",
    "mutation",
    "pipeline",
    "script",
    "shell",
    "sql",
    "statement",
    "statements",
];

/// What tells of a database whose statements may do anything.
const SPEAKS_OF_STATEMENTS: [&str; 13] = [
    "cypher",
    "database",
    "databases",
    "db",
    "dml",
    "graphql",
    "mongodb",
    "mysql",
    "postgres",
    "postgresql",
    "sql",
    "statement",
    "statements",
];

/// What says how the call is to be done.
const DEEDS: [&str; 7] = ["action", "actions", "command", "method", "op", "operation", "verb"];

/// Words that no reader has among its arguments.
const NEVER: [&str; 14] = [
    "ack",
    "as",
    "callback",
    "commit",
    "consume",
    "dry",
    "force",
    "lease",
    "mark",
    "new",
    "overwrite",
    "peek",
    "seen",
    "webhook",
];

/// What a request has that sends something.
const SENT: [&str; 6] = ["body", "content", "contents", "data", "json", "payload"];

/// Where something is put.
const TARGETS: [&str; 9] =
    ["dest", "destination", "download", "export", "out", "output", "save", "target", "write"];
const PLACES: [&str; 9] =
    ["dir", "directory", "file", "filename", "folder", "location", "path", "to", "uri"];

/// What is told of something that was done.
const DONE: [&str; 6] = ["created", "deleted", "inserted", "modified", "removed", "updated"];

/// All that the result of a deed holds.
const OUTCOMES: [&str; 7] = ["error", "message", "msg", "ok", "result", "status", "success"];

/// Words behind which a flag says what is shown, and not what is done.
const SHOWS: [&str; 9] =
    ["exclude", "has", "hide", "include", "is", "only", "show", "with", "without"];

/// What an argument is that may be given with a word of a deed, as `delete_time` is.
const FACTS: [&str; 13] = [
    "after", "at", "before", "by", "count", "date", "from", "id", "ids", "since", "time", "type",
    "until",
];

/// Why the arguments make it doubtful that a tool only reads. `text`: its name and description.
pub(super) fn doubt(input: &Value, text: &str) -> Option<String> {
    let mut fields = Vec::new();
    if !collect(input, DEEPEST, &mut fields) {
        return Some("it takes more than can be looked at".to_owned());
    }
    let has = |names: &[&str]| {
        let mut top = fields.iter().filter(|field| field.is_top);
        top.any(|field| names.contains(&field.words.concat().as_str()))
    };
    if has(&["url", "uri", "endpoint"]) && has(&SENT) {
        return Some("it takes an address and what to send there".to_owned());
    }
    let said = words(text);
    let runs = said.iter().any(|word| SPEAKS_OF_STATEMENTS.contains(&word.as_str()));
    fields.iter().find_map(|field| field.doubt(runs))
}

/// Why the result makes it doubtful.
pub(super) fn doubt_of_result(output: &Value) -> Option<String> {
    let fields = output.get("properties").and_then(Value::as_object)?;
    let told = |what: &str| Some(format!("its result tells {what}"));
    if !fields.is_empty() && fields.keys().all(|name| OUTCOMES.contains(&name.as_str())) {
        return told("only whether it was done");
    }
    let done = fields.iter().find(|(name, field)| {
        let words = words(name);
        let has = |word: &str| words.iter().any(|own| own == word);
        let is_flag = field.get("type").and_then(Value::as_str) == Some("boolean");
        let counts = ["affected", "count", "ids", "matched", "upserted"].into_iter().any(has);
        DONE.into_iter().any(has) && (is_flag || counts) || has("affected") || has("upserted")
    });
    done.and_then(|(name, _)| told(&format!("`{name}`")))
}

struct SchemaField<'a> {
    name: &'a str,
    words: Vec<String>,
    schema: &'a Value,
    is_top: bool,
}

/// `false`: there are more than are looked at.
fn collect<'a>(schema: &'a Value, deep: usize, into: &mut Vec<SchemaField<'a>>) -> bool {
    let Some(schema) = schema.as_object() else { return true };
    let nested = |key: &str| schema.get(key).into_iter();
    let listed = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
    let mut within = nested("items")
        .chain(nested("additionalProperties"))
        .chain(["allOf", "anyOf", "oneOf", "prefixItems"].into_iter().flat_map(listed));
    let named = ["properties", "$defs", "definitions"].into_iter();
    let named = named.filter_map(|key| Some((key, schema.get(key)?.as_object()?)));
    let own: Vec<(&str, &Map<String, Value>)> = named.collect();
    if deep == 0 {
        return own.is_empty() && within.count() == 0;
    }
    for (key, fields) in own {
        for (name, schema) in fields {
            if into.len() >= MOST {
                return false;
            }
            let is_top = deep == DEEPEST && key == "properties";
            // A definition has a name of its own, which nobody passes.
            if key == "properties" {
                into.push(SchemaField { name, words: words(name), schema, is_top });
            }
            if !collect(schema, deep - 1, into) {
                return false;
            }
        }
    }
    within.all(|schema| collect(schema, deep - 1, into))
}

impl SchemaField<'_> {
    /// `runs`: the tool speaks of statements.
    fn doubt(&self, runs: bool) -> Option<String> {
        let told = |what: &str| Some(format!("its argument `{}` {what}", self.name));
        let one = self.words.concat();
        if !self.name.is_ascii() {
            return told("has a name that is not understood here");
        }
        let text = self.schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let runs = runs || words(text).iter().any(|w| SPEAKS_OF_STATEMENTS.contains(&w.as_str()));
        if RUNS.contains(&one.as_str()) || (runs && matches!(one.as_str(), "q" | "query")) {
            return told("may be a statement that changes something");
        }
        if self.puts_somewhere() {
            return told("says where something is put");
        }
        if let Some(value) = self.value_that_changes(&one) {
            return told(&format!("may be `{value}`"));
        }
        if DEEDS.contains(&one.as_str()) && self.values().is_empty() {
            return told("says what is done");
        }
        if self.changes() { told("may have something changed") } else { None }
    }

    fn is_flag(&self) -> bool {
        self.schema.get("type").and_then(Value::as_str) == Some("boolean")
    }

    fn values(&self) -> Vec<&str> {
        let listed = |key: &str| self.schema.get(key).and_then(Value::as_array).into_iter();
        let own = listed("enum").flatten().filter_map(Value::as_str);
        let titled = ["oneOf", "anyOf"].into_iter().flat_map(listed).flatten();
        let titled = titled.filter_map(|one| one.get("const")?.as_str());
        let single = self.schema.get("const").and_then(Value::as_str);
        own.chain(titled).chain(single).collect()
    }

    /// One of its values says that something is changed.
    fn value_that_changes(&self, one: &str) -> Option<&str> {
        let is_deed = DEEDS.contains(&one);
        self.values().into_iter().find(|value| {
            let words = words(value);
            let first = words.first().map_or("", String::as_str);
            let plain = matches!(of(CHANGES, first), Some((_, VerbForm::Base)));
            plain || (is_deed && matches!(of(EITHER, first), Some((_, VerbForm::Base))))
        })
    }

    fn puts_somewhere(&self) -> bool {
        let has = |list: &[&str]| self.words.iter().any(|word| list.contains(&word.as_str()));
        self.words.len() > 1 && has(&TARGETS) && has(&PLACES)
    }

    /// The words of its name say that something is changed.
    fn changes(&self) -> bool {
        let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
        let Some(first) = self.words.first() else { return true };
        if is(first, &NEVER) && (first != "commit" || self.is_flag()) {
            return true;
        }
        let last_is_fact = self.words.last().is_some_and(|last| is(last, &FACTS));
        if self.is_flag() {
            let shows = is(first, &SHOWS);
            let verb = |word: &String| {
                matches!(of(CHANGES, word), Some((_, form)) if form != VerbForm::Past) && !shows
            };
            let either = matches!(of(EITHER, first), Some((_, VerbForm::Base)));
            return self.words.iter().any(verb) || either;
        }
        let verb = |word: &String| matches!(of(CHANGES, word), Some((_, VerbForm::Base)));
        verb(first) && !(self.words.len() > 1 && last_is_fact)
    }
}
