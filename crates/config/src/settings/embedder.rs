//! What finds tools by their meaning, as the file says it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolcrib_embed::{Cached, Endpoint, EndpointSettings, FolderError, Local, Prefixes};
use toolcrib_engine::discovery::Meaning;
use toolcrib_search::{EmbedError, Embedder};
use url::Url;

use crate::secrets::template::{Found, Lookup, Template};

/// An embedder whose key stands beside it.
#[derive(Debug, Clone)]
pub(crate) struct Embedding {
    pub(crate) place: Place,
    pub(crate) prefixes: Prefixes,
    pub(crate) within: Duration,
    pub(crate) vectors: Option<PathBuf>,
}

#[derive(Debug, Clone)]
pub(crate) enum Place {
    Local(PathBuf),
    Endpoint { base: Url, model: String, key: Option<Template>, dimensions: Option<usize> },
}

/// An embedder with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedderSettings {
    model: Model,
    prefixes: Prefixes,
    within: Duration,
    /// Where the vectors of tools are kept; `None`: the file does not say.
    pub vectors: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Model {
    Local(PathBuf),
    Endpoint(Box<EndpointSettings>),
}

/// Why an embedder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EmbedderError {
    #[error("the model in the folder cannot be used")]
    Local(#[from] FolderError),
    #[error("the endpoint of the embeddings cannot be used")]
    Endpoint(#[from] EmbedError),
}

impl Embedding {
    pub(crate) fn resolve(&self, lookup: &dyn Lookup, found: &mut Found) -> EmbedderSettings {
        let Self { place, prefixes, within, vectors } = self.clone();
        let model = match place {
            Place::Local(folder) => Model::Local(folder),
            Place::Endpoint { base, model, key, dimensions } => {
                let key = key.map(|key| key.secret(lookup, found));
                let prefixes = prefixes.clone();
                let settings = EndpointSettings::new(base, model);
                let settings = EndpointSettings { key, dimensions, prefixes, ..settings };
                Model::Endpoint(Box::new(settings))
            }
        };
        EmbedderSettings { model, prefixes, within, vectors }
    }
}

impl EmbedderSettings {
    /// Reads the model, which takes a fraction of a second; an endpoint is not asked yet. `vectors`:
    /// where those of tools are kept; its folder must be there.
    pub fn open(self, vectors: Option<PathBuf>) -> Result<Arc<Meaning>, EmbedderError> {
        let embedder: Arc<dyn Embedder> = match self.model {
            Model::Local(folder) => Arc::new(Local::open(&folder, self.prefixes)?),
            Model::Endpoint(settings) => Arc::new(Endpoint::new(*settings)?),
        };
        let embedder = match vectors {
            Some(file) => Cached::with_file(embedder, file),
            None => Cached::in_memory(embedder),
        };
        Ok(Meaning::new(Arc::new(embedder), self.within))
    }
}
