//! The end of a call or of a key that the file does not have yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::rows::calls::CallEnd;
use crate::rows::keys::{IdempotencyKey, KeySettlement};

/// Bytes of an answer that waits; a larger one is remembered as one that is lost.
const HEAVY: usize = 256 * 1024;

/// An end that is to be written.
pub enum UnwrittenEnd {
    Call { key: String, end: CallEnd, _unknown: Option<UnknownEndGuard> },
    IdempotencyKey { key: IdempotencyKey, settled: KeySettlement },
}

impl UnwrittenEnd {
    /// Itself, or without its answer if that is larger than `HEAVY`.
    #[must_use]
    pub fn lightened(self) -> Self {
        match self {
            Self::IdempotencyKey { key, settled } if settled.size() > HEAVY => {
                Self::IdempotencyKey { key, settled: KeySettlement::Lost }
            }
            light @ (Self::IdempotencyKey { .. } | Self::Call { .. }) => light,
        }
    }

    /// The same once more, for a server that may lose it; without its answer if that is larger than
    /// `HEAVY`.
    #[must_use]
    pub fn again(&self) -> Self {
        match self {
            Self::Call { key, end, .. } => {
                Self::Call { key: key.clone(), end: end.clone(), _unknown: None }
            }
            Self::IdempotencyKey { key, settled } => {
                let is_heavy = settled.size() > HEAVY;
                let settled = if is_heavy { KeySettlement::Lost } else { settled.clone() };
                Self::IdempotencyKey { key: key.clone(), settled }
            }
        }
    }

    /// The same without its answer, if it has one.
    pub fn lost(&self) -> Option<Self> {
        match self {
            Self::IdempotencyKey { key, settled } if settled.size() > 0 => {
                Some(Self::IdempotencyKey { key: key.clone(), settled: KeySettlement::Lost })
            }
            Self::IdempotencyKey { .. } | Self::Call { .. } => None,
        }
    }
}

/// Counts an end that nobody knows for as long as the file does not have it.
pub struct UnknownEndGuard(Arc<AtomicUsize>);

impl UnknownEndGuard {
    pub fn of(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(count))
    }
}

impl Drop for UnknownEndGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
