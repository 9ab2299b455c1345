//! What a tool says of itself that groups go by.

use std::sync::Arc;

use toolcrib_core::ToolSpec;
use toolcrib_search::each_word;

use super::ids::slug;

/// Segments of a path that are read.
const MOST_SEGMENTS: usize = 16;

/// What a tool says of itself.
pub(super) struct ToolFacts<'a> {
    pub(super) spec: &'a ToolSpec,
    /// Its first tag, or its category.
    pub(super) tag: Option<&'a str>,
    /// The words of its path in order, without its variables; of its name, if that has parts.
    pub(super) path: Vec<String>,
    /// What it is about, in the singular.
    pub(super) resource: Option<String>,
    pub(super) verb: Option<String>,
}

/// Words that say what a tool does, where it does not say so itself.
const VERBS: [&str; 48] = [
    "accept", "add", "approve", "cancel", "check", "clear", "close", "compare", "convert", "copy",
    "count", "create", "delete", "disable", "download", "edit", "enable", "execute", "export",
    "fetch", "find", "generate", "get", "import", "list", "lock", "make", "merge", "move", "open",
    "patch", "post", "put", "query", "read", "reject", "remove", "rename", "replace", "run",
    "save", "search", "send", "set", "show", "unlock", "update", "write",
];

/// Words behind which a name says of what else it is.
const TURNS: [&str; 14] = [
    "as", "at", "by", "during", "for", "from", "in", "into", "of", "on", "to", "using", "via",
    "with",
];

impl<'a> ToolFacts<'a> {
    pub(super) fn of(spec: &'a ToolSpec) -> Self {
        let name = spec.origin.name.as_deref().unwrap_or(spec.name.as_str());
        let mut words = Vec::new();
        // A number tells tools apart, and says nothing of what they are about.
        let is_number = |word: &str| word.chars().all(|letter| letter.is_ascii_digit());
        each_word(name, |word| words.extend((!is_number(word)).then(|| word.to_owned())));
        let (verb, resource) = verb_and_resource(&words, &spec.actions);
        let path = match &spec.origin.path {
            Some(path) => segments(path),
            None => parts(name),
        };
        let tag = spec.tags.first().or(spec.category.as_ref()).map(String::as_str);
        Self { spec, tag, path, resource, verb }
    }

    /// The first tag as a text that a whole group shares.
    pub(super) fn shared_tag(&self) -> Option<(String, Arc<str>)> {
        let tag = self.tag?;
        Some((slug(tag)?, tag.into()))
    }
}

/// The words of a path: no variable, no version, nothing that all paths have.
fn segments(path: &str) -> Vec<String> {
    let words = path.split('/').filter(|segment| !segment.contains('{'));
    let words = words.filter_map(slug).filter(|word| !is_version(word) && word != "api");
    words.take(MOST_SEGMENTS).collect()
}

fn is_version(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    !digits.is_empty() && digits.chars().all(|letter| letter.is_ascii_digit() || letter == '-')
}

/// What stands before the last part of a name that has parts: `issues/list` is in `issues`.
fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<_> = name.split(['/', '.', ':']).collect();
    parts.pop();
    parts.into_iter().filter_map(slug).take(MOST_SEGMENTS).collect()
}

/// What a name says is done, and to what.
fn verb_and_resource(words: &[String], actions: &[String]) -> (Option<String>, Option<String>) {
    let is_verb = |word: &String| {
        VERBS.contains(&word.as_str()) || actions.iter().any(|action| action == word)
    };
    let at = words.iter().position(is_verb);
    let after = at.map_or(words, |at| words.get(at + 1..).unwrap_or_default());
    let object = after.iter().take_while(|word| !TURNS.contains(&word.as_str())).last();
    let before = at.and_then(|at| words.get(..at)).and_then(<[String]>::last);
    let thing = object.or(before).map(|word| singular(word));
    let verb = actions.first().cloned().or_else(|| at.and_then(|at| words.get(at)).cloned());
    (verb, thing)
}

/// English alone; a word of another language keeps its form, the same for all tools.
fn singular(word: &str) -> String {
    let cut = |end: &str, put: &str| word.strip_suffix(end).map(|stem| format!("{stem}{put}"));
    if word.len() < 4 || word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word.to_owned();
    }
    let long = ["ches", "shes", "sses", "xes"].iter().any(|end| word.ends_with(end));
    let found = if long { cut("es", "") } else { cut("ies", "y").or_else(|| cut("s", "")) };
    found.unwrap_or_else(|| word.to_owned())
}
