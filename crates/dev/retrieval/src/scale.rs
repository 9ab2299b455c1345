//! What size costs: catalogs of 1,000, 10,000 and 100,000 tools, made of those of the sets.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use toolcrib_search::{SearchIndex, SearchQuery, ToolDocument};

use crate::figures::at;
use crate::labelled_set::{LabelledSet, LabelledTool};

/// Builds an index of so many tools and asks it the questions of the sets; times are those of the
/// processor, those of the build on the wall.
pub fn scale(sets: &[LabelledSet], size: usize) -> Value {
    let tools: Vec<&LabelledTool> = sets.iter().flat_map(|set| &set.tools).collect();
    // A step that shares no divisor with the count takes every tool in turn, mixed.
    let document = |at: usize| -> Option<ToolDocument<'_>> {
        let tool = tools.get((at * 7919) % tools.len().max(1))?;
        let mut document = tool.document();
        // So that no two tools have one name.
        let mut name = tool.name.clone();
        let _ = write!(name, "_{}", at / tools.len().max(1));
        document.name = name.into();
        Some(document)
    };
    let before = memory("VmRSS:");
    let started = Instant::now();
    let index = SearchIndex::build((0..size).filter_map(document));
    let took = started.elapsed();
    let (after, peak) = (memory("VmRSS:"), memory("VmHWM:"));
    let mut times = Vec::new();
    // The first round warms up.
    for _ in 0..2 {
        times.clear();
        for question in sets.iter().flat_map(|set| &set.questions) {
            let query = SearchQuery { text: &question.text, limit: 10, ..SearchQuery::default() };
            let started = busy();
            std::hint::black_box(index.search(&query));
            times.push(busy().saturating_sub(started));
        }
    }
    times.sort_unstable();
    let rounded = |number: f32| (f64::from(number)).round();
    json!({
        "tools": index.len(),
        "build ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "index MiB": after.saturating_sub(before) / 1024,
        "peak MiB": peak.saturating_sub(before) / 1024,
        "µs p50": rounded(at(&times, 50)),
        "µs p99": rounded(at(&times, 99)),
        "µs most": rounded(at(&times, 100)),
    })
}

/// How long this thread has been running: on a machine with other work, the time on the wall tells
/// more of that work.
pub(crate) fn busy() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}

/// A figure of this process in KiB, as Linux tells it; 0 elsewhere.
fn memory(which: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(which));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
