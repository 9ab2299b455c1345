//! The result of a call as the protocol has it, made into content.

use serde_json::{Map, Value};
use toolcrib_core::{Content, ErrorKind, Part, ToolError, ToolOutcome};

use crate::block::part;
use crate::fault::Fault;
use crate::text::cut;

/// Parts of one result.
const MOST_PARTS: usize = 10_000;

/// The end of a call, or what is wrong with the answer.
pub(crate) fn outcome(result: Map<String, Value>) -> Result<ToolOutcome, Fault> {
    let (mut failed, mut structured, mut extra) = (false, None, Map::new());
    // The first revisions demand content; a structured result alone is good enough.
    let mut parts = Vec::new();
    for (key, value) in result {
        match (key.as_str(), value) {
            ("isError", flag) => failed = flag == Value::Bool(true),
            ("resultType", _) => {}
            ("content", Value::Array(blocks)) if blocks.len() <= MOST_PARTS => {
                parts = blocks.into_iter().map(part).collect();
            }
            ("content", _) => {
                return Err(Fault::Unreadable("its content is no list, or too long a one"));
            }
            ("structuredContent", value) => structured = Some(value),
            (_, value) => _ = extra.insert(key, value),
        }
    }
    if let (true, Some(structured)) = (parts.is_empty(), &structured) {
        parts.push(Part::text(structured.to_string()));
    }
    let content = Content { parts, structured, extra, ..Content::default() };
    if !failed {
        return Ok(ToolOutcome::Done(content));
    }
    let mut error = ToolError::new(ErrorKind::Tool, said(&content));
    error.content = Some(Box::new(content));
    Ok(ToolOutcome::Failed(error))
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
