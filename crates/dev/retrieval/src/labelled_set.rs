//! A labelled set: tools, and questions with the tools that serve them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use foldhash::HashMap;
use serde_json::Value;
use toolcrib_search::{DocumentArgument, ToolDocument, sentences};

use crate::RetrievalError;

/// The folders of the sets, in the order in which they are printed.
pub const SETS: [&str; 6] = [
    "bfcl-pooled",
    "livemcpbench",
    "metatool-multi",
    "restbench-tmdb",
    "seal-tools-in-domain",
    "stabletoolbench",
];

/// How deep the arguments of a tool are read.
const DEEPEST: usize = 3;

/// Tools, and what people asked of them.
#[derive(Debug)]
pub struct LabelledSet {
    pub name: String,
    pub tools: Vec<LabelledTool>,
    pub questions: Vec<LabelledQuestion>,
}

/// A tool as the set has it.
#[derive(Debug, Clone)]
pub struct LabelledTool {
    pub name: String,
    pub description: String,
    pub category: Option<String>,
    pub server: String,
    pub server_description: String,
    /// The outer ones first, then those within.
    pub arguments: Vec<DocumentArgument<'static>>,
}

/// A question and the numbers of the tools that serve it.
#[derive(Debug)]
pub struct LabelledQuestion {
    pub text: String,
    pub relevant: Vec<usize>,
}

/// Where the sets are, seen from the sources of this crate.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/retrieval")
}

impl LabelledSet {
    /// Reads `tools.jsonl` and `queries.jsonl` of a folder.
    pub fn read(folder: &Path, name: &str) -> Result<Self, RetrievalError> {
        let lines = |file: &str| -> Result<Vec<Value>, RetrievalError> {
            let path = folder.join(name).join(file);
            let text = std::fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
        };
        let (tools, questions) = (lines("tools.jsonl")?, lines("queries.jsonl")?);
        let ids: HashMap<&str, usize> =
            tools.iter().enumerate().map(|(at, tool)| (text(tool, "id"), at)).collect();
        let question = |question: &Value| {
            let relevant = list(question, "relevant").iter().filter_map(Value::as_str);
            let relevant = relevant.filter_map(|id| ids.get(id)).copied().collect();
            LabelledQuestion { text: text(question, "query").to_owned(), relevant }
        };
        let questions = questions.iter().map(question).collect();
        Ok(Self {
            name: name.to_owned(),
            tools: tools.iter().map(LabelledTool::of).collect(),
            questions,
        })
    }
}

impl LabelledTool {
    fn of(tool: &Value) -> Self {
        let mut arguments = Vec::new();
        read_arguments(tool.get("parameters").unwrap_or(&Value::Null), 1, &mut arguments);
        Self {
            name: text(tool, "name").to_owned(),
            description: text(tool, "description").to_owned(),
            category: tool.get("category").and_then(Value::as_str).map(str::to_owned),
            server: text(tool, "server").to_owned(),
            server_description: text(tool, "server_description").to_owned(),
            arguments,
        }
    }

    /// The first sentence of the description.
    pub fn summary(&self) -> &str {
        sentences(&self.description).first().map_or("", |first| first.trim())
    }

    /// As the search takes it.
    pub fn document(&self) -> ToolDocument<'_> {
        ToolDocument {
            name: self.name.as_str().into(),
            summary: self.summary().into(),
            description: self.description.as_str().into(),
            category: self.category.as_deref().map(Cow::Borrowed),
            source: self.server.as_str().into(),
            about_source: self.server_description.as_str().into(),
            arguments: self.arguments.clone(),
            ..ToolDocument::default()
        }
    }

    /// What a model is shown of it when it is found: a signature and a line.
    pub fn line(&self) -> String {
        let written = |argument: &DocumentArgument<'_>| {
            format!("{}{}", argument.name, if argument.required { "" } else { "?" })
        };
        let arguments: Vec<String> = self.arguments.iter().map(written).collect();
        format!("{}({}): {}\n", self.name, arguments.join(", "), self.summary())
    }
}

fn read_arguments(schema: &Value, depth: usize, into: &mut Vec<DocumentArgument<'static>>) {
    let required = list(schema, "required");
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, inner) in properties {
        let items = inner.get("items").unwrap_or(&Value::Null);
        let values = list(inner, "enum").iter().chain(list(items, "enum"));
        let values = values.map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
        let is_required = required.iter().any(|one| one.as_str() == Some(name));
        into.push(DocumentArgument {
            name: name.clone().into(),
            description: text(inner, "description").to_owned().into(),
            values: values.map(Cow::Owned).collect(),
            required: is_required && depth == 1,
        });
        if depth < DEEPEST {
            read_arguments(inner, depth + 1, into);
            read_arguments(items, depth + 1, into);
        }
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
