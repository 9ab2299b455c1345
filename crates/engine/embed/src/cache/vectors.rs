//! Vectors by what they were made of, and which of them are still asked for.

use std::collections::{HashMap, HashSet};

use toolcrib_search::Vector;

/// The digest of an embedder's name and a text.
pub(crate) type VectorKey = [u8; 32];

/// Vectors that are kept at most; beyond it, those go that were not asked for lately.
const MOST: usize = 200_000;
/// New vectors for which a file is written at once.
const WORTH: usize = 512;

#[derive(Debug, Default)]
pub(crate) struct VectorCache {
    kept: HashMap<VectorKey, CachedVector>,
    /// Grows with every list of tools.
    round: u64,
    /// How many came since they were last written.
    new: usize,
}

#[derive(Debug)]
struct CachedVector {
    vector: Vector,
    /// The round in which it was last asked for.
    round: u64,
}

impl VectorCache {
    pub(crate) fn of(vectors: impl IntoIterator<Item = (VectorKey, Vector)>) -> Self {
        let kept = vectors.into_iter().take(MOST);
        let kept = kept.map(|(key, vector)| (key, CachedVector { vector, round: 0 }));
        Self { kept: kept.collect(), round: 0, new: 0 }
    }

    /// Which of these are not there, each once, by their place.
    pub(crate) fn missing(&mut self, keys: &[VectorKey]) -> Vec<usize> {
        self.round += 1;
        let mut seen = HashSet::new();
        let mut missing = Vec::new();
        for (at, key) in keys.iter().enumerate() {
            match self.kept.get_mut(key) {
                Some(kept) => kept.round = self.round,
                None if seen.insert(key) => missing.push(at),
                None => {}
            }
        }
        missing
    }

    pub(crate) fn insert(&mut self, vectors: impl IntoIterator<Item = (VectorKey, Vector)>) {
        for (key, vector) in vectors {
            self.new += 1;
            self.kept.insert(key, CachedVector { vector, round: self.round });
        }
    }

    /// So many are new that a file should be written before more are made: each file is half as
    /// large again as the one before, and so all of them together cost little.
    pub(crate) fn is_worth_writing(&self) -> bool {
        self.new >= WORTH.max(self.kept.len() / 3)
    }

    /// The vectors of these keys, in order.
    pub(crate) fn take(&mut self, keys: &[VectorKey]) -> Option<Vec<Vector>> {
        let found = keys.iter().map(|key| self.kept.get(key).map(|kept| kept.vector.clone()));
        let found = found.collect();
        if self.kept.len() > MOST {
            let round = self.round;
            self.kept.retain(|_, kept| kept.round == round);
        }
        found
    }

    /// All of them, in an order that does not depend on chance.
    pub(crate) fn written(&mut self) -> Vec<(VectorKey, Vector)> {
        self.new = 0;
        let all = self.kept.iter().map(|(key, kept)| (*key, kept.vector.clone()));
        let mut all: Vec<(VectorKey, Vector)> = all.collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }
}
