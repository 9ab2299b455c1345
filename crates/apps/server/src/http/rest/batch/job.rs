//! A batch on its way from the request to the bytes of the reply.

use std::sync::Arc;

use bytes::Bytes;
use indexmap::IndexSet;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_auth::is_operator;
use toolcrib_core::{
    BatchOptions, Call, Caller, Host, NextStep, Plan, Report, Response, ToolOutcome, Trace,
    TraceState,
};
use toolcrib_dialect::Dialect;
use toolcrib_engine::Crib;

use super::active_batches::BatchListing;

pub(crate) struct BatchJob {
    pub(crate) crib: Crib,
    pub(crate) plan: Plan,
    /// Under which it runs; `None`: as the file has it.
    pub(crate) profile: Option<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) dialect: Option<Box<dyn Dialect>>,
    pub(crate) cancel: CancellationToken,
    pub(crate) listing: BatchListing,
    pub(crate) trace: Trace,
    pub(crate) trace_state: Option<TraceState>,
}

/// What came of a batch.
pub(crate) struct BatchReply {
    pub(crate) reply: Bytes,
    /// Whether anything may have been sent: if not, who comes again is to have it run.
    pub(crate) ran: bool,
}

impl BatchJob {
    /// Of a batch that tells somebody how it goes.
    pub(crate) fn heard_by(&self, host: Arc<dyn Host>) -> BatchOptions {
        let cancel = self.cancel.clone();
        BatchOptions { cancel, host: Some(host), ..BatchOptions::default() }
    }

    pub(crate) async fn done(self, options: BatchOptions) -> BatchReply {
        let Self { trace, trace_state, .. } = self;
        let options = BatchOptions { trace: Some(trace), trace_state, ..options };
        let report = self.crib.run_with(&self.plan, self.calls, options).await;
        let caller = Arc::clone(self.plan.caller());
        let told_to_caller = |response: &Response| told(response, &caller);
        let mut run = self.plan.run().clone();
        let turn = match run.absorb(&report) {
            NextStep::GoOn => "go_on",
            NextStep::HandedOver { .. } => "handed_over",
            NextStep::Waiting(_) => "waiting",
        };
        let mut answer = json!({
            "id": self.listing.id,
            "responses": report.responses.iter().map(told_to_caller).collect::<Vec<_>>(),
            "tickets": report.responses.iter().filter_map(ticket).collect::<Vec<_>>(),
            "checks": checks(&report),
            "references": references(&report),
            "turn": turn,
            "run": run,
        });
        if let (Some(dialect), Value::Object(fields)) = (&self.dialect, &mut answer) {
            fields.insert("messages".to_owned(), dialect.results(&report).into());
        }
        let is_unsent = |response: &Response| matches!(&response.outcome, ToolOutcome::Failed(error) if error.kind.never_sent());
        let ran = report.responses.is_empty() || !report.responses.iter().all(is_unsent);
        BatchReply { reply: answer.to_string().into(), ran }
    }
}

/// A response as its caller is told it: what lies behind a failure is the operator's, as it may
/// name files and addresses of this machine.
pub(crate) fn told(response: &Response, caller: &Caller) -> Value {
    let mut told = response.to_json();
    if let Some(debug) = told.get_mut("debug").and_then(Value::as_object_mut)
        && !is_operator(caller)
    {
        debug.remove("cause");
    }
    told
}

fn ticket(response: &Response) -> Option<Value> {
    let ToolOutcome::Pending(pending) = &response.outcome else { return None };
    Some(json!({
        "ticket": pending.ticket,
        "reason": pending.reason,
        "id": response.id,
        "name": response.name,
    }))
}

/// The checks of all calls, each once.
fn checks(report: &Report) -> Vec<&String> {
    let checks = report.responses.iter().flat_map(|response| &response.checks);
    checks.collect::<IndexSet<_>>().into_iter().collect()
}

fn references(report: &Report) -> Vec<Value> {
    let cited = report.responses.iter().flat_map(|response| &response.references);
    let mut numbers = IndexSet::new();
    cited.filter(|cited| numbers.insert(cited.number)).map(|cited| json!(cited)).collect()
}
