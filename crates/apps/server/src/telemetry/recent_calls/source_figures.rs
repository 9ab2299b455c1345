//! How the calls of each source went lately.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use toolcrib_core::SourceId;

/// What counts as lately.
const LATELY: Duration = Duration::from_mins(15);

/// Of the calls that are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct SourceFigures {
    /// That ended within the last 15 minutes.
    calls: u64,
    failed: u64,
    /// How long half of the calls ran at the most, and 95 of 100; `None`: none ran.
    p50_us: Option<u64>,
    p95_us: Option<u64>,
}

/// A call that ended.
pub(super) struct EndedCall<'a> {
    pub(super) source: &'a SourceId,
    pub(super) at: SystemTime,
    pub(super) is_failed: bool,
    /// How long it ran; `None`: it never did.
    pub(super) ran: Option<Duration>,
}

pub(super) fn of_calls<'a>(
    ended: impl Iterator<Item = EndedCall<'a>>,
    now: SystemTime,
) -> BTreeMap<SourceId, SourceFigures> {
    let mut all: BTreeMap<SourceId, (SourceFigures, Vec<u64>)> = BTreeMap::new();
    for call in ended {
        let (figures, ran) = all.entry(call.source.clone()).or_default();
        // Of one from a clock that was ahead nothing is known but that it was just now.
        if now.duration_since(call.at).unwrap_or_default() <= LATELY {
            figures.calls += 1;
            figures.failed += u64::from(call.is_failed);
        }
        ran.extend(call.ran.map(|ran| u64::try_from(ran.as_micros()).unwrap_or(u64::MAX)));
    }
    let told = |(source, (figures, mut ran)): (SourceId, (SourceFigures, Vec<u64>))| {
        ran.sort_unstable();
        let (p50_us, p95_us) = (share(&ran, 50), share(&ran, 95));
        (source, SourceFigures { p50_us, p95_us, ..figures })
    };
    all.into_iter().map(told).collect()
}

/// The least value that so many of a hundred do not exceed.
fn share(sorted: &[u64], hundredths: usize) -> Option<u64> {
    let place = (sorted.len() * hundredths).div_ceil(100);
    sorted.get(place.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_value_that_was_there() {
        let hundred: Vec<_> = (1..=100).collect();
        assert_eq!([50, 95].map(|of| share(&hundred, of)), [Some(50), Some(95)]);
        assert_eq!([50, 95].map(|of| share(&[7, 9], of)), [Some(7), Some(9)]);
        assert_eq!(share(&[], 95), None);
    }
}
