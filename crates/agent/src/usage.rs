//! What a model was asked to read and write. Nothing is ever taken for zero that nobody said.

use serde::{Deserialize, Serialize};

/// Tokens of one or more requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    /// Of these, read from a cache of the provider.
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// Of these, thoughts that nobody reads.
    pub reasoning_tokens: u64,
    pub source: UsageSource,
}

/// Who says so. A sum is as good as the weakest of its parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The provider.
    #[default]
    Reported,
    /// Counted here, from what was sent and what came.
    Estimated,
    /// Nobody.
    Unknown,
}

impl Usage {
    /// What was sent and received in bytes, as tokens: about four bytes each.
    pub fn estimated(input_bytes: usize, output_bytes: usize) -> Self {
        Self {
            input_tokens: tokens(input_bytes),
            output_tokens: tokens(output_bytes),
            source: UsageSource::Estimated,
            ..Self::default()
        }
    }

    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    pub fn add(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.source = self.source.max(other.source);
    }
}

/// Tokens of so many bytes, rounded up.
pub(crate) fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
