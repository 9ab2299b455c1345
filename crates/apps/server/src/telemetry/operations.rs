//! How long operations of the Model Context Protocol took, by the conventions of OpenTelemetry:
//! those that clients asked of us, and those that we asked of servers.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use foldhash::fast::RandomState;
use serde_json::Value as Json;
use toolcrib_core::{OutboundFinished, ToolName, Trace, TraceState};

use super::family::{BucketBounds, DurationHistogram, MetricFamily, MetricValue};

/// As the conventions want them.
const BOUNDS: &BucketBounds =
    &[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// Rows of a figure; what comes beyond them is counted without the names that others chose.
const MOST: usize = 2000;

#[derive(Default)]
pub(crate) struct OperationMetrics {
    served: Mutex<LabelledHistograms<OperationLabels>>,
    asked: Mutex<LabelledHistograms<MetricLabels>>,
    /// By revision.
    sessions: Mutex<LabelledHistograms<Option<&'static str>>>,
}

type MetricLabels = Vec<(&'static str, String)>;

/// What a client asked of us, in words of which there are few.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct OperationLabels {
    pub(crate) method: &'static str,
    /// A tool that is there.
    pub(crate) tool: Option<ToolName>,
    pub(crate) revision: Option<&'static str>,
    pub(crate) over: ClientTransport,
    pub(crate) failure: Option<OperationErrorType>,
}

/// What a client speaks over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ClientTransport {
    Http,
    Pipe,
}

impl ClientTransport {
    /// The `network.transport` and the `network.protocol.name`.
    pub(crate) fn words(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Http => ("tcp", Some("http")),
            Self::Pipe => ("pipe", None),
        }
    }
}

/// What the span of such an operation says beside the figure.
pub(crate) struct OperationTrace {
    pub(crate) trace: Trace,
    /// What others wrote beside that place.
    pub(crate) state: Option<TraceState>,
    /// The request over HTTP that carried it, where its client says that it belongs elsewhere.
    pub(crate) carrier: Option<Trace>,
    pub(crate) id: Option<String>,
    /// As the client wrote it.
    pub(crate) name: Option<String>,
    pub(crate) session: Option<String>,
}

/// Why an operation came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum OperationErrorType {
    /// The error of JSON-RPC.
    Code(i64),
    /// The result says so.
    Tool,
    /// The protocol was not reached.
    Status(u16),
    /// Whoever asked went away.
    Cancelled,
}

/// What JSON-RPC keeps for itself and the protocols above it; any other number is a server's own.
const RESERVED: std::ops::RangeInclusive<i64> = -32_768..=-32_000;

impl OperationErrorType {
    /// The `error.type`.
    pub(crate) fn word(self) -> String {
        match self {
            Self::Code(code) => code.to_string(),
            Self::Tool => "tool_error".to_owned(),
            Self::Status(status) => status.to_string(),
            Self::Cancelled => "cancelled".to_owned(),
        }
    }

    /// The `rpc.response.status_code`.
    pub(crate) fn code(self) -> Option<String> {
        if let Self::Code(code) = self { Some(code.to_string()) } else { None }
    }

    fn labels(self) -> MetricLabels {
        if matches!(self, Self::Code(code) if !RESERVED.contains(&code)) {
            return vec![("error.type", "_OTHER".into())];
        }
        let code = self.code().map(|code| ("rpc.response.status_code", code));
        [("error.type", self.word())].into_iter().chain(code).collect()
    }
}

impl OperationTrace {
    /// What stands there itself.
    pub(crate) fn of(trace: Trace) -> Self {
        Self { trace, state: None, carrier: None, id: None, name: None, session: None }
    }

    /// `said`: where its client says that it stands; `carrier`: the request that it came with,
    /// which may carry it for somebody else.
    pub(crate) fn at(carrier: Trace, said: Option<Trace>) -> Self {
        let (trace, carrier) = match said {
            Some(said) => (said.child(), Some(carrier)),
            None => (carrier.child(), None),
        };
        Self { carrier, ..Self::of(trace) }
    }
}

impl OperationLabels {
    fn labels(&self) -> MetricLabels {
        let mut labels = vec![("mcp.method.name", self.method.to_owned())];
        if self.method == "tools/call" {
            labels.push(("gen_ai.operation.name", "execute_tool".to_owned()));
        }
        labels.extend(self.tool.as_ref().map(|tool| ("gen_ai.tool.name", tool.to_string())));
        labels.extend(spoken(self.revision, self.over));
        labels.extend(self.failure.into_iter().flat_map(OperationErrorType::labels));
        labels
    }
}

