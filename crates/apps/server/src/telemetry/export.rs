//! Sends spans and figures to a collector: OTLP over HTTP in its JSON form.
//!
//! What the collector does not take is not kept for ever: after a few tries it is counted as lost.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_config::LogLevel;
use toolcrib_egress::{EgressBody, EgressRequest};

use super::family::{MetricFamily, MetricKind, MetricPoint, MetricValue};
use super::spans::{SpanQueue, attributes_of, nanoseconds};
use super::{Telemetry, log};
use crate::http::rest::metrics::families;
use crate::http::state::GatewayState;
use crate::secrets;

/// Spans go out this often.
const BEAT: Duration = Duration::from_secs(1);
/// Spans of one message.
const MOST: usize = 512;
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);
/// How much of an answer is read: it says nothing that we need.
const LARGEST_ANSWER: u64 = 64 * 1024;

/// Sends until `stop`, and then what is left. Figures are those of a gateway, where there is one.
pub(crate) async fn export(
    telemetry: Arc<Telemetry>,
    gateway: Option<Arc<GatewayState>>,
    stop: CancellationToken,
) {
    let Some(spans) = &telemetry.spans else { return };
    let began = SystemTime::now();
    let mut next_figures = tokio::time::Instant::now() + spans.settings.interval;
    let mut fails = false;
    loop {
        let is_last = tokio::select! {
            () = stop.cancelled() => true,
            () = tokio::time::sleep(BEAT) => false,
        };
        let mut done = all_spans(spans).await;
        let is_due = is_last || tokio::time::Instant::now() >= next_figures;
        if let Some(gateway) = gateway.as_ref().filter(|_| is_due) {
            let message = metrics(spans, &families(gateway).await, began);
            done &= send(spans, "metrics", message).await;
            next_figures = tokio::time::Instant::now() + spans.settings.interval;
        }
        if fails == done {
            fails = !done;
            let message = if done { "takes messages again" } else { "does not take messages" };
            let fields = json!({ "message": format!("the collector {message}") });
            log::line(LogLevel::Warn, "telemetry", fields);
        }
        if is_last {
            return;
        }
    }
}

/// Sends what waits; tells whether the collector took all of it.
async fn all_spans(spans: &SpanQueue) -> bool {
    let mut done = true;
    loop {
        let batch = spans.take(MOST);
        let (count, is_all) = (batch.len(), batch.len() < MOST);
        if count > 0 && !send(spans, "traces", traces(spans, &batch)).await {
            spans.lose(count);
            done = false;
        }
        if is_all {
            return done;
        }
    }
}

async fn send(spans: &SpanQueue, signal: &str, mut message: Value) -> bool {
    secrets::mask(&mut message);
    let mut url = spans.settings.url.clone();
    let path = format!("{}/v1/{signal}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in &spans.settings.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value.expose())) {
            headers.insert(name, value);
        }
    }
    let bytes = message.to_string();
    for tries in 0..TRIES {
        let mut request = EgressRequest::new(Method::POST, url.clone());
        request.headers.clone_from(&headers);
        request.body = EgressBody::Bytes(bytes.clone().into());
        let Ok(answer) = spans.egress.send(request).await else {
            tokio::time::sleep(PAUSE * (tries + 1)).await;
            continue;
        };
        let status = answer.status;
        // Read to its end, so that the connection serves again.
        let _ = answer.bytes(LARGEST_ANSWER).await;
        if status.is_success() {
            return true;
        }
        // The protocol names those after which the same may be sent again.
        if !matches!(status.as_u16(), 429 | 502 | 503 | 504) {
            return false;
        }
        tokio::time::sleep(PAUSE * (tries + 1)).await;
    }
    false
}

fn resource(spans: &SpanQueue) -> Value {
    let attributes = attributes_of(&[
        ("service.name", json!(spans.settings.service)),
        ("service.version", json!(env!("CARGO_PKG_VERSION"))),
        ("process.pid", json!(std::process::id())),
    ]);
    json!({ "attributes": attributes })
}

fn scope() -> Value {
    json!({ "name": "toolcrib", "version": env!("CARGO_PKG_VERSION") })
}

fn traces(spans: &SpanQueue, batch: &[Value]) -> Value {
    let scoped = json!([{ "scope": scope(), "spans": batch }]);
    json!({ "resourceSpans": [{ "resource": resource(spans), "scopeSpans": scoped }] })
}

fn metrics(spans: &SpanQueue, families: &[MetricFamily], began: SystemTime) -> Value {
    let now = nanoseconds(SystemTime::now());
    let began = nanoseconds(began);
    let families = families.iter().filter(|family| !family.points.is_empty());
    let metrics: Vec<_> = families.map(|family| metric(family, &began, &now)).collect();
    let scoped = json!([{ "scope": scope(), "metrics": metrics }]);
    json!({ "resourceMetrics": [{ "resource": resource(spans), "scopeMetrics": scoped }] })
}

/// All since the start.
const CUMULATIVE: u8 = 2;

fn metric(family: &MetricFamily, began: &str, now: &str) -> Value {
    let points: Vec<_> = family.points.iter().map(|own| point(own, began, now)).collect();
    let data = match family.kind {
        MetricKind::Counter => json!({
            "dataPoints": points,
            "aggregationTemporality": CUMULATIVE,
            "isMonotonic": true,
        }),
        MetricKind::Gauge => json!({ "dataPoints": points }),
        MetricKind::Histogram => json!({
            "dataPoints": points,
            "aggregationTemporality": CUMULATIVE,
        }),
    };
    let kind = match family.kind {
        MetricKind::Counter => "sum",
        MetricKind::Gauge => "gauge",
        MetricKind::Histogram => "histogram",
    };
    let unit = if family.unit.is_empty() { "1" } else { family.unit };
    json!({ "name": family.name, "description": family.about, "unit": unit, kind: data })
}

fn point(point: &MetricPoint, began: &str, now: &str) -> Value {
    let labels: Vec<_> =
        point.labels.iter().map(|(name, value)| (*name, Value::from(value.as_str()))).collect();
    let mut data = json!({
        "attributes": attributes_of(&labels),
        "startTimeUnixNano": began,
        "timeUnixNano": now,
    });
    let Value::Object(fields) = &mut data else { return data };
    match &point.value {
        MetricValue::Count(count) => {
            fields.insert("asInt".to_owned(), count.to_string().into());
        }
        MetricValue::Spread(spread) => {
            let buckets: Vec<_> = spread.buckets.iter().map(ToString::to_string).collect();
            let count: u64 = spread.buckets.iter().sum();
            fields.insert("count".to_owned(), count.to_string().into());
            fields.insert("sum".to_owned(), json!(spread.sum));
            fields.insert("bucketCounts".to_owned(), json!(buckets));
            fields.insert("explicitBounds".to_owned(), json!(spread.bounds));
        }
    }
    data
}
