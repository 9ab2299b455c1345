//! Figures in the text format of Prometheus, version 0.0.4.

use std::fmt::Write as _;

use super::family::{DurationHistogram, MetricFamily, MetricKind, MetricPoint, MetricValue};

pub(crate) const MEDIA: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(crate) fn text(families: &[MetricFamily]) -> String {
    let mut text = String::new();
    for family in families.iter().filter(|family| !family.points.is_empty()) {
        let name = name(family);
        let kind = match family.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        // A string takes whatever is written into it.
        let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", family.about);
        for point in &family.points {
            write(&mut text, &name, point);
        }
    }
    text
}

/// `toolcrib.call.duration` in seconds is `toolcrib_call_duration_seconds`, and what is counted
/// ends in `_total`.
fn name(family: &MetricFamily) -> String {
    let unit = match family.unit {
        "s" => "_seconds",
        "By" => "_bytes",
        _ => "",
    };
    let total = if family.kind == MetricKind::Counter { "_total" } else { "" };
    format!("{}{unit}{total}", family.name.replace('.', "_"))
}

fn write(text: &mut String, name: &str, point: &MetricPoint) {
    let _ = match &point.value {
        MetricValue::Count(count) => writeln!(text, "{name}{} {count}", labels(point, None)),
        MetricValue::Spread(spread) => return write_spread(text, name, point, spread),
    };
}

fn write_spread(text: &mut String, name: &str, point: &MetricPoint, spread: &DurationHistogram) {
    let bounds = spread.bounds.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
    let mut below = 0;
    for (bound, count) in bounds.zip(spread.buckets) {
        below += count;
        let _ = writeln!(text, "{name}_bucket{} {below}", labels(point, Some(&bound)));
    }
    let labels = labels(point, None);
    let _ = writeln!(text, "{name}_sum{labels} {}\n{name}_count{labels} {below}", spread.sum);
}

fn labels(point: &MetricPoint, bound: Option<&str>) -> String {
    let own = point.labels.iter().map(|(name, value)| (*name, value.as_str()));
    let all: Vec<_> = own
        .chain(bound.map(|bound| ("le", bound)))
        .map(|(name, value)| format!("{}=\"{}\"", name.replace('.', "_"), escaped(value)))
        .collect();
    if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_prometheus_reads_them() {
        let mut spread = DurationHistogram::default();
        for seconds in [0.0005, 0.02, 0.02, 1000.0] {
            spread.add(seconds);
        }
        let mut durations = MetricFamily::histogram("toolcrib.call.duration", "How long.");
        durations.push(&[("source", "a")], MetricValue::Spread(spread));
        let calls = MetricFamily::counter("toolcrib.calls", "Calls.");
        let calls = calls.count(&[("tool", "a\"b\\c\nd"), ("outcome", "done")], 3);
        let empty = MetricFamily::gauge("toolcrib.nothing", "Nothing.");
        let text = text(&[calls, empty, durations]);
        let head = "# HELP toolcrib_calls_total Calls.\n# TYPE toolcrib_calls_total counter\n\
                    toolcrib_calls_total{tool=\"a\\\"b\\\\c\\nd\",outcome=\"done\"} 3\n\
                    # HELP toolcrib_call_duration_seconds How long.\n\
                    # TYPE toolcrib_call_duration_seconds histogram\n\
                    toolcrib_call_duration_seconds_bucket{source=\"a\",le=\"0.001\"} 1\n";
        assert!(text.starts_with(head), "{text}");
        let end = "le=\"300\"} 3\ntoolcrib_call_duration_seconds_bucket{source=\"a\",le=\"+Inf\"} 4\n\
                   toolcrib_call_duration_seconds_sum{source=\"a\"} 1000.0405\n\
                   toolcrib_call_duration_seconds_count{source=\"a\"} 4\n";
        assert!(text.ends_with(end), "{text}");
    }
}
