//! Finding by meaning: the vectors of a snapshot and of a question, by an embedder.
//!
//! Nobody waits for the vectors of tools: while they are made, or if they cannot be, tools are
//! found by their words. A question is waited for a bounded time, and an embedder that fails is
//! left alone for a while.

use std::collections::VecDeque;
use std::error::Error as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};
use toolcrib_core::Catalog;
use toolcrib_search::{EmbedError, EmbedPurpose, Embedder, QueryVectors, Vector, asked};

use super::document::document;

/// How long a question is waited for if nobody says.
pub const PATIENCE: Duration = Duration::from_secs(1);
/// How long an embedder that failed is left alone, at first and at the most.
const FIRST_REST: Duration = Duration::from_secs(10);
const LONGEST_REST: Duration = Duration::from_mins(5);
/// Questions whose vectors are kept.
const MOST_QUESTIONS: usize = 128;

/// What meaning counts for beside words, and how much nearer than the others a tool must be to be
/// found by it alone: as `crates/dev/retrieval` measured it.
const WEIGHT: f32 = 1.0;
const ENOUGH: f32 = 0.3;

/// An embedder with what it was asked.
pub struct SemanticSearch {
    /// No other of this process has it.
    id: u64,
    embedder: Arc<dyn Embedder>,
    patience: Duration,
    questions: Mutex<VecDeque<(String, Arc<[Vector]>)>>,
    rest: Mutex<EmbedderBackoff>,
    trouble: Mutex<Option<String>>,
    /// Held by whoever makes the vectors of a snapshot: the next one needs only what is new.
    making: tokio::sync::Mutex<()>,
}

/// What became of the meaning of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SemanticOutcome {
    /// Tools were found by it and by their words.
    Used,
    /// The vectors of the tools are not made yet: words alone counted.
    Making,
    /// The embedder failed or took too long: words alone counted.
    Failed,
}

/// When an embedder that failed is asked again.
#[derive(Default)]
struct EmbedderBackoff {
    until: Option<Instant>,
    last: Duration,
}

/// The vectors of a snapshot, by the embedder that makes them.
#[derive(Default)]
struct SnapshotVectors(Mutex<VectorState>);

#[derive(Default)]
enum VectorState {
    #[default]
    None,
    Making(u64),
    Made(u64, Arc<[Vector]>),
}

/// Vectors in the making: what breaks off may be begun again.
struct VectorBuildGuard<'a>(&'a SnapshotVectors);

impl Drop for VectorBuildGuard<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.0);
        if matches!(*state, VectorState::Making(_)) {
            *state = VectorState::None;
        }
    }
}

/// What a search goes by beside words.
pub(crate) struct SemanticVectors {
    documents: Arc<[Vector]>,
    question: Arc<[Vector]>,
}

