//! What tokens cost.

use serde::{Deserialize, Serialize};

/// Money for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub input: f64,
    pub output: f64,
}

impl Price {
    /// What these tokens cost.
    #[expect(clippy::cast_precision_loss, reason = "no run has 2^52 tokens")]
    pub fn of(&self, input: u64, output: u64) -> f64 {
        (input as f64 * self.input + output as f64 * self.output) / 1e6
    }
}
