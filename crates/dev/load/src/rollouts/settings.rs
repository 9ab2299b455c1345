//! How much is measured.

use std::time::Duration;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct RolloutSettings {
    /// All of them at once.
    pub trajectories: usize,
    /// Of each: all but the last with a call.
    pub turns: usize,
    /// What the model takes for a turn, at least and at most.
    pub model: [Duration; 2],
    /// What a tool takes.
    pub tool: [Duration; 2],
}

impl Default for RolloutSettings {
    fn default() -> Self {
        let [model, tool] =
            [[1_000, 2_000], [20, 200]].map(|range| range.map(Duration::from_millis));
        Self { trajectories: 2_000, turns: 6, model, tool }
    }
}
