//! Texts of one tenant, each kept once.

use std::collections::HashMap;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct SharedTexts(HashMap<Arc<str>, TextUses>);

/// How often a text stands in a run.
#[derive(Default)]
struct TextUses {
    all: usize,
    /// In those that have ended.
    of_ended: usize,
}

impl SharedTexts {
    /// The text that is equal to this one.
    pub(super) fn share(&mut self, text: String) -> Arc<str> {
        let known = self.0.get_key_value(&*text).map(|(known, _)| Arc::clone(known));
        let shared = known.unwrap_or_else(|| Arc::from(text));
        self.0.entry(Arc::clone(&shared)).or_default().all += 1;
        shared
    }

    /// A run has ended in which the text stands; the bytes by which those of such runs grow.
    pub(super) fn end(&mut self, text: &str) -> usize {
        let Some(uses) = self.0.get_mut(text) else { return 0 };
        uses.of_ended += 1;
        if uses.of_ended == 1 { text.len() } else { 0 }
    }

    /// The text stands no more in a run that has not ended.
    pub(super) fn release(&mut self, text: &str) {
        let Some(uses) = self.0.get_mut(text) else { return };
        uses.all -= 1;
        if uses.all == 0 {
            self.0.remove(text);
        }
    }

    /// The same of a run that has ended; the bytes by which those of such runs shrink.
    pub(super) fn release_ended(&mut self, text: &str) -> usize {
        let Some(uses) = self.0.get_mut(text) else { return 0 };
        uses.of_ended -= 1;
        let freed = if uses.of_ended == 0 { text.len() } else { 0 };
        self.release(text);
        freed
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
