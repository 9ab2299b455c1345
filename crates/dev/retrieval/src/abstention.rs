//! Whether the search keeps silent where nothing serves, and only there.

use std::path::Path;

use serde_json::{Value, json};
use toolcrib_search::SearchQuery;

use crate::RetrievalError;
use crate::bm25::real;
use crate::labelled_set::LabelledSet;

/// In percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Abstention {
    /// Of the questions that no tool of the set can serve.
    pub answered: f32,
    /// Of those that one can.
    pub lost: f32,
}

/// The questions that no tool of a set can serve, written by hand, one a line.
pub(crate) fn unserved(name: &str) -> Result<Vec<String>, RetrievalError> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("unserved").join(format!("{name}.txt"));
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Asks what cannot be served, and every `step`th of what can; `finds` tells whether a search finds
/// anything.
pub fn abstention(
    set: &LabelledSet,
    step: usize,
    finds: &dyn Fn(&SearchQuery<'_>) -> bool,
) -> Result<Abstention, RetrievalError> {
    let answers = |text: &str| finds(&SearchQuery { text, limit: 5, ..SearchQuery::default() });
    let unserved = unserved(&set.name)?;
    let answered = unserved.iter().filter(|text| answers(text)).count();
    let served: Vec<_> = set.questions.iter().step_by(step.max(1)).collect();
    let lost = served.iter().filter(|question| !answers(&question.text)).count();
    let percent = |part: usize, all: usize| 100.0 * real(part) / real(all).max(1.0);
    Ok(Abstention {
        answered: percent(answered, unserved.len()),
        lost: percent(lost, served.len()),
    })
}

impl Abstention {
    pub(crate) fn json(self) -> Value {
        let round = |number: f32| (f64::from(number) * 10.0).round() / 10.0;
        json!({ "answered": round(self.answered), "lost": round(self.lost) })
    }
}
