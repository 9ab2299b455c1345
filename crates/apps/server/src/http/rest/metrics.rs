//! `/metrics` and `/v1/activity`: what the operator sees of the whole server.

use http::{HeaderValue, header};
use toolcrib_engine::catalog::SourceState;

use crate::http::routes::reply::{json as reply, text};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use crate::http::state::GatewayState;
use crate::telemetry::family::{MetricFamily, MetricValue};
use crate::telemetry::{log, prometheus};

const DEFAULT_PAGE: usize = 50;
pub(crate) const LARGEST_PAGE: usize = 500;

pub(crate) fn metrics(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let families = families(&asked.gateway).await;
        let mut reply = text(prometheus::text(&families));
        let kind = HeaderValue::from_static(prometheus::MEDIA);
        reply.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(reply)
    })
}

pub(crate) fn activity(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let limit = asked.query.number("limit", DEFAULT_PAGE);
        let after = asked.query.get("after").and_then(|after| after.parse().ok());
        Ok(reply(&asked.gateway.telemetry.recent.page(after, limit)))
    })
}

/// All there is to count.
pub(crate) async fn families(gateway: &GatewayState) -> Vec<MetricFamily> {
    let mut families = gateway.telemetry.figures.families();
    let mut running = MetricFamily::gauge("toolcrib.calls.in_flight", "Calls that run, by source.");
    for (source, count) in gateway.telemetry.recent.running() {
        running.push(&[("source", &source)], MetricValue::Count(count));
    }
    families.push(running);
    families.extend(of_sources(&gateway.live.crib().sources()));
    let about = "Sessions of MCP clients of older revisions.";
    let sessions = u64::try_from(gateway.door.sessions()).unwrap_or(u64::MAX);
    families.push(MetricFamily::gauge("toolcrib.sessions", about).count(&[], sessions));
    if let Some(audit) = &gateway.telemetry.audit {
        let (written, owed) = audit.counts();
        let about = "Records of the audit that were written.";
        families.push(MetricFamily::counter("toolcrib.audit.records", about).count(&[], written));
        let about = "Records that wait for a file that cannot be written.";
        families.push(MetricFamily::gauge("toolcrib.audit.owed", about).count(&[], owed));
    }
    if let Some(spans) = &gateway.telemetry.spans {
        let about = "Spans that the collector never had.";
        families.push(MetricFamily::counter("toolcrib.spans.lost", about).count(&[], spans.lost()));
    }
    let lost = log::lost();
    let about = "Lines of the log that nobody took.";
    families.push(MetricFamily::counter("toolcrib.log.lost", about).count(&[], lost));
    if let Some(open) = gateway.live.crib().executor().waiting().await {
        let about = "Calls that wait for approval.";
        families.push(MetricFamily::gauge("toolcrib.tickets.open", about).count(&[], open));
    }
    if let Some(store) = &gateway.store {
        let about = "Rows of reading calls that could not be written to the store.";
        families.push(MetricFamily::counter("toolcrib.store.lost", about).count(&[], store.lost()));
        let about = "Groups of rows that were committed to the store.";
        let commits = store.commits();
        families.push(MetricFamily::counter("toolcrib.store.commits", about).count(&[], commits));
    }
    families
}

fn of_sources(sources: &[SourceState]) -> [MetricFamily; 4] {
    let mut up =
        MetricFamily::gauge("toolcrib.source.up", "Whether the last list of a source came.");
    let mut stale =
        MetricFamily::gauge("toolcrib.source.stale", "Whether a source serves an old list.");
    let mut age = MetricFamily::gauge("toolcrib.source.age", "How old the list of a source is.");
    age.unit = "s";
    let mut tools = MetricFamily::gauge("toolcrib.source.tools", "Tools that a source gives.");
    for state in sources {
        let labels = [("source", state.id.as_str())];
        let is_up = state.error.is_none() && state.age_seconds.is_some();
        up.push(&labels, MetricValue::Count(is_up.into()));
        stale.push(&labels, MetricValue::Count(state.stale.into()));
        tools.push(&labels, MetricValue::Count(u64::try_from(state.tools).unwrap_or(u64::MAX)));
        if let Some(seconds) = state.age_seconds {
            age.push(&labels, MetricValue::Count(seconds));
        }
    }
    [up, stale, age, tools]
}
