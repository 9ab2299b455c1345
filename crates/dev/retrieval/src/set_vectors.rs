//! What a model adds: the vectors of a set, and the search with them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::HashMap;
use tokio::runtime::{Builder, Runtime};
use toolcrib_embed::{CachedEmbedder, LocalEmbedder, Prefixes};
use toolcrib_search::{
    EmbedPurpose, Embedder as _, QueryVectors, SearchIndex, SearchQuery, Vector, asked,
};

use crate::RetrievalError;
use crate::abstention::unserved;
use crate::labelled_set::{LabelledSet, LabelledTool};

/// As the engine has them.
const WEIGHT: f32 = 1.0;
const ENOUGH: f32 = 0.3;

/// A model, and what it was asked before.
pub struct EmbeddingModel {
    runtime: Runtime,
    embedder: CachedEmbedder,
}

impl EmbeddingModel {
    /// The model in a folder; its vectors are kept in a file, if one is named.
    pub fn open(folder: &Path, file: Option<PathBuf>) -> Result<Self, RetrievalError> {
        let local = Arc::new(LocalEmbedder::open(folder, Prefixes::default())?);
        let embedder = match file {
            Some(file) => CachedEmbedder::with_file(local, file),
            None => CachedEmbedder::in_memory(local),
        };
        Ok(Self { runtime: Builder::new_multi_thread().build()?, embedder })
    }

    /// Without prefixes a question is embedded as a tool is, and those of tools are kept.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, RetrievalError> {
        Ok(self.runtime.block_on(self.embedder.embed(EmbedPurpose::Tool, texts))?)
    }
}

/// The vectors of the tools of a set, and of all that it is asked.
pub(crate) struct SetVectors {
    documents: Vec<Vector>,
    questions: HashMap<String, Vec<Vector>>,
}

impl SetVectors {
    pub(crate) fn of(
        set: &LabelledSet,
        step: usize,
        model: &EmbeddingModel,
    ) -> Result<Self, RetrievalError> {
        let spoken: Vec<String> = set.tools.iter().map(|tool| tool.document().spoken()).collect();
        let questions = set.questions.iter().step_by(step.max(1));
        let mut questions: Vec<String> = questions.map(|question| question.text.clone()).collect();
        questions.extend(unserved(&set.name)?);
        let parts: Vec<Vec<String>> = questions.iter().map(|text| asked(text)).collect();
        let mut vectors = model.embed(&parts.concat())?.into_iter();
        let own = |parts: &Vec<String>| vectors.by_ref().take(parts.len()).collect();
        let vectors: Vec<Vec<Vector>> = parts.iter().map(own).collect();
        let questions = questions.into_iter().zip(vectors).collect();
        Ok(Self { documents: model.embed(&spoken)?, questions })
    }

    /// What the model alone would answer: the best ten by their nearness to the question.
    pub(crate) fn nearest(&self, tools: &[LabelledTool], text: &str) -> Vec<usize> {
        let Some(question) = self.of_question(text).first() else { return Vec::new() };
        let product = |own: &Vector| own.iter().zip(question.iter()).map(|(a, b)| a * b).sum();
        let near = self.documents.iter().map(product).enumerate();
        let mut near: Vec<(usize, f32)> = near.take(tools.len()).collect();
        near.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        near.into_iter().take(10).map(|(tool, _)| tool).collect()
    }

    /// What words and meaning find together.
    pub(crate) fn search(&self, index: &SearchIndex, query: &SearchQuery<'_>) -> Vec<usize> {
        let vectors = QueryVectors {
            documents: &self.documents,
            question: self.of_question(query.text),
            weight: WEIGHT,
            enough: ENOUGH,
        };
        let found = index.search_with(query, &vectors, &|_| true);
        found.hits.into_iter().map(|hit| hit.document).collect()
    }

    fn of_question(&self, text: &str) -> &[Vector] {
        self.questions.get(text).map(Vec::as_slice).unwrap_or_default()
    }
}