impl SemanticVectors {
    pub(super) fn vectors(&self) -> QueryVectors<'_> {
        let Self { documents, question } = self;
        QueryVectors { documents, question, weight: WEIGHT, enough: ENOUGH }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SemanticSearch {
    /// `patience`: how long a question is waited for.
    pub fn new(embedder: Arc<dyn Embedder>, patience: Duration) -> Arc<Self> {
        static IDS: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            embedder,
            patience,
            questions: Mutex::default(),
            rest: Mutex::default(),
            trouble: Mutex::default(),
            making: tokio::sync::Mutex::default(),
        })
    }

    /// Why tools are found by their words alone, for the operator; `None`: nothing is wrong.
    pub fn trouble(&self) -> Option<String> {
        lock(&self.trouble).clone()
    }

    /// Makes the vectors of a snapshot if they are not there, and says whether they are then.
    pub(crate) async fn read(&self, catalog: &Arc<Catalog>) -> bool {
        let spoken = catalog.memo(|_| SnapshotVectors::default());
        if self.made(&spoken).is_some() {
            return true;
        }
        if !self.begins(&spoken) {
            return false;
        }
        let making = VectorBuildGuard(&spoken);
        let _one = self.making.lock().await;
        let of = Arc::clone(catalog);
        let texts = spawn_blocking(move || {
            of.loaded().iter().map(|tool| document(&tool.spec).spoken()).collect::<Vec<_>>()
        });
        let Ok(texts) = texts.await else { return false };
        let made = self.embedder.embed(EmbedPurpose::Tool, &texts).await;
        let made = made.and_then(|made| counted(made, texts.len()));
        self.ended(made.as_ref().err());
        if let Ok(vectors) = made {
            *lock(&spoken.0) = VectorState::Made(self.id, vectors.into());
        }
        drop(making);
        self.made(&spoken).is_some()
    }

    fn made(&self, spoken: &SnapshotVectors) -> Option<Arc<[Vector]>> {
        match &*lock(&spoken.0) {
            VectorState::Made(by, vectors) if *by == self.id => Some(Arc::clone(vectors)),
            VectorState::None | VectorState::Making(_) | VectorState::Made(..) => None,
        }
    }

    /// Whether the vectors are to be made by whoever asks.
    fn begins(&self, spoken: &SnapshotVectors) -> bool {
        let mut state = lock(&spoken.0);
        if matches!(*state, VectorState::Making(by) if by == self.id) || !self.may_ask() {
            return false;
        }
        *state = VectorState::Making(self.id);
        true
    }

    /// What a question means among the tools of a snapshot, within the bound in time.
    pub(crate) async fn sense(
        self: &Arc<Self>,
        catalog: &Arc<Catalog>,
        text: &str,
    ) -> Result<SemanticVectors, SemanticOutcome> {
        let spoken = catalog.memo(|_| SnapshotVectors::default());
        let Some(documents) = self.made(&spoken) else {
            let (meaning, catalog) = (Arc::clone(self), Arc::clone(catalog));
            // It ends by itself; whoever searches next finds it done.
            drop(tokio::spawn(async move { meaning.read(&catalog).await }));
            let failed = lock(&self.rest).until.is_some();
            return Err(if failed { SemanticOutcome::Failed } else { SemanticOutcome::Making });
        };
        let question = self.question(text).await.ok_or(SemanticOutcome::Failed)?;
        Ok(SemanticVectors { documents, question })
    }

    async fn question(&self, text: &str) -> Option<Arc<[Vector]>> {
        if let Some(known) = self.known(text) {
            return Some(known);
        }
        if !self.may_ask() {
            return None;
        }
        let parts = asked(text);
        let made = timeout(self.patience, self.embedder.embed(EmbedPurpose::Query, &parts)).await;
        let made = made.unwrap_or_else(|_| {
            let message = format!("no vectors of a question came within {:?}", self.patience);
            Err(EmbedError { message, source: None })
        });
        let made = made.and_then(|made| counted(made, parts.len()));
        self.ended(made.as_ref().err());
        let made: Arc<[Vector]> = made.ok()?.into();
        let mut questions = lock(&self.questions);
        if questions.len() >= MOST_QUESTIONS {
            questions.pop_back();
        }
        questions.push_front((text.to_owned(), Arc::clone(&made)));
        Some(made)
    }

    /// The vectors of a question that was asked before, which becomes the latest.
    fn known(&self, text: &str) -> Option<Arc<[Vector]>> {
        let mut questions = lock(&self.questions);
        let at = questions.iter().position(|(known, _)| known == text)?;
        let known = questions.remove(at)?;
        let vectors = Arc::clone(&known.1);
        questions.push_front(known);
        Some(vectors)
    }

    /// Whether the embedder may be asked now; after a rest only one asks, and the others wait for
    /// what comes of it.
    fn may_ask(&self) -> bool {
        let mut rest = lock(&self.rest);
        let now = Instant::now();
        match rest.until {
            Some(until) if now < until => false,
            Some(_) => {
                rest.until = Some(now + rest.last);
                true
            }
            None => true,
        }
    }

    fn ended(&self, error: Option<&EmbedError>) {
        let mut rest = lock(&self.rest);
        *rest = if error.is_some() {
            let last = (rest.last * 2).clamp(FIRST_REST, LONGEST_REST);
            EmbedderBackoff { until: Some(Instant::now() + last), last }
        } else {
            EmbedderBackoff::default()
        };
        *lock(&self.trouble) = error.map(told);
    }
}

/// An error with its causes on one line.
fn told(error: &EmbedError) -> String {
    let mut text = format!("tools are found by their words alone: {error}");
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

fn counted(vectors: Vec<Vector>, texts: usize) -> Result<Vec<Vector>, EmbedError> {
    if vectors.len() == texts {
        return Ok(vectors);
    }
    let message = "the embedder gave another number of vectors than it was given texts".to_owned();
    Err(EmbedError { message, source: None })
}
