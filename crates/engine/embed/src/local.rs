//! A sentence-transformer that runs in this process, on its processor.

mod encoder;
mod folder;
mod math;
mod matrix;
mod normalizer;
mod settings;
mod tokenizer;
mod weights;

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Semaphore;
use toolcrib_search::{EmbedError, EmbedPurpose, Embedder, Vector};

use self::encoder::Encoder;
pub use self::folder::FolderError;
use self::folder::ModelFolder;
use self::settings::ModelSettings;
pub(crate) use self::tokenizer::Tokenizer;
use self::weights::WeightsFile;
#[cfg(feature = "fuzz")]
pub(crate) use self::weights::{list_of, place_of};
use crate::prefixes::Prefixes;
use crate::{EmbedFuture, failed};

/// Largest `tokenizer.json`, in bytes: the words of a hundred languages take some 20 MiB.
const LARGEST_TOKENIZER: u64 = 64 * 1024 * 1024;
/// Tokens of one piece of work: enough to make good use of the processor, and few enough that
/// whoever waits for a place waits a fraction of a second.
const PIECE: usize = 512;

/// A model out of a folder as sentence-transformers write it: BERT with a `WordPiece` tokenizer.
///
/// It runs on threads for blocking work, one text of tools at a time and beside them one of queries
/// for each processor; a text's vector does not depend on the others it came with.
#[derive(Clone)]
pub struct LocalEmbedder {
    shared: Arc<LocalInner>,
}

struct LocalInner {
    name: String,
    prefixes: Prefixes,
    model: Arc<BertModel>,
    tools: Arc<Semaphore>,
    queries: Arc<Semaphore>,
}

/// What makes a vector of a text.
#[derive(Debug)]
struct BertModel {
    tokenizer: Tokenizer,
    encoder: Encoder,
    /// Tokens of a text that are read.
    longest: usize,
}

impl LocalEmbedder {
    /// Reads a model, which takes a fraction of a second and as much memory as its file.
    ///
    /// Nothing is fetched: what the folder lacks is an error that names it.
    pub fn open(path: &Path, prefixes: Prefixes) -> Result<Self, FolderError> {
        let mut folder = ModelFolder::new(path);
        let settings = ModelSettings::read(&mut folder)?;
        let tokenizer = folder.needed_bytes("tokenizer.json", LARGEST_TOKENIZER)?;
        let tokenizer = Tokenizer::read(&tokenizer, settings.shape.words);
        let mut tokenizer = tokenizer.map_err(|fault| fault.of(folder.file("tokenizer.json")))?;
        if settings.lowercase {
            tokenizer.lowercase();
        }
        let encoder = Encoder::read(&settings, &mut WeightsFile::open(&mut folder)?)?;
        folder.note(&prefixes.bytes());
        let title = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{title} {} {}", folder.fingerprint(), settings.shape.width);
        let model = Arc::new(BertModel { tokenizer, encoder, longest: settings.longest });
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let queries = Arc::new(Semaphore::new(processors));
        let tools = Arc::new(Semaphore::new(1));
        Ok(Self { shared: Arc::new(LocalInner { name, prefixes, model, tools, queries }) })
    }

    async fn vectors(
        &self,
        purpose: EmbedPurpose,
        texts: &[String],
    ) -> Result<Vec<Vector>, EmbedError> {
        let LocalInner { prefixes, model, .. } = &*self.shared;
        let places = match purpose {
            EmbedPurpose::Tool => &self.shared.tools,
            EmbedPurpose::Query => &self.shared.queries,
        };
        let mut vectors = Vec::with_capacity(texts.len());
        let mut waiting = texts;
        while !waiting.is_empty() {
            let place = Arc::clone(places).acquire_owned().await;
            let place = place.map_err(|cause| failed("the local model was closed", cause))?;
            // A token has a byte at least, and English four.
            let mut bytes = 0;
            let fits = |text: &&String| {
                bytes += text.len().clamp(1, model.longest * 4);
                bytes <= PIECE * 4
            };
            let count = waiting.iter().take_while(fits).count().max(1);
            let (piece, rest) = waiting.split_at_checked(count).unwrap_or((waiting, &[]));
            waiting = rest;
            let piece: Vec<String> =
                piece.iter().map(|text| prefixes.before(purpose, text)).collect();
            let model = Arc::clone(model);
            let done = tokio::task::spawn_blocking(move || {
                let vectors = model.run(&piece);
                // Given back when the work is done, whether or not somebody still waits for it.
                drop(place);
                vectors
            });
            let done = done.await.map_err(|cause| failed("the local model broke off", cause))?;
            vectors.extend(done);
        }
        Ok(vectors)
    }
}

impl BertModel {
    fn run(&self, texts: &[String]) -> Vec<Vector> {
        let tokens = |text: &String| self.tokenizer.encode(text, self.longest);
        let tokens: Vec<Vec<u32>> = texts.iter().map(tokens).collect();
        self.encoder.run(&tokens).into_iter().map(Vector::from).collect()
    }
}

impl Embedder for LocalEmbedder {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn embed<'a>(&'a self, purpose: EmbedPurpose, texts: &'a [String]) -> EmbedFuture<'a> {
        Box::pin(self.vectors(purpose, texts))
    }
}
