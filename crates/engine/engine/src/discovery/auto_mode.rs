//! Whether it costs less to show all tools, or a core of them and the means to find the rest.
//!
//! To count the tokens of a thousand tools takes a good part of a second, so nobody who asks waits
//! for it: a snapshot is counted beside what goes on, and until that is done its tools are taken to
//! be as long as their bytes say.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::json;
use tokio::runtime::Handle;
use toolcrib_core::{
    Catalog, CatalogTool, Discovery, Exposure, Fingerprint, Presentation, ToolSpec,
};

/// Turns of a model in one task. It is a constant: the way of showing must not change within a run,
/// or no prompt cache would hold.
const TURNS: f64 = 6.0;
/// What a token costs that the provider has cached, in tokens that it has not.
const CACHED: f64 = 0.1;
/// What the search and its tools take in every turn.
const OURS: usize = 700;
/// The same where the model API has them.
const THEIRS: usize = 100;
/// What one answer of the search and the definitions that are read add to a conversation.
const FOUND: usize = 1_200;
/// Turns that finding adds.
const FINDING: f64 = 2.0;
/// Tokens that have to be saved in a turn, before a model is made to search: it costs time, and
/// what is searched for may not be found.
const WORTH: usize = 4_000;

/// Bytes of a token, in English and in JSON alike.
const BYTES: usize = 4;
/// Bytes of a definition beside the name, the text and the schema.
const FRAME: usize = 44;

/// The tokens of the tools of a snapshot, by place.
#[derive(Default)]
struct TokenCounts {
    counted: OnceLock<Vec<usize>>,
    /// What was known of them when it was first asked.
    rough: OnceLock<Vec<usize>>,
    /// Whether somebody counts them.
    is_begun: AtomicBool,
}

/// What was counted in this process, so that a new snapshot counts what is new.
static COUNTED: OnceLock<Mutex<HashMap<Fingerprint, usize>>> = OnceLock::new();
/// Counts that are kept.
const MOST: usize = 200_000;

fn counted() -> MutexGuard<'static, HashMap<Fingerprint, usize>> {
    COUNTED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a tool takes in the prompt of a model, in tokens.
fn weight(fingerprint: Fingerprint, spec: &ToolSpec) -> usize {
    if let Some(known) = counted().get(&fingerprint) {
        return *known;
    }
    let definition =
        json!({ "name": spec.name, "description": text(spec), "parameters": spec.input.value() });
    let weight = toolcrib_tokens::count(&definition.to_string());
    let mut counted = counted();
    if counted.len() >= MOST {
        counted.clear();
    }
    counted.insert(fingerprint, weight);
    weight
}

/// What the definition of a tool takes in a prompt.
pub(crate) fn prompt_tokens(tool: &CatalogTool) -> usize {
    weight(tool.fingerprint, &tool.spec)
}

fn text(spec: &ToolSpec) -> &str {
    if spec.description.is_empty() { &spec.summary } else { &spec.description }
}

/// The same by its bytes; of a schema too deep for its text nothing is known.
fn rough_weight(spec: &ToolSpec) -> usize {
    let schema = spec.input.text().map_or(0, str::len);
    (spec.name.as_str().len() + text(spec).len() + schema + FRAME) / BYTES
}

/// What so many tokens of definitions cost over a run.
fn over(tokens: usize, turns: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "no prompt has that many tokens")]
    let tokens = tokens as f64;
    tokens * (1.0 + CACHED * (turns - 1.0))
}

/// Counts the tools of a snapshot, if they are not counted yet.
pub(crate) fn prepare(catalog: &Catalog) {
    let count = |tool: &CatalogTool| weight(tool.fingerprint, &tool.spec);
    weights(catalog).counted.get_or_init(|| catalog.loaded().iter().map(count).collect());
}

/// Has them counted beside what goes on. Without a runtime there is nobody to do it.
fn prepare_beside(catalog: &Catalog, weights: &Arc<TokenCounts>) {
    let Ok(runtime) = Handle::try_current() else { return };
    if weights.is_begun.swap(true, Ordering::AcqRel) {
        return;
    }
    let tools = catalog.loaded().iter().map(|tool| (tool.fingerprint, Arc::clone(&tool.spec)));
    let tools: Vec<_> = tools.collect();
    let weights = Arc::clone(weights);
    drop(runtime.spawn_blocking(move || {
        let mut counts = Vec::with_capacity(tools.len());
        for (fingerprint, spec) in &tools {
            // Nobody else holds it: the snapshot has gone.
            if Arc::strong_count(&weights) == 1 {
                return;
            }
            counts.push(weight(*fingerprint, spec));
        }
        // Whoever was faster counted the same.
        let _ = weights.counted.set(counts);
    }));
}

/// What is known of the tools without counting any.
fn rough(catalog: &Catalog) -> Vec<usize> {
    let counted = counted();
    let tools = catalog.loaded().iter();
    tools
        .map(|tool| {
            let known = counted.get(&tool.fingerprint).copied();
            known.unwrap_or_else(|| rough_weight(&tool.spec))
        })
        .collect()
}

/// What the definitions of the tools of a snapshot take in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionTokens {
    /// Of each tool that came from a source, in the order of the snapshot.
    pub tokens: Vec<usize>,
    /// Whether they were counted, and not guessed by the bytes.
    pub counted: bool,
}

/// What the definitions of the tools take, without a wait: what is not counted yet is guessed, and
/// counted beside what goes on.
pub fn definition_tokens(catalog: &Catalog) -> DefinitionTokens {
    let weights = weights(catalog);
    if let Some(counted) = weights.counted.get() {
        return DefinitionTokens { tokens: counted.clone(), counted: true };
    }
    prepare_beside(catalog, &weights);
    let tokens = weights.rough.get_or_init(|| rough(catalog)).clone();
    DefinitionTokens { tokens, counted: false }
}

fn weights(catalog: &Catalog) -> Arc<TokenCounts> {
    catalog.memo(|_| TokenCounts::default())
}

/// `visible`: the places of the tools that are, and whether each is of the core.
pub(super) fn weigh(
    catalog: &Catalog,
    visible: impl Iterator<Item = (usize, bool)>,
    defers: bool,
) -> Presentation {
    let weights = weights(catalog);
    let (weights, some) = if let Some(counted) = weights.counted.get() {
        (counted, "")
    } else {
        prepare_beside(catalog, &weights);
        (weights.rough.get_or_init(|| rough(catalog)), "some ")
    };
    let (mut all, mut core) = (0, 0);
    for (place, is_core) in visible {
        let weight = weights.get(place).copied().unwrap_or_default();
        all += weight;
        core += if is_core { weight } else { 0 };
    }
    let (beside, turns) = if defers { (THEIRS, TURNS) } else { (OURS, TURNS + FINDING) };
    let lazy = over(core + beside, turns) + over(FOUND, TURNS);
    let saves = all.saturating_sub(core + beside) >= WORTH && lazy < over(all, TURNS);
    let (mode, rest) = match (saves, defers) {
        (false, _) => (Discovery::Direct, Exposure::Listed),
        (true, true) => (Discovery::Lazy, Exposure::Deferred),
        (true, false) => (Discovery::Lazy, Exposure::Hidden),
    };
    let shown = core + beside;
    let because = if saves {
        format!("all tools are {some}{all} tokens, and a core with a search is {some}{shown}")
    } else {
        format!("all tools are {some}{all} tokens, too few to make a model search")
    };
    Presentation { mode, rest, because: Cow::Owned(because) }
}
