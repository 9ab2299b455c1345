//! What a person, or a log, is told while trajectories are under way.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_agent::Trajectory;

use crate::cli::output::Output;

/// Where nobody watches, a line is written this often.
const QUIET: Duration = Duration::from_secs(10);

/// Counts of a rollout.
pub(super) struct Progress {
    begun: Instant,
    told: Instant,
    /// All samples, with those that were done before.
    all: usize,
    before: usize,
    pub(super) done: usize,
    stops: BTreeMap<String, usize>,
    turns: u64,
    calls: u64,
    tokens: u64,
    rewards: Vec<f64>,
    unjudged: usize,
    drifted: usize,
    is_watched: bool,
}

impl Progress {
    pub(super) fn new(all: usize, before: usize, output: &Output) -> Self {
        let now = Instant::now();
        Self {
            begun: now,
            told: now,
            all,
            before,
            done: 0,
            stops: BTreeMap::new(),
            turns: 0,
            calls: 0,
            tokens: 0,
            rewards: Vec::new(),
            unjudged: 0,
            drifted: 0,
            is_watched: output.is_watched(),
        }
    }

    pub(super) fn ended(&mut self, one: &Trajectory) {
        self.done += 1;
        *self.stops.entry(one.stop.clone()).or_default() += 1;
        self.turns += u64::from(one.turns);
        self.calls += u64::from(one.calls);
        self.tokens = self.tokens.saturating_add(one.usage.total());
        self.drifted += usize::from(!one.drift.is_empty());
        self.unjudged += usize::from(one.reward_fault.is_some());
        self.rewards.extend(one.reward);
    }

    pub(super) fn faults(&self) -> usize {
        self.stops.get("fault").copied().unwrap_or(0)
    }

    /// How often it is worth a look.
    pub(super) fn pace(&self) -> Duration {
        if self.is_watched { Duration::from_millis(250) } else { Duration::from_secs(1) }
    }

    pub(super) fn tell(&mut self, live: usize, output: &Output) {
        if self.is_watched {
            output.status(&self.line(live));
        } else if self.told.elapsed() >= QUIET {
            self.told = Instant::now();
            output.note(&self.line(live));
        }
    }

    /// Leaves the line free for what is told next.
    pub(super) fn clear(&self, output: &Output) {
        if self.is_watched {
            output.end_status();
        }
    }

    fn line(&self, live: usize) -> String {
        let seconds = self.begun.elapsed().as_secs_f64().max(0.001);
        let rate = number(self.done) / seconds;
        let left = self.all.saturating_sub(self.before).saturating_sub(self.done);
        let eta = if self.done == 0 { "?".to_owned() } else { clock(number(left) / rate) };
        let stops: Vec<_> =
            self.stops.iter().map(|(stop, count)| format!("{stop} {count}")).collect();
        format!(
            "{}/{} done, {live} under way, {rate:.1}/s, {eta} left; {}",
            self.before + self.done,
            self.all,
            stops.join(", ")
        )
    }

    /// All of it, once it is over.
    pub(super) fn summary(&self) -> Value {
        let seconds = self.begun.elapsed().as_secs_f64();
        let mean = self.rewards.iter().sum::<f64>() / number(self.rewards.len());
        json!({
            "samples": self.all,
            "done_before": self.before,
            "done": self.done,
            "left": self.all.saturating_sub(self.before).saturating_sub(self.done),
            "stops": self.stops,
            "turns": self.turns,
            "calls": self.calls,
            "tokens": self.tokens,
            "drifted": self.drifted,
            "judged": self.rewards.len(),
            "unjudged": self.unjudged,
            "mean_reward": mean.is_finite().then_some(mean),
            "seconds": (seconds * 1000.0).round() / 1000.0,
        })
    }
}

fn clock(seconds: f64) -> String {
    let whole = seconds.min(1e7).round();
    if whole < 60.0 { format!("{whole} s") } else { format!("{} min", (whole / 60.0).ceil()) }
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn number(count: usize) -> f64 {
    count as f64
}
