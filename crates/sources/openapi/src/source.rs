//! A document as a source of tools.

pub(crate) mod build;
pub(crate) mod destinations;
mod fetch;
mod generic_request;
mod report;

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::runtime::Handle;
use toolcrib_core::{BoxFuture, Fingerprint, Source, SourceError, SourceId, Toolset};

use self::fetch::DocumentLoader;
pub(crate) use self::fetch::{shown, text_of};
pub use self::report::{ApiReport, BaseUrlSource};
use crate::auth::GrantCache;
use crate::document;
use crate::settings::ApiSettings;

/// An API by its document: each operation is a tool.
///
/// Every load reads the document again; one that has not changed costs no more than that.
pub struct ApiSource {
    id: SourceId,
    settings: Arc<ApiSettings>,
    /// Tokens outlive a change of the document.
    grants: Arc<GrantCache>,
    state: tokio::sync::Mutex<LoadState>,
    report: Mutex<Option<ApiReport>>,
}

/// What one load leaves to the next.
#[derive(Default)]
struct LoadState {
    /// The ways to documents, once they were needed.
    library: Option<Arc<DocumentLoader>>,
    kept: Option<LoadedToolset>,
}

/// What the last load made.
struct LoadedToolset {
    text: Fingerprint,
    toolset: Toolset,
}

impl ApiSource {
    pub fn new(id: SourceId, settings: ApiSettings) -> Self {
        let grants = settings.learned.clone().map(GrantCache::telling).unwrap_or_default();
        Self {
            id,
            settings: Arc::new(settings),
            grants: Arc::new(grants),
            state: tokio::sync::Mutex::default(),
            report: Mutex::default(),
        }
    }

    /// What the last load that went well has made of the document; `None` before one has.
    pub fn report(&self) -> Option<ApiReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn load_all(&self) -> Result<Toolset, SourceError> {
        let mut state = self.state.lock().await;
        let library = match &state.library {
            Some(library) => Arc::clone(library),
            None => {
                Arc::clone(state.library.insert(Arc::new(DocumentLoader::new(&self.settings)?)))
            }
        };
        let (text, fingerprint) = fingerprint(library.document(&self.settings).await?);
        if let Some(kept) = state.kept.as_ref().filter(|kept| kept.text == fingerprint) {
            return Ok(kept.toolset.clone());
        }
        let read = {
            let (settings, library) = (Arc::clone(&self.settings), Arc::clone(&library));
            let handle = Handle::current();
            // A large document takes seconds, in which nobody else should have to wait.
            tokio::task::spawn_blocking(move || {
                handle.block_on(document::read(&text, &*library, &settings))
            })
        };
        let read = read.await.map_err(|error| {
            SourceError::new("cannot read the document of this API").because(error)
        })?;
        // It says all by itself, and would be told twice as a cause.
        let read = read.map_err(|error| {
            SourceError::new(format!("{}: {error}", fetch::place(&self.settings.document)))
        })?;
        let (toolset, report) = build::build(&self.id, &self.settings, read, &self.grants)?;
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        // Other documents may change while this one does not.
        let text = fingerprint;
        let is_whole = !library.was_asked();
        state.kept = is_whole.then(|| LoadedToolset { text, toolset: toolset.clone() });
        Ok(toolset)
    }
}

impl Source for ApiSource {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(self.load_all())
    }
}

fn fingerprint(text: String) -> (String, Fingerprint) {
    let value = Value::String(text);
    let fingerprint = Fingerprint::of(&value);
    let Value::String(text) = value else { return (String::new(), fingerprint) };
    (text, fingerprint)
}
