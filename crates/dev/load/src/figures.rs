//! What a run of calls comes to.

use std::time::Duration;

use serde_json::{Value, json};

/// The figures of one run, or of several put together.
#[derive(Debug, Clone, Default)]
pub struct LoadFigures {
    /// How long each answered call took, in any order.
    times: Vec<Duration>,
    pub errors: usize,
    /// The first of them.
    pub error: Option<String>,
    lasted: Duration,
    /// What the measured program and its children worked.
    worked: Duration,
    rss: u64,
}

impl LoadFigures {
    pub(crate) fn new(times: Vec<Duration>, lasted: Duration) -> Self {
        Self { times, lasted, ..Self::default() }
    }

    /// `worked`: processor time of the measured program in the run; `rss` in bytes at its end.
    pub(crate) fn with_cost(mut self, worked: Duration, rss: u64) -> Self {
        (self.worked, self.rss) = (worked, rss);
        self
    }

    pub(crate) fn fail(&mut self, error: &crate::LoadError) {
        self.errors += 1;
        self.error.get_or_insert_with(|| error.to_string());
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        self.errors += other.errors;
        self.error = self.error.take().or(other.error);
        self.lasted += other.lasted;
        self.worked += other.worked;
        self.rss = self.rss.max(other.rss);
        self.times.sort_unstable();
    }

    pub fn calls_per_second(&self) -> f64 {
        count(self.times.len()) / self.lasted.as_secs_f64().max(1e-9)
    }

    /// The time that this part of the calls keeps under, in µs.
    pub fn within(&self, percent: usize) -> f64 {
        let last = self.times.len().saturating_sub(1);
        self.times.get(last * percent / 100).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    }

    /// Processor time of one call, in µs.
    pub fn work_per_call(&self) -> f64 {
        self.worked.as_secs_f64() * 1e6 / count(self.times.len()).max(1.0)
    }

    pub fn to_json(&self) -> Value {
        json!({
            "calls_per_second": round(self.calls_per_second()),
            "p50_us": round(self.within(50)),
            "p90_us": round(self.within(90)),
            "p99_us": round(self.within(99)),
            "errors": self.errors,
            "error": self.error,
            "processor_us_per_call": round(self.work_per_call()),
            "rss_mib": mib(self.rss),
        })
    }
}

pub(crate) fn mib(bytes: u64) -> f64 {
    round(precise(bytes) / 1024.0 / 1024.0)
}

/// One digit behind the point, which is more than a shared machine can tell.
pub(crate) fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

pub(crate) fn count(number: usize) -> f64 {
    precise(u64::try_from(number).unwrap_or(u64::MAX))
}

#[expect(clippy::cast_precision_loss, reason = "nothing here comes near 2^53")]
pub(crate) fn precise(number: u64) -> f64 {
    number as f64
}

/// The one in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_put_together() {
        let run = |times: [u64; 2], lasted| {
            let times = times.map(Duration::from_micros).to_vec();
            LoadFigures::new(times, Duration::from_secs(lasted))
                .with_cost(Duration::from_micros(10), lasted)
        };
        let mut both = run([1, 9], 1);
        both.add(run([5, 3], 3));
        both.fail(&"late".into());
        assert!((both.within(50) - 3.0).abs() < 1e-9 && (both.within(99) - 5.0).abs() < 1e-9);
        assert!((both.calls_per_second() - 1.0).abs() < 1e-9);
        assert!((both.work_per_call() - 5.0).abs() < 1e-9);
        assert_eq!((both.errors, both.error.as_deref(), both.rss), (1, Some("late"), 3));
    }
}
