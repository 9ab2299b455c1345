//! Whether it costs less to show all tools, or a core of them and the means to find the rest.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::json;
use toolcrib_core::{Catalog, Discovery, Exposure, Fingerprint, Listed, Shown};

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

/// The tokens of the tools of a snapshot, by place.
#[derive(Default)]
struct Weights(OnceLock<Vec<usize>>);

/// What was counted in this process, so that a new snapshot counts what is new.
static COUNTED: OnceLock<Mutex<HashMap<Fingerprint, usize>>> = OnceLock::new();
/// Counts that are kept.
const MOST: usize = 200_000;

/// What a tool takes in the prompt of a model, in tokens.
fn weight(tool: &Listed) -> usize {
    let counted = COUNTED.get_or_init(Mutex::default);
    let locked = || counted.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = locked().get(&tool.fingerprint) {
        return *known;
    }
    let spec = &tool.spec;
    let text = if spec.description.is_empty() { &spec.summary } else { &spec.description };
    let definition =
        json!({ "name": spec.name, "description": text, "parameters": spec.input.value() });
    let weight = toolcrib_tokens::count(&definition.to_string());
    let mut counted = locked();
    if counted.len() >= MOST {
        counted.clear();
    }
    counted.insert(tool.fingerprint, weight);
    weight
}

/// What so many tokens of definitions cost over a run.
fn over(tokens: usize, turns: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "no prompt has that many tokens")]
    let tokens = tokens as f64;
    tokens * (1.0 + CACHED * (turns - 1.0))
}

/// Counts the tools of a snapshot, if they are not counted yet.
pub(crate) fn prepare(catalog: &Catalog) {
    let _ = weights(catalog).0.get_or_init(|| catalog.loaded().iter().map(weight).collect());
}

fn weights(catalog: &Catalog) -> Arc<Weights> {
    catalog.memo(|_| Weights::default())
}

/// `visible`: the places of the tools that are, and whether each is of the core.
pub(super) fn weigh(
    catalog: &Catalog,
    visible: impl Iterator<Item = (usize, bool)>,
    defers: bool,
) -> Shown {
    let weights = weights(catalog);
    let weights = weights.0.get_or_init(|| catalog.loaded().iter().map(weight).collect());
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
        format!("all tools are {all} tokens, and a core with a search is {shown}")
    } else {
        format!("all tools are {all} tokens, too few to make a model search")
    };
    Shown { mode, rest, because: Cow::Owned(because) }
}
