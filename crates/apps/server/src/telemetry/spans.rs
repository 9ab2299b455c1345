//! Spans that wait to be sent, by the conventions of OpenTelemetry for HTTP and for generative
//! models. What is asked of others is described by whoever asks them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use toolcrib_config::TelemetrySettings;
use toolcrib_core::{CallFinished, OutboundFinished, ToolOutcome, Trace};
use toolcrib_egress::{Egress, Network};

use super::metrics::outcome;
use super::operations::{OperationErrorType, OperationLabels, OperationTrace};
use super::recent_calls::cut;

/// Spans that wait; those beyond are counted and left out.
const WAITING: usize = 8192;

/// The spans of a process and where they go.
pub(crate) struct SpanQueue {
    pub(super) settings: TelemetrySettings,
    pub(super) egress: Egress,
    waiting: Mutex<Vec<Value>>,
    lost: AtomicU64,
}

/// A span as OTLP writes it.
pub(crate) struct OtlpSpan(Value);

impl SpanQueue {
    pub(crate) fn new(settings: TelemetrySettings) -> Result<Self> {
        // The operator named it: it may be private, and nothing else is reached.
        let egress = Egress::only([settings.url.clone()], Network::default());
        let egress = egress.context("the collector cannot be reached")?;
        Ok(Self { settings, egress, waiting: Mutex::default(), lost: AtomicU64::new(0) })
    }

