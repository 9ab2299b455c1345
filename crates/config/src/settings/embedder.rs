//! What finds tools by their meaning, as the file says it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolcrib_embed::{CachedEmbedder, EndpointEmbedder, EndpointSettings, Prefixes};
#[cfg(feature = "sentence-model")]
use toolcrib_embed::{FolderError, LocalEmbedder};
use toolcrib_engine::discovery::SemanticSearch;
use toolcrib_search::{EmbedError, Embedder};
use url::Url;

use crate::secrets::template::{SecretLookup, Template, TemplateResolution};

/// An embedder whose key stands beside it.
#[derive(Debug, Clone)]
pub(crate) struct EmbedderTemplate {
    pub(crate) place: EmbedderModelTemplate,
    pub(crate) prefixes: Prefixes,
    pub(crate) within: Duration,
    pub(crate) vectors: Option<PathBuf>,
}

#[derive(Debug, Clone)]
pub(crate) enum EmbedderModelTemplate {
    Local(PathBuf),
    Endpoint { base: Url, model: String, key: Option<Template>, dimensions: Option<usize> },
}

/// An embedder with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedderSettings {
    model: EmbedderModel,
    prefixes: Prefixes,
    within: Duration,
    /// Where the vectors of tools are kept; `None`: the file does not say.
    pub vectors: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum EmbedderModel {
    Local(PathBuf),
    Endpoint(Box<EndpointSettings>),
}

/// Why an embedder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EmbedderError {
    #[cfg(feature = "sentence-model")]
    #[error("the model in the folder cannot be used")]
    Local(#[from] FolderError),
    #[cfg(not(feature = "sentence-model"))]
    #[error(
        "this program was built without models of sentences: use one that was built with the \
         feature `sentence-model`, or name an `endpoint`"
    )]
    LeftOut,
    #[error("the endpoint of the embeddings cannot be used")]
    Endpoint(#[from] EmbedError),
}

impl EmbedderTemplate {
    pub(crate) fn resolve(
        &self,
        lookup: &dyn SecretLookup,
        found: &mut TemplateResolution,
    ) -> EmbedderSettings {
        let Self { place, prefixes, within, vectors } = self.clone();
        let model = match place {
            EmbedderModelTemplate::Local(folder) => EmbedderModel::Local(folder),
            EmbedderModelTemplate::Endpoint { base, model, key, dimensions } => {
                let key = key.map(|key| key.secret(lookup, found));
                let prefixes = prefixes.clone();
                let settings = EndpointSettings::new(base, model);
                let settings = EndpointSettings { key, dimensions, prefixes, ..settings };
                EmbedderModel::Endpoint(Box::new(settings))
            }
        };
        EmbedderSettings { model, prefixes, within, vectors }
    }
}

impl EmbedderSettings {
    /// Reads the model, which takes a fraction of a second; an endpoint is not asked yet.
    /// `vectors`: where those of tools are kept; its folder must be there.
    pub fn open(self, vectors: Option<PathBuf>) -> Result<Arc<SemanticSearch>, EmbedderError> {
        let embedder: Arc<dyn Embedder> = match self.model {
            #[cfg(feature = "sentence-model")]
            EmbedderModel::Local(folder) => Arc::new(LocalEmbedder::open(&folder, self.prefixes)?),
            #[cfg(not(feature = "sentence-model"))]
            EmbedderModel::Local(_) => return Err(EmbedderError::LeftOut),
            EmbedderModel::Endpoint(settings) => Arc::new(EndpointEmbedder::new(*settings)?),
        };
        let embedder = match vectors {
            Some(file) => CachedEmbedder::with_file(embedder, file),
            None => CachedEmbedder::in_memory(embedder),
        };
        Ok(SemanticSearch::new(Arc::new(embedder), self.within))
    }
}
