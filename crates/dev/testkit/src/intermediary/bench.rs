//! Both ends of a check: clients of the gateway, and the server behind it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderMap;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::client::{ClientExchange, ClientPlace, GatewayClient, LiveRequest, shown, until};
use super::report::IntermediaryVerdict;
use super::upstream::FixtureUpstream;
use super::words::IntermediaryRevision;

/// How long it is listened for what must not come.
const SILENCE: Duration = Duration::from_millis(300);

/// How long a gateway may leave a server alone that was away or broke off often.
pub(super) const RECOVERY: Duration = Duration::from_secs(90);

/// Pages of a list that are read.
const MOST_PAGES: usize = 100;

/// Why a check did not pass.
#[derive(Debug)]
pub(super) enum CheckFault {
    Failed(String),
    /// It cannot be checked here.
    Skipped(String),
}

impl From<String> for CheckFault {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

impl From<&str> for CheckFault {
    fn from(why: &str) -> Self {
        Self::Failed(why.to_owned())
    }
}

impl From<CheckFault> for IntermediaryVerdict {
    fn from(fault: CheckFault) -> Self {
        match fault {
            CheckFault::Failed(why) => Self::Failed(why),
            CheckFault::Skipped(why) => Self::Skipped(why),
        }
    }
}

/// What came of a check.
pub(super) type Checked = Result<(), CheckFault>;

/// Holds what came against what should have.
pub(super) fn same(what: &str, came: &Value, expected: &Value) -> Result<(), String> {
    if came == expected {
        return Ok(());
    }
    Err(format!("{what}: {} came, not {}", shown(came), shown(expected)))
}

/// Fails unless something is so.
pub(super) fn ensure(is_so: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(otherwise()) }
}

/// What became of a call during which the connection broke, or the server was away.
pub(super) struct BrokenCall {
    pub(super) answer: ClientExchange,
    /// How often it came to the server.
    pub(super) count: usize,
    /// Whether the same client could go on, and others.
    pub(super) goes_on: Result<(), String>,
    pub(super) is_well: Result<(), String>,
}

pub(super) struct Bench {
    pub(super) upstream: FixtureUpstream,
    pub(super) place: ClientPlace,
    /// The headers of another caller, if one was named.
    pub(super) other: Option<HeaderMap>,
    /// What the gateway calls the tools of the fixture.
    pub(super) names: BTreeMap<String, String>,
    marks: AtomicU64,
    /// What several checks of a revision look at, made once.
    pub(super) broken: Mutex<Option<Arc<BrokenCall>>>,
    pub(super) absent: Mutex<Option<Arc<BrokenCall>>>,
}

impl Bench {
    pub(super) fn new(
        upstream: FixtureUpstream,
        place: ClientPlace,
        other: Option<HeaderMap>,
    ) -> Self {
        Self {
            upstream,
            place,
            other,
            names: BTreeMap::new(),
            marks: AtomicU64::new(0),
            broken: Mutex::default(),
            absent: Mutex::default(),
        }
    }

    pub(super) fn patience(&self) -> Duration {
        self.place.patience
    }

    /// A word that no other call has, of this run or of one before.
    pub(super) fn mark(&self) -> String {
        let number = self.marks.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        format!("m{number}-{now}")
    }

    /// A client that can do nothing that it could be asked for.
    pub(super) async fn client(&self) -> Result<GatewayClient, String> {
        self.client_with(json!({})).await
    }

    pub(super) async fn client_with(&self, capabilities: Value) -> Result<GatewayClient, String> {
        let connected = GatewayClient::connect(self.place.clone(), capabilities).await;
        connected.map_err(|why| format!("the gateway does not greet: {why}"))
    }

    /// The parameters of a call of a tool of the fixture.
    pub(super) fn params(&self, tool: &str, mark: &str) -> Value {
        self.params_with(tool, &json!({ "mark": mark }))
    }

    pub(super) fn params_with(&self, tool: &str, arguments: &Value) -> Value {
        let name = self.names.get(tool).map_or(tool, String::as_str);
        json!({ "name": name, "arguments": arguments })
    }

    pub(super) fn start(&self, client: &GatewayClient, tool: &str, mark: &str) -> LiveRequest {
        client.start("tools/call", self.params(tool, mark))
    }

    /// Calls a tool with a new mark.
    pub(super) async fn call(&self, client: &GatewayClient, tool: &str) -> ClientExchange {
        client.ask("tools/call", self.params(tool, &self.mark())).await
    }

    /// Starts `hold`, and waits until it runs behind the gateway.
    pub(super) async fn held(
        &self,
        client: &GatewayClient,
        mark: &str,
    ) -> Result<LiveRequest, String> {
        let live = self.start(client, "hold", mark);
        let is_there = until(self.patience(), || !self.upstream.calls(mark).is_empty()).await;
        ensure(is_there, || {
            format!("the call did not come to the upstream: {:?}", live.so_far().end())
        })?;
        Ok(live)
    }

    pub(super) async fn until(
        &self,
        what: &str,
        is_so: impl FnMut() -> bool,
    ) -> Result<(), String> {
        let came = until(self.patience(), is_so).await;
        ensure(came, || format!("{what}: not within {:?}", self.patience()))
    }

    /// Whether something stays so while it is listened for a moment.
    pub(super) async fn stays(&self, mut is_so: impl FnMut() -> bool) -> bool {
        !until(SILENCE, || !is_so()).await
    }

    /// Waits until calls go through, as after the server behind the gateway was away.
    pub(super) async fn is_well(&self) -> Result<(), String> {
        self.is_well_within(self.patience()).await
    }

    /// Begins with a revision: nothing of the one before is known any more, and a gateway that
    /// leaves the server alone because it broke off often takes its time.
    pub(super) async fn begins(&mut self, revision: IntermediaryRevision) -> Result<(), String> {
        self.place.revision = revision;
        self.broken = Mutex::default();
        self.absent = Mutex::default();
        self.is_well_within(RECOVERY.max(self.patience())).await
    }

    async fn is_well_within(&self, patience: Duration) -> Result<(), String> {
        let end = tokio::time::Instant::now() + patience;
        loop {
            let last = match self.client().await {
                Ok(client) => {
                    let mark = self.mark();
                    let said = client.ask("tools/call", self.params("echo", &mark)).await;
                    match said.said() {
                        Ok(said) if said.contains(&mark) => return Ok(()),
                        Ok(said) => said.to_owned(),
                        Err(why) => why,
                    }
                }
                Err(why) => why,
            };
            if tokio::time::Instant::now() > end {
                return Err(format!("calls do not go through: {last}"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A whole list, page by page.
pub(super) async fn all_of(client: &GatewayClient, kind: &str) -> Result<Vec<Value>, String> {
    let (method, member) = match kind {
        "templates" => ("resources/templates/list".to_owned(), "resourceTemplates"),
        kind => (format!("{kind}/list"), kind),
    };
    let mut all = Vec::new();
    let mut params = json!({});
    for _ in 0..MOST_PAGES {
        let page = client.ask(&method, params.clone()).await;
        let page = page.result()?;
        all.extend(page[member].as_array().into_iter().flatten().cloned());
        if page["nextCursor"].is_null() {
            return Ok(all);
        }
        params = json!({ "cursor": page["nextCursor"] });
    }
    Err(format!("`{method}` has more than {MOST_PAGES} pages"))
}
