//! The answer of a model that was asked to split a group: text that anybody may have written.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcrib_json::repair::RepairBounds;

/// Longest answer that is read, in bytes.
const LONGEST: usize = 256 << 10;
/// Groups that are read; further ones are as if they were not there.
const MOST_GROUPS: usize = 64;
/// Longest title, and longest summary, in characters.
const LONGEST_TITLE: usize = 60;
const LONGEST_SUMMARY: usize = 200;

/// Names under which models put what they are asked for.
const GROUPS: [&str; 3] = ["groups", "toolsets", "result"];
const TITLES: [&str; 4] = ["name", "title", "group", "id"];
const SUMMARIES: [&str; 2] = ["summary", "description"];
const TOOLS: [&str; 5] = ["tools", "operations", "operationIds", "members", "items"];

/// A group as a model names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitGroup {
    pub title: String,
    #[serde(default)]
    pub summary: String,
    /// Names of tools; of those that were asked about, each is in one group at the most.
    pub tools: Vec<String>,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitOutcome {
    /// Two or more groups, a last one of what the model left over counted.
    Groups(Vec<SplitGroup>),
    /// Why nothing of the answer is of use.
    Useless(String),
}

impl SplitOutcome {
    /// Reads an answer about these tools, and keeps what is usable: a tool that comes twice is in
    /// the first group, what is no tool is nowhere, and a group without tools is none.
    pub fn read(answer: &str, tools: &[String]) -> Self {
        match groups(answer) {
            Err(reason) => Self::Useless(reason),
            Ok(groups) => Self::of(groups, tools),
        }
    }

    /// The same of what was read before: the tools may be others, and the file anybody's.
    #[must_use]
    pub fn again(&self, tools: &[String]) -> Self {
        match self {
            Self::Groups(groups) => Self::of(groups.clone(), tools),
            Self::Useless(reason) => Self::Useless(reason.clone()),
        }
    }

    fn of(groups: Vec<SplitGroup>, tools: &[String]) -> Self {
        let mut left: BTreeSet<&str> = tools.iter().map(String::as_str).collect();
        // Models leave out the prefix of a source.
        let mut short: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for tool in tools {
            let own = tool.split_once("__").map_or(tool.as_str(), |(_, own)| own);
            short.entry(own).or_default().push(tool);
        }
        let mut kept: Vec<SplitGroup> = Vec::new();
        for group in groups.into_iter().take(MOST_GROUPS) {
            let mut own = Vec::new();
            for name in &group.tools {
                let whole = left.get(name.as_str()).copied();
                let found = whole.or_else(|| match short.get(name.as_str()).map(Vec::as_slice) {
                    Some([only]) => left.get(only).copied(),
                    _ => None,
                });
                if let Some(name) = found {
                    left.remove(name);
                    own.push(name.to_owned());
                }
            }
            if own.is_empty() {
                continue;
            }
            let title = cut(&group.title, LONGEST_TITLE);
            let title = if title.is_empty() { format!("part {}", kept.len() + 1) } else { title };
            let summary = cut(&group.summary, LONGEST_SUMMARY);
            match kept.iter_mut().find(|known| known.title == title) {
                Some(known) => known.tools.extend(own),
                None => kept.push(SplitGroup { title, summary, tools: own }),
            }
        }
        match kept.len() {
            0 => Self::Useless("it named none of the tools".to_owned()),
            1 if left.is_empty() => Self::Useless("it put all tools into one group".to_owned()),
            _ => Self::Groups(kept),
        }
    }
}

/// The groups of an answer in any of the shapes that models give them.
fn groups(answer: &str) -> Result<Vec<SplitGroup>, String> {
    let text = answer.trim();
    if text.is_empty() {
        return Err("it said nothing".to_owned());
    }
    if text.len() > LONGEST {
        return Err(format!("its answer is longer than {LONGEST} bytes"));
    }
    let bounds = RepairBounds { bytes: LONGEST, ..RepairBounds::default() };
    let value = match bounds.read(json_of(text)) {
        Ok(read) => read.value,
        Err(_) => return Err("its answer has no JSON in it".to_owned()),
    };
    let groups = of_value(&value);
    if groups.is_empty() { Err("its answer names no groups".to_owned()) } else { Ok(groups) }
}

/// The text between the outermost brackets: models put words and fences around what they are asked
/// for.
fn json_of(text: &str) -> &str {
    let start = text.find(['{', '[']);
    let end = text.rfind(['}', ']']);
    match (start, end) {
        (Some(start), Some(end)) if start < end => text.get(start..=end).unwrap_or(text),
        (Some(start), _) => text.get(start..).unwrap_or(text),
        (None, _) => text,
    }
}

fn of_value(value: &Value) -> Vec<SplitGroup> {
    match value {
        Value::Array(items) => {
            items.iter().filter_map(Value::as_object).filter_map(group).collect()
        }
        Value::Object(fields) => {
            let inner = GROUPS.iter().find_map(|key| fields.get(*key));
            if let Some(inner) = inner.filter(|inner| inner.is_array() || inner.is_object()) {
                return of_value(inner);
            }
            match group(fields) {
                Some(one) => vec![one],
                None => fields.iter().filter_map(|(title, value)| titled(title, value)).collect(),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// A group that says its title.
fn group(fields: &Map<String, Value>) -> Option<SplitGroup> {
    let title = TITLES.iter().find_map(|key| fields.get(*key)?.as_str())?;
    titled(title, &Value::Object(fields.clone()))
}

/// A group under its title: its tools, or an object with them.
fn titled(title: &str, value: &Value) -> Option<SplitGroup> {
    let (tools, summary) = match value {
        Value::Array(tools) => (tools, None),
        Value::Object(fields) => {
            let tools = TOOLS.iter().find_map(|key| fields.get(*key)?.as_array())?;
            (tools, SUMMARIES.iter().find_map(|key| fields.get(*key)?.as_str()))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    let name = |tool: &Value| match tool {
        Value::String(name) => Some(name.clone()),
        Value::Object(fields) => {
            TITLES.iter().find_map(|key| fields.get(*key)?.as_str()).map(str::to_owned)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    let tools = tools.iter().filter_map(name).collect();
    let summary = summary.unwrap_or_default().to_owned();
    Some(SplitGroup { title: title.to_owned(), summary, tools })
}

/// One line of what can be seen of a text.
fn cut(text: &str, most: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let line = words.join(" ");
    let seen = line.chars().filter(|letter| !toolcrib_json::invisible::is_unseen(*letter));
    seen.take(most).collect::<String>().trim().to_owned()
}
