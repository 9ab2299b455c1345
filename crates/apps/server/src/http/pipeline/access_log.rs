//! What is counted and logged of a request: its route and not its path, which anybody can invent.

use std::sync::OnceLock;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Request, StatusCode};
use serde_json::json;
use toolcrib_config::LogLevel;
use toolcrib_core::{Trace, TraceState};

use super::host_check::single;
use crate::http::routes::route::Route;
use crate::http::state::GatewayState;
use crate::telemetry::{OtlpSpan, log};

const TRACEPARENT: http::HeaderName = http::HeaderName::from_static("traceparent");
const TRACESTATE: http::HeaderName = http::HeaderName::from_static("tracestate");
/// The route of a request that found none.
const NONE: &str = "(none)";

pub(crate) struct AccessLog {
    pub(crate) trace: Trace,
    /// What others wrote beside that place.
    pub(crate) trace_state: Option<TraceState>,
    pub(crate) route: OnceLock<&'static Route>,
}

impl AccessLog {
    pub(crate) fn of<B>(gateway: &GatewayState, request: &Request<B>) -> Self {
        let traces = gateway.telemetry.spans.is_some();
        let told = if traces { told(request.headers()) } else { None };
        let trace_state = told.and_then(|_| state(request.headers()));
        let trace = match told {
            Some(told) => told.child(),
            None if traces => Trace::root(),
            None => Trace::of_ours(),
        };
        Self { trace, trace_state, route: OnceLock::new() }
    }

    pub(crate) fn answered(&self, gateway: &GatewayState, status: StatusCode, took: Duration) {
        let route = self.route.get().map_or((NONE, NONE), |route| (route.method, route.path));
        gateway.telemetry.figures.answered(route, status.as_u16(), took);
        if let Some(spans) = &gateway.telemetry.spans {
            spans.add(|| OtlpSpan::of_request(self.trace, route, status.as_u16(), took));
        }
        let level = if status.is_server_error() { LogLevel::Warn } else { LogLevel::Debug };
        if log::is_on(level) {
            let (method, route) = route;
            let fields = json!({
                "method": method,
                "route": route,
                "status": status.as_u16(),
                "took_us": u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
                "request": self.trace.trace_id(),
            });
            log::line(level, "request", fields);
        }
    }
}

/// Where the client says that its request stands in a trace.
fn told(headers: &HeaderMap) -> Option<Trace> {
    single(headers, &TRACEPARENT).ok().flatten().and_then(Trace::parse)
}

/// What stands beside that: a list, which may come in several headers.
fn state(headers: &HeaderMap) -> Option<TraceState> {
    let parts: Result<Vec<_>, _> =
        headers.get_all(TRACESTATE).iter().map(HeaderValue::to_str).collect();
    TraceState::parse(&parts.ok()?.join(","))
}
