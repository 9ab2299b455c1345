//! The result of a call as the protocol has it, made into content.

use serde_json::{Map, Value};
use toolcrib_core::{Content, ErrorKind, Part, ToolError, ToolOutcome};

use super::references::references;
use crate::client::fault::McpFault;
use crate::protocol::content::part;
use crate::protocol::json::strict_object::empty_as_objects;
use crate::protocol::text::cut;

/// Parts of one result.
const MOST_PARTS: usize = 10_000;

/// What a request was answered with.
#[derive(Debug)]
pub(crate) enum ServerReply {
    /// The fields of the result as they came.
    Fields(Map<String, Value>),
    /// The result of a call in the shape that most have, of which no tree was made.
    Usual(FastCallResult),
}

#[derive(Debug)]
pub(crate) struct FastCallResult {
    pub(crate) parts: Vec<Part>,
    pub(crate) structured: Option<Value>,
    pub(crate) failed: bool,
}

impl ServerReply {
    /// Whether it is a call's, and says that the tool failed.
    pub(crate) fn is_failure(&self) -> bool {
        match self {
            Self::Fields(result) => result.get("isError") == Some(&Value::Bool(true)),
            Self::Usual(usual) => usual.failed,
        }
    }

    /// Of a request that is no call.
    pub(crate) fn fields(self) -> Result<Map<String, Value>, McpFault> {
        match self {
            Self::Fields(result) => Ok(result),
            Self::Usual(_) => Err(McpFault::Unreadable("it is the result of a call")),
        }
    }

    /// The end of a call, or what is wrong with the answer.
    pub(crate) fn outcome(self) -> Result<ToolOutcome, McpFault> {
        match self {
            Self::Fields(result) => outcome(result),
            Self::Usual(FastCallResult { parts, structured, failed }) => {
                Ok(ended(Content { parts, structured, ..Content::default() }, failed))
            }
        }
    }
}

fn outcome(mut result: Map<String, Value>) -> Result<ToolOutcome, McpFault> {
    let (mut failed, mut structured, mut extra) = (false, None, Map::new());
    // The first revisions demand content; a structured result alone is good enough.
    let mut parts = Vec::new();
    empty_as_objects(&mut result, &["_meta"]);
    for (key, value) in result {
        match (key.as_str(), value) {
            ("isError", flag) => failed = flag == Value::Bool(true),
            // Go writes an empty list so.
            ("resultType", _) | ("content", Value::Null) => {}
            ("content", Value::Array(blocks)) if blocks.len() <= MOST_PARTS => {
                parts = blocks.into_iter().map(part).collect();
            }
            ("content", _) => {
                return Err(McpFault::Unreadable("its content is no list, or too long a one"));
            }
            ("structuredContent", value) => structured = Some(value),
            (_, value) => _ = extra.insert(key, value),
        }
    }
    let references = references(&extra);
    Ok(ended(Content { parts, structured, references, extra, ..Content::default() }, failed))
}

fn ended(mut content: Content, failed: bool) -> ToolOutcome {
    if let (true, Some(structured)) = (content.parts.is_empty(), &content.structured) {
        content.parts.push(Part::text(structured.to_string()));
    }
    if !failed {
        return ToolOutcome::Done(content);
    }
    let mut error = ToolError::new(ErrorKind::Tool, said(&content));
    error.content = Some(Box::new(content));
    ToolOutcome::Failed(error)
}

/// The texts of a failed result, for those who read no content.
fn said(content: &Content) -> String {
    let texts: Vec<_> = content
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            Part::Image { .. } | Part::Audio { .. } | Part::File { .. } | Part::Link { .. } => None,
        })
        .collect();
    match texts.join("\n").trim() {
        "" => "the tool says that it failed, and not why; try other arguments or another tool"
            .to_owned(),
        said => cut(said, 4_000),
    }
}
