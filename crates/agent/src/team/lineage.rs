//! Who asked whom for what, from the first run of a tree down to one.

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_core::Fingerprint;

use super::wish::DelegatedTask;

/// The way from the first run of a tree to one; of the first it is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Lineage(Vec<LineageStep>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LineageStep {
    /// Of its thread, unique among those of its parent: `billing-1`.
    name: String,
    task: Fingerprint,
}

impl Lineage {
    pub(crate) fn depth(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_first(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this task of this specialist is asked for further up.
    pub(crate) fn has(&self, task: Fingerprint) -> bool {
        self.0.iter().any(|step| step.task == task)
    }

    /// The way one further.
    pub(crate) fn to(&self, name: &str, task: Fingerprint) -> Self {
        let mut steps = self.0.clone();
        steps.push(LineageStep { name: name.to_owned(), task });
        Self(steps)
    }

    /// The names on the way: `billing-1/search-2`.
    pub(crate) fn path(&self) -> String {
        let names: Vec<_> = self.0.iter().map(|step| step.name.as_str()).collect();
        names.join("/")
    }
}

/// What tells equal tasks: neither case, nor spaces, nor marks count.
pub(crate) fn task_print(specialist: &str, task: &DelegatedTask) -> Fingerprint {
    let plain = |text: &str| {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
        words.collect::<Vec<_>>().join(" ")
    };
    let expected = task.expected.as_deref().map(plain);
    Fingerprint::of(&json!([specialist, plain(&task.task), expected, task.inputs, task.thread]))
}