/// Which revision was spoken, and over what.
fn spoken(revision: Option<&str>, over: ClientTransport) -> MetricLabels {
    let (transport, protocol) = over.words();
    let revision = revision.map(|own| ("mcp.protocol.version", own.to_owned()));
    let protocol = protocol.map(|own| ("network.protocol.name", own.to_owned()));
    let transport = ("network.transport", transport.to_owned());
    revision.into_iter().chain([transport]).chain(protocol).collect()
}

impl OperationMetrics {
    pub(crate) fn served(&self, served: OperationLabels, took: Duration) {
        let nameless = |served: &OperationLabels| OperationLabels { tool: None, ..served.clone() };
        add(&self.served, served, nameless, took);
    }

    /// A session of an older client is over.
    pub(crate) fn session_ended(&self, revision: Option<&'static str>, lasted: Duration) {
        add(&self.sessions, revision, |revision| *revision, lasted);
    }

    /// Counts a request to an MCP server; called only for calls whose trace is recorded.
    pub(super) fn returned(&self, outbound: &OutboundFinished<'_>) {
        let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let notes = outbound.notes.iter().map(|(name, value)| (*name, text(value)));
        let mut labels: MetricLabels = notes.collect();
        if !labels.iter().any(|(name, _)| *name == "mcp.method.name") {
            return;
        }
        if labels.iter().any(|(_, value)| value == "tools/call") {
            labels.push(("gen_ai.operation.name", "execute_tool".to_owned()));
        }
        labels.push(("toolcrib.source", outbound.source.to_string()));
        labels.extend(outbound.error.map(|error| ("error.type", error.to_owned())));
        let nameless = |labels: &MetricLabels| {
            let is_few = |name: &str| !matches!(name, "gen_ai.tool.name" | "gen_ai.prompt.name");
            labels.iter().filter(|(name, _)| is_few(name)).cloned().collect()
        };
        add(&self.asked, labels, nameless, outbound.took);
    }

    pub(super) fn families(&self) -> [MetricFamily; 3] {
        let about = "How long operations took that clients of MCP asked for.";
        let mut served = MetricFamily::histogram("mcp.server.operation.duration", about);
        push(&mut served, &self.served, OperationLabels::labels);
        let about = "How long operations took that were asked of servers of MCP.";
        let mut asked = MetricFamily::histogram("mcp.client.operation.duration", about);
        push(&mut asked, &self.asked, Clone::clone);
        let about = "How long sessions of older clients of MCP lasted.";
        let mut sessions = MetricFamily::histogram("mcp.server.session.duration", about);
        push(&mut sessions, &self.sessions, |revision| spoken(*revision, ClientTransport::Http));
        [served, asked, sessions]
    }
}

type LabelledHistograms<K> = HashMap<K, DurationHistogram, RandomState>;

fn add<K: Hash + Eq>(
    rows: &Mutex<LabelledHistograms<K>>,
    key: K,
    nameless: impl FnOnce(&K) -> K,
    took: Duration,
) {
    let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
    let fits = rows.len() < MOST || rows.contains_key(&key);
    let key = if fits { key } else { nameless(&key) };
    rows.entry(key).or_insert_with(|| DurationHistogram::within(BOUNDS)).add(took.as_secs_f64());
}

fn push<K>(
    family: &mut MetricFamily,
    rows: &Mutex<LabelledHistograms<K>>,
    labels: impl Fn(&K) -> MetricLabels,
) {
    let rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rows: Vec<_> = rows.iter().map(|(key, spread)| (labels(key), spread)).collect();
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (labels, spread) in rows {
        let labels: Vec<_> = labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
        family.push(&labels, MetricValue::Spread(spread.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_its_rows_a_figure_counts_without_the_names_of_others() {
        let operations = OperationMetrics::default();
        let served = |name: String, code: i64| OperationLabels {
            method: "tools/call",
            tool: ToolName::new(name).ok(),
            revision: None,
            over: ClientTransport::Http,
            failure: Some(OperationErrorType::Code(code)),
        };
        for number in 0..=MOST {
            operations.served(served(format!("tool{number}"), -32_602), Duration::ZERO);
        }
        operations.served(served("other".to_owned(), 7), Duration::ZERO);
        let [family, ..] = operations.families();
        assert_eq!(family.points.len(), MOST + 2);
        let rest = family
            .points
            .iter()
            .filter(|point| !point.labels.iter().any(|(name, _)| *name == "gen_ai.tool.name"));
        let errors = rest.flat_map(|point| &point.labels).filter(|(name, _)| *name == "error.type");
        let errors: Vec<_> = errors.map(|(_, value)| value.as_str()).collect();
        assert_eq!(errors, ["-32602", "_OTHER"]);
    }
}
