//! The sources of a run, and where its answer cites them.

use serde::{Deserialize, Serialize};
use toolcrib_core::{Run, cited_spans};

/// A source of a run under its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReference {
    pub number: u32,
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether the answer cites it.
    #[serde(default)]
    pub cited: bool,
}

impl RunReference {
    /// All sources of a run; those that an answer cites are marked.
    pub(crate) fn all(run: &Run, answer: &str) -> Vec<Self> {
        let sources: Vec<_> = run.sources().collect();
        let is_known = |id: &str| sources.iter().any(|source| source.id == id);
        // Of these the model was told no number, and so its words have none.
        let of_provider: Vec<_> = run.cited().iter().filter(|cited| !is_known(&cited.id)).collect();
        if sources.is_empty() && of_provider.is_empty() {
            return Vec::new();
        }
        let cited = cited_spans(answer);
        let numbered = sources.len();
        let all = sources.into_iter().chain(of_provider).zip(1_u32..).enumerate();
        let all = all.map(|(place, (source, number))| Self {
            number,
            id: source.id.clone(),
            title: source.title.clone(),
            url: source.url.clone(),
            cited: place >= numbered || cited.iter().any(|span| span.number == number),
        });
        all.collect()
    }

    /// What people read of it.
    pub fn label(&self) -> &str {
        if self.title.is_empty() { &self.id } else { &self.title }
    }
}
