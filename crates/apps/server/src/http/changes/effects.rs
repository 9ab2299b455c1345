//! What changes over the file would bring about: which tools come and go, and what is permitted
//! that was not before.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_config::{AddedSource, Config, Overlay, OverlayPath};
use toolcrib_core::{Caller, Catalog, CatalogTool, Policy};
use toolcrib_engine::rules::Rules;

use crate::config::overlays::overlaid_config::{EditedOverlay, OverlaidConfig};

/// Names of each list that are told.
const MOST: usize = 200;
/// What a text is called that has the words of the file.
const FOLDED: &str = "crib.toml";

/// Something that becomes possible: of which tool, source or rule, and what.
type Relaxed = (String, String);

/// `catalogs`: what there was and what there is. `caller`: through whose eyes it is looked at.
pub(super) fn effects(
    over: &OverlaidConfig,
    edited: &EditedOverlay,
    catalogs: &[Arc<Catalog>],
    caller: &Caller,
) -> Value {
    let tools: Vec<_> = catalogs.iter().flat_map(|catalog| catalog.loaded()).collect();
    let tools = tools.as_slice();
    let texts = [&edited.before, &edited.after].map(|overlay| folded(over, overlay, edited.at));
    // A row for each place that is touched.
    let mut known = HashSet::new();
    let rows = edited.gone.iter().chain(&edited.made);
    let rows = rows.filter(|row| known.insert(&row.path)).cloned().collect();
    let touched = Overlay { version: 0, rows };
    let [before, after] = texts.map(|text| touched.said_of_each(&text, FOLDED));
    let configs = [&edited.before, &edited.after].map(|overlay| over.config(overlay, edited.at));
    let mut relaxed = Vec::new();
    let (mut shown, mut hidden) = seen(&configs, tools, caller);
    for ((row, before), after) in touched.rows.iter().zip(before).zip(after) {
        let path = &row.path;
        if before == after {
            continue;
        }
        relaxed.extend(relaxation(path, &before, &after, tools));
        switched(path, (&before, &after), tools, (&mut shown, &mut hidden));
    }
    let first = |names: &BTreeSet<String>| names.iter().take(MOST).cloned().collect::<Vec<_>>();
    let told = relaxed.iter().take(MOST).map(|(tool, what)| json!({ "tool": tool, "what": what }));
    json!({
        "shown": first(&shown),
        "hidden": first(&hidden),
        "relaxed": told.collect::<Vec<_>>(),
    })
}

fn folded(over: &OverlaidConfig, overlay: &Overlay, at: u64) -> String {
    overlay.folded(&over.text, over.shown(), at)
}

/// The tools that rules show and hide otherwise than before.
fn seen(
    configs: &[Option<Config>; 2],
    tools: &[&CatalogTool],
    caller: &Caller,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut shown, mut hidden) = (BTreeSet::new(), BTreeSet::new());
    let Ok(all) = Rules::parse("allow = [\"*\"]") else { return (shown, hidden) };
    let policy = |config: &Option<Config>| config.as_ref()?.policy_with(None, &all);
    let [Some(before), Some(after)] = configs.each_ref().map(policy) else {
        return (shown, hidden);
    };
    for tool in tools {
        match (before.sees(caller, &tool.spec), after.sees(caller, &tool.spec)) {
            (true, false) => hidden.insert(tool.spec.name.to_string()),
            (false, true) => shown.insert(tool.spec.name.to_string()),
            (true, true) | (false, false) => false,
        };
    }
    (shown, hidden)
}

/// The tools that are switched on and off by their names or by that of their source.
fn switched(
    path: &OverlayPath,
    (before, after): (&Value, &Value),
    tools: &[&CatalogTool],
    (shown, hidden): (&mut BTreeSet<String>, &mut BTreeSet<String>),
) {
    let (was_on, is_on) = if path.is_source() {
        (is_used(before), is_used(after))
    } else {
        (before != &Value::Bool(false), after != &Value::Bool(false))
    };
    if was_on == is_on {
        return;
    }
    let to = if is_on { shown } else { hidden };
    match words(path).as_slice() {
        ["tool", name, "enabled"] => {
            to.insert((*name).to_owned());
        }
        ["source", id] | ["source", id, "enabled"] => {
            let own = tools.iter().filter(|tool| tool.spec.origin.source.as_str() == *id);
            to.extend(own.map(|tool| tool.spec.name.to_string()));
        }
        _ => {}
    }
}

/// Whether what stands at the place of a source is one that is used.
fn is_used(value: &Value) -> bool {
    value.get("enabled").map_or(value.is_object(), |enabled| *enabled != Value::Bool(false))
}

fn words(path: &OverlayPath) -> Vec<&str> {
    path.keys().iter().map(String::as_str).collect()
}

