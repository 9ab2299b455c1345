//! What a call would do, in words, for whoever is asked before it runs.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::timeout;
use toolcrib_json::invisible::{exact, prose};

use super::undeclared_effect;
use crate::call::arguments::Arguments;
use crate::catalog::CatalogTool;
use crate::gate::batch::Batch;
use crate::gate::run::redaction;
use crate::outcome::ToolError;

/// How long a tool may look for its words.
const PATIENCE: Duration = Duration::from_secs(10);
/// What a person reads before they say yes.
const LONGEST: usize = 1_000;
/// Between what would be done and why it is asked about.
const BETWEEN: &str = " \u{2014} ";

/// What is asked about a call, which is to be asked about for that reason.
///
/// # Errors
/// The call cannot succeed: what it names is not there.
pub(crate) async fn asked(
    batch: &Batch,
    tool: &CatalogTool,
    arguments: &Arguments,
    reason: String,
) -> Result<String, ToolError> {
    let words = words(batch, tool, arguments).await?;
    Ok(question(words, &undeclared_effect::told(batch, tool, arguments, reason).await))
}

/// The words of a call; `None` if its tool has none, or could not find them in time.
///
/// # Errors
/// The call cannot succeed: what it names is not there.
pub(crate) async fn words(
    batch: &Batch,
    tool: &CatalogTool,
    arguments: &Arguments,
) -> Result<Option<String>, ToolError> {
    let looking = redaction::preview(&*tool.tool, arguments, batch.plan.caller());
    match timeout(PATIENCE, AssertUnwindSafe(looking).catch_unwind()).await {
        Ok(Ok(found)) => Ok(found?.map(|words| plain(&words)).filter(|words| !words.is_empty())),
        // The name and the arguments are there to decide by.
        Ok(Err(_)) | Err(_) => Ok(None),
    }
}

/// What is asked: what would be done, and why it is asked about.
pub(crate) fn question(words: Option<String>, reason: &str) -> String {
    let reason = prose(reason).into_owned();
    match words {
        Some(words) if reason.is_empty() => words,
        Some(words) => words + BETWEEN + &reason,
        None => reason,
    }
}

/// Whether somebody was asked for what these words say.
pub(crate) fn was_asked(question: &str, words: &str) -> bool {
    question.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(BETWEEN))
}

/// One line of a bounded length, in which what nobody sees is written out.
fn plain(words: &str) -> String {
    // A line break would be written out too, and yet parts words.
    let line = words.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => exact(line.get(..end).unwrap_or_default()).into_owned() + "\u{2026}",
        None => exact(&line).into_owned(),
    }
}
