//! A figure with all its values, before it is written for anybody.

/// Values of one name. It has the form of OpenTelemetry, `toolcrib.calls`; others write it in their
/// own.
pub(crate) struct MetricFamily {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// `s` for seconds, `By` for bytes; empty for a count.
    pub(crate) unit: &'static str,
    pub(crate) kind: MetricKind,
    pub(crate) points: Vec<MetricPoint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetricKind {
    /// Only grows.
    Counter,
    Gauge,
    Histogram,
}

pub(crate) struct MetricPoint {
    pub(crate) labels: Vec<(&'static str, String)>,
    pub(crate) value: MetricValue,
}

pub(crate) enum MetricValue {
    Count(u64),
    Spread(DurationHistogram),
}

/// Upper bounds of the buckets, in seconds; one more bucket holds what is beyond.
pub(crate) type BucketBounds = [f64; 14];

const OURS: &BucketBounds =
    &[0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 300.0];

/// How durations spread, each bucket by itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DurationHistogram {
    pub(crate) bounds: &'static BucketBounds,
    pub(crate) buckets: [u64; OURS.len() + 1],
    pub(crate) sum: f64,
}

impl Default for DurationHistogram {
    fn default() -> Self {
        Self::within(OURS)
    }
}

impl DurationHistogram {
    pub(crate) fn within(bounds: &'static BucketBounds) -> Self {
        Self { bounds, buckets: Default::default(), sum: 0.0 }
    }

    pub(crate) fn add(&mut self, seconds: f64) {
        let bounds = self.bounds;
        let place = bounds.iter().position(|bound| seconds <= *bound).unwrap_or(bounds.len());
        if let Some(bucket) = self.buckets.get_mut(place) {
            *bucket += 1;
        }
        self.sum += seconds;
    }
}

impl MetricFamily {
    pub(crate) fn counter(name: &'static str, about: &'static str) -> Self {
        Self { name, about, unit: "", kind: MetricKind::Counter, points: Vec::new() }
    }

    pub(crate) fn gauge(name: &'static str, about: &'static str) -> Self {
        Self { kind: MetricKind::Gauge, ..Self::counter(name, about) }
    }

    /// Of durations.
    pub(crate) fn histogram(name: &'static str, about: &'static str) -> Self {
        Self { kind: MetricKind::Histogram, unit: "s", ..Self::counter(name, about) }
    }

    pub(crate) fn count(mut self, labels: &[(&'static str, &str)], count: u64) -> Self {
        self.push(labels, MetricValue::Count(count));
        self
    }

    pub(crate) fn push(&mut self, labels: &[(&'static str, &str)], value: MetricValue) {
        let labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.points.push(MetricPoint { labels, value });
    }
}
