//! What a caller sees of an operation.

use http::Method;
use serde::Deserialize as _;
use serde_json::Value;
use toolcrib_core::{Effect, InvalidName, ToolSpec};

use super::names;
use super::path::placeholders;
use crate::document::document_set::DocumentSite;
use crate::document::text::{cut, flag, line, member, sentence, start};
use crate::operation::{ApiOperation, PathPiece};
use crate::settings::{ApiSettings, Grouping};

/// Longest description, in characters.
const LONGEST_DESCRIPTION: usize = 4_000;

/// The spec of an operation, without its schemas.
pub(crate) fn spec(
    name: &str,
    place: &str,
    operation: &ApiOperation,
    site: DocumentSite<'_>,
    settings: &ApiSettings,
) -> Result<ToolSpec, InvalidName> {
    let said = settings.effects.get(&operation.key).or_else(|| settings.effects.get(place));
    let effect = said.copied().unwrap_or_else(|| effect(&operation.method).max(marked(site)));
    let mut spec = ToolSpec::new(name, description(site, place), effect)?;
    let summary = member(site.value, "summary").map(|text| line(text, 120));
    let summary = summary.filter(|summary| !summary.is_empty());
    spec.title = summary.as_deref().map(|text| text.trim_end_matches('.').to_owned());
    spec.summary = summary.unwrap_or_else(|| {
        let first = sentence(member(site.value, "description").unwrap_or_default(), 120);
        if first.is_empty() { place.to_owned() } else { first }
    });
    let tags = site.get("tags").into_iter().flat_map(DocumentSite::items);
    let tags = tags.take(100).filter_map(|tag| tag.value.as_str()).map(|tag| line(tag, 60));
    spec.tags = tags.filter(|tag| !tag.is_empty()).take(20).collect();
    spec.category = category(&spec.tags, operation, settings.grouping);
    spec.actions = vec![action(name, operation).to_owned()];
    spec.idempotent = is_idempotent(&operation.method);
    spec.deprecated = flag(site.value, "deprecated");
    spec.origin.name = Some(operation.key.clone());
    spec.origin.path = place.split_once(' ').map(|(_, path)| path.to_owned());
    Ok(spec)
}

fn description(site: DocumentSite<'_>, place: &str) -> String {
    let said = |key: &str| start(member(site.value, key).unwrap_or_default()).trim();
    let (summary, description) = (said("summary"), said("description"));
    let mut text = String::new();
    if flag(site.value, "deprecated") {
        text.push_str("Deprecated: prefer another tool.\n\n");
    }
    if !description.starts_with(summary) {
        text.push_str(&line(summary, 300));
        text.push_str("\n\n");
    }
    text.push_str(if summary.is_empty() && description.is_empty() { place } else { description });
    cut(text.trim(), LONGEST_DESCRIPTION)
}

/// What a method does to the world: `RFC` 9110 for those that it knows. A method of somebody's
/// own may do anything.
fn effect(method: &Method) -> Effect {
    match method.as_str() {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY" => Effect::Read,
        "POST" | "PUT" | "PATCH" => Effect::Write,
        _ => Effect::Destroy,
    }
}

/// What a document says that the method does not tell. It makes an operation stricter and never
/// laxer: whoever wrote it is not the one whose things are changed.
const MARK: &str = "x-toolcrib-effect";

fn marked(site: DocumentSite<'_>) -> Effect {
    let mark = site.value.get(MARK);
    // Somebody meant to warn: a word that cannot be read is the strictest.
    mark.map_or(Effect::Read, |mark| Effect::deserialize(mark).unwrap_or_default())
}

fn is_idempotent(method: &Method) -> bool {
    matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY" | "PUT" | "DELETE")
}

fn category(tags: &[String], operation: &ApiOperation, grouping: Grouping) -> Option<String> {
    match grouping {
        Grouping::None => None,
        Grouping::Tag => tags.first().cloned().or_else(|| fixed_segment(operation)),
    }
}

/// The first segment of the path that is a word, and no version.
fn fixed_segment(operation: &ApiOperation) -> Option<String> {
    let words = operation.path.iter().filter_map(|segment| match segment.0.as_slice() {
        [PathPiece::Text(text)] => Some(text.as_str()),
        _ => None,
    });
    let is_version = |word: &str| {
        let digits = word.strip_prefix('v').unwrap_or(word);
        !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let mut words = words.map(names::words).filter(|word| !word.is_empty() && !is_version(word));
    words.next().map(|word| word.to_ascii_lowercase())
}

/// Words that names begin with, and what they do.
const ACTIONS: &[(&str, &str)] = &[
    ("list", "list"),
    ("search", "search"),
    ("find", "search"),
    ("query", "search"),
    ("get", "get"),
    ("read", "get"),
    ("retrieve", "get"),
    ("fetch", "get"),
    ("show", "get"),
    ("check", "get"),
    ("watch", "get"),
    ("create", "create"),
    ("add", "create"),
    ("insert", "create"),
    ("update", "update"),
    ("patch", "update"),
    ("put", "update"),
    ("set", "update"),
    ("replace", "update"),
    ("modify", "update"),
    ("edit", "update"),
    ("rename", "update"),
    ("delete", "delete"),
    ("remove", "delete"),
];

/// What an operation does, in a word: that of its name where it fits its method, else the
/// method's.
fn action(name: &str, operation: &ApiOperation) -> &'static str {
    let method = operation.method.as_str();
    let fits = |action: &str| match action {
        "list" | "get" | "search" => matches!(method, "GET" | "HEAD" | "POST" | "QUERY"),
        "delete" => matches!(method, "DELETE" | "POST"),
        _ => matches!(method, "POST" | "PUT" | "PATCH"),
    };
    // Of a name such as `issues_list_for_repo` the verb is not the first word.
    let said = words(name).take(4).find_map(|word| {
        let found = ACTIONS.iter().find(|(verb, _)| *verb == word);
        found.map(|(_, action)| *action).filter(|action| fits(action))
    });
    let ends_fixed = operation
        .path
        .last()
        .is_some_and(|last| placeholders(std::slice::from_ref(last)).next().is_none());
    match (said, method) {
        // Generated ids say the method: `get_users` lists, `get_users_id` gets.
        (Some("get") | None, "GET") if said.is_none() && ends_fixed => "list",
        (Some(said), _) => said,
        (None, "GET" | "HEAD" | "QUERY") => "get",
        (None, "POST") if ends_fixed => "create",
        (None, "PUT" | "PATCH") => "update",
        (None, "DELETE") => "delete",
        (None, _) => "run",
    }
}

/// The words of a name in small letters, parted at `_` and where a capital follows a small one.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if c == '_' || (c.is_ascii_uppercase() && was_small) {
            words.push(String::new());
        }
        if let (Some(word), true) = (words.last_mut(), c != '_') {
            word.push(c.to_ascii_lowercase());
        }
        was_small = c.is_ascii_lowercase();
    }
    words.into_iter().filter(|word| !word.is_empty())
}

/// The text of the API as a whole.
pub(crate) fn about(root: DocumentSite<'_>, key: &str) -> String {
    let said = root.value.get("info").and_then(|info| info.get(key)).and_then(Value::as_str);
    line(said.unwrap_or_default(), 200)
}
