//! The last thread of each agent, kept for `--resume`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use toolcrib::agent::ThreadItem;

use crate::config;

/// Where the last thread of an agent is kept; `None`: there is no place for it.
fn place(agent: &str) -> Option<PathBuf> {
    Some(config::state_folder()?.join("chats").join(format!("{agent}.json")))
}

/// Keeps a thread in the place of the one before.
pub(super) fn keep(agent: &str, thread: &[ThreadItem]) -> Result<()> {
    let Some(place) = place(agent) else { return Ok(()) };
    if let Some(folder) = place.parent() {
        config::private_folder(folder)?;
    }
    // Whole or not at all: the process may end while it is written.
    let text = serde_json::to_vec(thread)?;
    let new = place.with_extension("new");
    std::fs::write(&new, text)
        .and_then(|()| std::fs::rename(&new, &place))
        .with_context(|| format!("cannot keep the thread in `{}`", place.display()))
}

/// The thread that was kept last.
pub(super) fn last(agent: &str) -> Result<Vec<ThreadItem>> {
    let place = place(agent).context("there is no folder that threads are kept in: set HOME")?;
    let text = std::fs::read_to_string(&place)
        .with_context(|| format!("there is no thread of `{agent}` to go on with"))?;
    serde_json::from_str(&text)
        .with_context(|| format!("`{}` holds no thread: remove it", place.display()))
}
