//! The tool by which a model reads what was too large for it: there for whoever has something to
//! read.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::{
    CallContext, Caller, Content, ContentPath, Effect, InvalidName, Ledger, ResultHandle, SourceId,
    Tool, ToolError, ToolSpec, ValidationOrigin, tool_with,
};

use super::SOURCE;

const NAME: &str = "read_result";

const DEFAULT_PIECE: usize = 16 * 1024;
const LARGEST_PIECE: usize = 64 * 1024;
/// What a piece may have in bytes, so that none is cut again.
const ROOM: usize = 8 * LARGEST_PIECE;

/// Which piece.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadResultArguments {
    /// The handle that the cut result named.
    handle: String,
    /// Letters to pass over: `next` of the piece before.
    #[serde(default)]
    offset: usize,
    /// Letters to give at the most, up to 65536.
    limit: Option<usize>,
    /// A JSON pointer into the data of the result.
    path: Option<String>,
    /// The number of one part, from 0: an image or a file comes in base64.
    part: Option<usize>,
}

pub(crate) fn tool(ledger: Arc<dyn Ledger>) -> Result<Arc<dyn Tool>, InvalidName> {
    let description = "Reads a result that was too large to be shown whole, a piece at a time. \
                       Call it with the handle that the cut result named.";
    let mut spec = ToolSpec::new(NAME, description, Effect::Read)?;
    spec.origin.source = SourceId::new(SOURCE);
    // Nobody else checks what it is told.
    spec.validation_said = ValidationOrigin::Tool;
    spec.traits.capability = true;
    spec.limits.max_result_bytes = Some(ROOM);
    Ok(tool_with(spec, move |wanted: ReadResultArguments, context: CallContext| {
        let ledger = Arc::clone(&ledger);
        async move { piece(&*ledger, context.caller(), wanted).await }
    }))
}

async fn piece(
    ledger: &dyn Ledger,
    caller: &Caller,
    wanted: ReadResultArguments,
) -> Result<Content, ToolError> {
    let handle = ResultHandle(wanted.handle);
    let kept = ledger.kept(caller, &handle).await.ok_or_else(|| {
        ToolError::told("there is no such result: it may be too old. Make the call again")
    })?;
    let limit = wanted.limit.unwrap_or(DEFAULT_PIECE).clamp(1, LARGEST_PIECE);
    let place = ContentPath::of(wanted.part, wanted.path.as_deref());
    let excerpt = kept.excerpt(wanted.offset, limit, &place);
    let excerpt = excerpt.ok_or_else(|| {
        ToolError::told("the result has nothing there: leave `path` and `part` out")
    })?;
    let end = excerpt.offset.saturating_add(excerpt.text.chars().count());
    let more = excerpt.next.map_or("the end".to_owned(), |next| format!("go on at offset {next}"));
    let all = kept.inventory().filter(|_| wanted.offset == 0);
    let all = all.map_or_else(String::new, |all| format!("; {all}"));
    let place = format!("[{} to {end} of {} letters{all}; {more}]", excerpt.offset, excerpt.total);
    Ok(Content {
        parts: vec![toolcrib_core::Part::text(excerpt.text), toolcrib_core::Part::text(place)],
        ..Content::default()
    })
}