    /// Adds a span of a trace that is recorded.
    pub(crate) fn add(&self, span: impl FnOnce() -> Option<OtlpSpan>) {
        let Some(OtlpSpan(span)) = span() else { return };
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < WAITING {
            waiting.push(span);
        } else {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn take(&self, most: usize) -> Vec<Value> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let count = waiting.len().min(most);
        waiting.drain(..count).collect()
    }

    pub(super) fn lose(&self, count: usize) {
        self.lost.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Spans that the collector never had.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// Kinds of the protocol: `INTERNAL`, `SERVER` and `CLIENT`.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

impl OtlpSpan {
    /// `None`: nobody records the trace.
    fn new(
        trace: Trace,
        (name, kind): (String, u8),
        (end, took): (SystemTime, Duration),
        attributes: &[(&str, Value)],
        failed: bool,
    ) -> Option<Self> {
        if !trace.is_sampled() {
            return None;
        }
        let begin = end.checked_sub(took).unwrap_or(end);
        Some(Self(json!({
            "traceId": trace.trace_id(),
            "spanId": trace.span_id(),
            "parentSpanId": trace.parent_id().unwrap_or_default(),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": nanoseconds(begin),
            "endTimeUnixNano": nanoseconds(end),
            "attributes": attributes_of(attributes),
            "status": if failed { json!({ "code": ERROR }) } else { json!({}) },
        })))
    }

    /// `execute_tool {name}`.
    pub(super) fn of_call(
        call: &CallFinished<'_>,
        end: SystemTime,
        took: Duration,
    ) -> Option<Self> {
        // A name that is no tool's is anybody's, and makes no name of a span.
        let known = call.tool.map(|listed| listed.spec.name.to_string());
        let name = known
            .as_ref()
            .map_or_else(|| "execute_tool".to_owned(), |known| format!("execute_tool {known}"));
        let failed = match call.outcome {
            ToolOutcome::Failed(error) => Some(error.kind.as_str()),
            ToolOutcome::Done(_) | ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => None,
        };
        let source = call.tool.map(|listed| listed.spec.origin.source.to_string());
        let attributes = [
            ("gen_ai.operation.name", json!("execute_tool")),
            ("gen_ai.tool.name", json!(known.unwrap_or_else(|| cut(call.name)))),
            ("gen_ai.tool.type", json!("function")),
            ("gen_ai.tool.call.id", json!(call.call_id.map(cut))),
            ("toolcrib.call", json!(call.key)),
            ("toolcrib.source", json!(source)),
            ("toolcrib.outcome", json!(outcome(call.outcome))),
            ("toolcrib.attempts", json!(call.attempts)),
            ("enduser.id", json!(call.caller.subject)),
            ("error.type", json!(failed)),
        ];
        Self::new(call.trace?, (name, INTERNAL), (end, took), &attributes, failed.is_some())
    }

    /// `{method} {target}`, as the source of the tool names it.
    pub(super) fn of_outbound(outbound: &OutboundFinished<'_>, end: SystemTime) -> Option<Self> {
        let ours = [
            ("toolcrib.source", json!(outbound.source)),
            ("toolcrib.attempt", json!(outbound.attempt)),
            ("error.type", json!(outbound.error)),
        ];
        let attributes = [outbound.notes, &ours].concat();
        let (name, failed) = ((cut(outbound.name), CLIENT), outbound.error.is_some());
        Self::new(outbound.trace, name, (end, outbound.took), &attributes, failed)
    }

    /// `{method} {target}`, of what a client of MCP asks for.
    pub(crate) fn of_operation(
        served: &OperationLabels,
        told: &OperationTrace,
        took: Duration,
    ) -> Option<Self> {
        let OperationLabels { method, tool, revision, over, failure } = served;
        let (transport, protocol) = over.words();
        let name = match tool {
            Some(target) => format!("{method} {target}"),
            None => (*method).to_owned(),
        };
        let named = |by: &str| told.name.as_ref().filter(|_| *method == by);
        let attributes = [
            ("mcp.method.name", json!(method)),
            ("mcp.protocol.version", json!(revision)),
            ("mcp.session.id", json!(told.session)),
            ("gen_ai.operation.name", json!(named("tools/call").map(|_| "execute_tool"))),
            ("gen_ai.tool.name", json!(named("tools/call"))),
            ("gen_ai.prompt.name", json!(named("prompts/get"))),
            ("jsonrpc.request.id", json!(told.id)),
            ("network.transport", json!(transport)),
            ("network.protocol.name", json!(protocol)),
            ("error.type", json!(failure.map(OperationErrorType::word))),
            ("rpc.response.status_code", json!(failure.and_then(OperationErrorType::code))),
        ];
        let name = (name, SERVER);
        let times = (SystemTime::now(), took);
        let mut span = Self::new(told.trace, name, times, &attributes, failure.is_some())?;
        if let (Some(carrier), Some(fields)) = (told.carrier, span.0.as_object_mut()) {
            let link = json!([{ "traceId": carrier.trace_id(), "spanId": carrier.span_id() }]);
            fields.insert("links".to_owned(), link);
        }
        Some(span)
    }

    /// `{method} {route}`.
    pub(crate) fn of_request(
        trace: Trace,
        (method, route): (&str, &str),
        status: u16,
        took: Duration,
    ) -> Option<Self> {
        let attributes = [
            ("http.request.method", json!(method)),
            ("http.route", json!(route)),
            ("http.response.status_code", json!(status)),
            ("error.type", if status >= 500 { json!(status.to_string()) } else { Value::Null }),
        ];
        let name = (format!("{method} {route}"), SERVER);
        Self::new(trace, name, (SystemTime::now(), took), &attributes, status >= 500)
    }
}

/// Since 1970, in digits: JSON has no numbers of that length.
pub(super) fn nanoseconds(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().to_string()
}

/// Attributes in the form of OTLP; what is null is left out.
pub(super) fn attributes_of(attributes: &[(&str, Value)]) -> Vec<Value> {
    let value = |value: &Value| match value {
        Value::Null => None,
        Value::Bool(flag) => Some(json!({ "boolValue": flag })),
        Value::Number(number) if number.is_f64() => Some(json!({ "doubleValue": number })),
        Value::Number(number) => Some(json!({ "intValue": number.to_string() })),
        Value::String(text) => Some(json!({ "stringValue": text })),
        Value::Array(_) | Value::Object(_) => Some(json!({ "stringValue": value.to_string() })),
    };
    let pairs = attributes.iter().filter_map(|(key, own)| Some((key, value(own)?)));
    pairs.map(|(key, value)| json!({ "key": key, "value": value })).collect()
}