/// What becomes possible by a field; nothing, if it only forbids.
fn relaxation(
    path: &OverlayPath,
    before: &Value,
    after: &Value,
    tools: &[&CatalogTool],
) -> Option<Relaxed> {
    let off = Value::Bool(false);
    let (of, what) = match words(path).as_slice() {
        ["tool", name, field @ ..] => (*name, of_tool(name, field, (before, after), tools)?),
        ["source", id] if is_used(after) => (*id, of_source(after)),
        ["source", id, "enabled"] if *after != off => {
            (*id, "its tools may be seen and called again".to_owned())
        }
        ["source", id, "include"] if !is_less(after, before) || is_empty(after) => {
            (*id, "tools of it may come that were left out".to_owned())
        }
        ["source", id, "exclude"] if !is_less(before, after) => {
            (*id, "tools of it may come that were left out".to_owned())
        }
        [.., "allow"] if !is_less(after, before) => {
            ("allow", format!("calls may run that no rule allowed: {}", gained(before, after)))
        }
        [.., "allow"] if after.is_null() => {
            ("allow", "what no list allows is decided by other rules, or by none".to_owned())
        }
        [.., "ask"] if !is_less(before, after) => {
            ("ask", format!("nobody is asked before calls of {}", gained(after, before)))
        }
        [.., "deny"] if !is_less(before, after) => {
            ("deny", format!("calls may run that were denied: {}", gained(after, before)))
        }
        ["profile", name, "max_calls"] if number(after) > number(before) => {
            (*name, "more calls may run in one turn".to_owned())
        }
        _ => return None,
    };
    Some((of.to_owned(), what))
}

/// What a source does that is added.
fn of_source(value: &Value) -> String {
    let source = AddedSource::of(value);
    match source.map(|source| (source.command(), source.address())) {
        // As JSON, so that each word ends where it seems to.
        Some((Some(command), _)) => format!("the server starts {}", json!(command)),
        Some((None, Some(address))) => format!("the server asks {address}"),
        Some((None, None)) | None => "its tools may be seen and called".to_owned(),
    }
}

fn of_tool(
    name: &str,
    field: &[&str],
    (before, after): (&Value, &Value),
    tools: &[&CatalogTool],
) -> Option<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let known = tools.iter().find(|tool| tool.spec.name.as_str() == name);
    let told = match field {
        ["enabled"] if *after != Value::Bool(false) => "it may be seen and called again".to_owned(),
        ["approval"] if is_asked(before) || after.as_str() == Some("") => {
            if is_asked(after) {
                return None;
            }
            "no person is asked before each call, unless the rules say so".to_owned()
        }
        ["effect"] => {
            let of_spec = known.map(|tool| tool.spec.effect.as_str().to_owned());
            let was = text(before).or(of_spec).unwrap_or_else(|| "destroy".to_owned());
            match text(after) {
                None => "it counts again as what its source says".to_owned(),
                Some(is) if rank(&is) < rank(&was) => {
                    format!("it counts as `{is}`, and no more as `{was}`: rules go by that")
                }
                Some(_) => return None,
            }
        }
        ["timeout"] if is_longer(before, after) => "a call may run for longer".to_owned(),
        ["idempotent"] if *after != Value::Bool(false) => {
            "a call may be sent again by itself".to_owned()
        }
        ["retries"] if number(after) > number(before) => {
            "a call may be sent again more often".to_owned()
        }
        ["validation"] if after.as_str() != Some("strict") => {
            "its arguments are looked at less strictly".to_owned()
        }
        [field @ ("category" | "actions" | "tags")] => {
            format!("rules that go by its {field} hold otherwise")
        }
        ["verify", ..] => "another tool is called to look up what became of a call".to_owned(),
        _ => return None,
    };
    Some(told)
}

fn is_asked(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn rank(effect: &str) -> u8 {
    match effect {
        "read" => 0,
        "write" => 1,
        _ => 2,
    }
}

/// What cannot be told from another one counts as longer.
fn is_longer(before: &Value, after: &Value) -> bool {
    let span = |value: &Value| {
        let span = value.as_str()?.parse::<jiff::SignedDuration>().ok()?;
        Some(span.as_millis())
    };
    match (span(before), span(after)) {
        (Some(before), Some(after)) => after > before,
        _ => true,
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::MAX)
}

fn entries(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_empty(value: &Value) -> bool {
    entries(value).is_empty()
}

/// Whether every entry of the first list is in the second.
fn is_less(first: &Value, second: &Value) -> bool {
    entries(first).iter().all(|entry| entries(second).contains(entry))
}

/// The entries of the second list that the first does not have.
fn gained(first: &Value, second: &Value) -> String {
    let new = entries(second).iter().filter(|entry| !entries(first).contains(entry));
    let new: Vec<_> = new.take(8).map(|entry| format!("`{}`", shown(entry))).collect();
    new.join(", ")
}

fn shown(entry: &Value) -> String {
    let text = entry.as_str().map_or_else(|| entry.to_string(), str::to_owned);
    text.chars().take(100).collect()
}
