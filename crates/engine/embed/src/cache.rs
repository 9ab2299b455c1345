//! Vectors of tools that are made once and kept, also over a restart.

mod file;
mod vectors;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};
use toolcrib_search::{EmbedError, EmbedPurpose, Embedder, Vector};

#[cfg(feature = "fuzz")]
pub(crate) use self::file::parse;
use self::vectors::{VectorCache, VectorKey};
use crate::EmbedFuture;

/// Texts that are made into vectors before they are kept: what is lost when a start breaks off.
const PORTION: usize = 256;

/// An embedder that remembers the vectors of tools, in memory and in a file.
///
/// A vector is found by what it was made of: the name of the embedder and the text. The file holds
/// those of one embedder; another one's, and one that is damaged, are made anew.
pub struct CachedEmbedder {
    inner: Arc<dyn Embedder>,
    file: Option<PathBuf>,
    kept: Mutex<VectorCache>,
    /// Held by whoever writes the file.
    writing: tokio::sync::Mutex<()>,
    trouble: Mutex<Option<String>>,
}

impl CachedEmbedder {
    /// Remembers in memory alone.
    pub fn in_memory(inner: Arc<dyn Embedder>) -> Self {
        Self {
            inner,
            file: None,
            kept: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
            trouble: Mutex::default(),
        }
    }

    /// Remembers in a file too, which is read now; its folder must be there.
    ///
    /// A file that cannot be used is no error: [`trouble`](Self::trouble) tells of it, and it is
    /// written anew.
    pub fn with_file(inner: Arc<dyn Embedder>, file: PathBuf) -> Self {
        let read = file::read(&file, inner.name());
        let cached = Self { file: Some(file), ..Self::in_memory(inner) };
        match read {
            Ok(kept) => *cached.kept() = kept,
            Err(trouble) => *cached.said() = Some(trouble),
        }
        cached
    }

    /// Why vectors could not be read or written, for the operator.
    pub fn trouble(&self) -> Option<String> {
        self.said().clone()
    }

    async fn tools(&self, texts: &[String]) -> Result<Vec<Vector>, EmbedError> {
        let keys: Vec<VectorKey> = texts.iter().map(|text| self.key(text)).collect();
        let missing = self.kept().missing(&keys);
        for portion in missing.chunks(PORTION) {
            let texts = portion.iter().filter_map(|at| texts.get(*at)).cloned();
            let texts: Vec<String> = texts.collect();
            let made = self.inner.embed(EmbedPurpose::Tool, &texts).await?;
            if made.len() != texts.len() {
                return Err(odd());
            }
            let grown = {
                let mut kept = self.kept();
                let keys = portion.iter().filter_map(|at| keys.get(*at)).copied();
                kept.insert(keys.zip(made));
                kept.is_worth_writing()
            };
            if grown {
                self.write().await;
            }
        }
        let found = self.kept().take(&keys);
        if !missing.is_empty() {
            self.write().await;
        }
        found.ok_or_else(odd)
    }

    /// Writes all that is kept. A failure is noted: the vectors are there all the same.
    async fn write(&self) {
        let Some(file) = self.file.clone() else { return };
        let _writing = self.writing.lock().await;
        let (name, kept) = (self.inner.name().to_owned(), self.kept().written());
        let written = tokio::task::spawn_blocking(move || file::write(&file, &name, &kept)).await;
        *self.said() = match written {
            Ok(written) => written.err(),
            Err(cause) => Some(format!("the writing of vectors broke off: {cause}")),
        };
    }

    fn key(&self, text: &str) -> VectorKey {
        let name = self.inner.name();
        let mut digest = Sha256::new();
        // With its length before it, no name and text are another name and text.
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name);
        digest.update(text);
        digest.finalize().into()
    }

    fn kept(&self) -> MutexGuard<'_, VectorCache> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn said(&self) -> MutexGuard<'_, Option<String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn odd() -> EmbedError {
    crate::refused("the embedder gave another number of vectors than it was given texts")
}

impl Embedder for CachedEmbedder {
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// Questions go straight through: few are asked twice.
    fn embed<'a>(&'a self, purpose: EmbedPurpose, texts: &'a [String]) -> EmbedFuture<'a> {
        match purpose {
            EmbedPurpose::Tool => Box::pin(self.tools(texts)),
            EmbedPurpose::Query => self.inner.embed(purpose, texts),
        }
    }
}
