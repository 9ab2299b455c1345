//! Finding tools by their meaning, as the file says: opened beside what serves, and followed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use toolcrib_config::{Config, EmbedderSettings};
use toolcrib_core::Fingerprint;
use toolcrib_engine::Crib;
use toolcrib_engine::discovery::SemanticSearch;

use crate::config::{self, LOCK};
use crate::gateway::notices::Notices;

const PAUSE: Duration = Duration::from_secs(1);

/// What a file wants; a key that is missing is told, and words are left.
pub(crate) fn wanted(file: &Config, notices: &Notices) -> Option<EmbedderSettings> {
    file.embedder(&config::ProcessLookup).unwrap_or_else(|missing| {
        let lines: Vec<_> = missing.iter().map(ToString::to_string).collect();
        let lines = lines.join("; ");
        notices.warn(&[format!("tools are found by their words alone: `embedder`: {lines}")]);
        None
    })
}

/// Reads the model, and the vectors that were kept for a configuration at this path.
pub(crate) fn open(settings: EmbedderSettings, path: &Path) -> Result<Arc<SemanticSearch>> {
    let vectors = match settings.vectors.clone() {
        Some(vectors) => Some(vectors),
        None => place(path)?,
    };
    settings.open(vectors).map_err(|error| anyhow!(error))
}

/// A file of its own for each folder of a configuration; `None`: there is no place for one.
fn place(path: &Path) -> Result<Option<PathBuf>> {
    let Some(folder) = config::state_folder().map(|state| state.join("vectors")) else {
        return Ok(None);
    };
    let cure = "name a file: `vectors` in `[embedder]`";
    config::private_folder(&folder)
        .with_context(|| format!("cannot make `{}` for vectors; {cure}", folder.display()))?;
    let path = path.with_file_name(LOCK);
    let whole = std::path::absolute(&path).unwrap_or(path);
    let name = Fingerprint::of(&whole.display().to_string().into());
    Ok(Some(folder.join(format!("{name}.vectors"))))
}

/// Does what was last wished for as long as anybody can wish: has the vectors of new tools made,
/// and tells when tools are found by their words alone.
pub(crate) async fn follow(
    crib: Crib,
    path: PathBuf,
    mut wish: watch::Receiver<Option<EmbedderSettings>>,
    notices: Notices,
) {
    let mut told = None;
    wish.mark_changed();
    loop {
        if wish.has_changed().unwrap_or(false) {
            let settings = wish.borrow_and_update().clone();
            crib.set_embedder(None);
            if let Some(settings) = settings {
                let path = path.clone();
                match spawn_blocking(move || open(settings, &path)).await {
                    Ok(Ok(meaning)) => crib.set_embedder(Some(meaning)),
                    Ok(Err(error)) => {
                        notices.warn(&[format!("tools are found by their words alone: {error:#}")]);
                    }
                    Err(_) => notices.warn(&["tools are found by their words alone: it broke off"]),
                }
            }
        }
        crib.warm_embeddings().await;
        let trouble = crib.meaning().and_then(|meaning| meaning.trouble());
        if trouble != told {
            notices.warn(trouble.as_slice());
            told = trouble;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
