//! `/v1/drift`: the tools that are not what somebody accepted, and whether they are accepted now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_auth::{AccessLevel, ProtectedResource, needed, reach};
use toolcrib_core::{SourceId, ToolName, ToolSpec};

use super::pins::kept_out;
use crate::config::history::{HistoryAct, HistoryEntry};
use crate::http::changes::history::note;
use crate::http::changes::overlay_edit::name;
use crate::http::pipeline::authentication::lacking;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

const DEFAULT_PAGE: usize = 20;
/// Each may tell some hundred lines.
pub(crate) const LARGEST_PAGE: usize = 50;
/// Tools of one decision.
const MOST: usize = 1_000;
/// Letters of why.
const LONGEST_WHY: usize = 500;

/// Which tools are accepted as they are, and which are kept out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DriftBody {
    /// They may be used from now on.
    #[serde(default)]
    #[schemars(length(max = MOST))]
    accept: Vec<DriftedTool>,
    /// They stay out, and lose the acceptance that they had as they were.
    #[serde(default)]
    #[schemars(length(max = MOST))]
    keep_out: Vec<DriftedTool>,
    /// For the record of decisions.
    #[schemars(length(max = LONGEST_WHY))]
    why: Option<String>,
}

/// A tool as it was looked at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DriftedTool {
    source: String,
    tool: String,
    /// What `GET /v1/drift` said: if the tool is another one by now, nothing is changed.
    fingerprint: String,
}

pub(crate) fn list(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let Some(pins) = asked.gateway.pins.now() else {
            return Ok(reply(&json!({ "pinned": false, "tools": [], "total": 0 })));
        };
        let source = asked.query.get("source");
        let start = asked.query.number("offset", 0);
        let limit = asked.query.number("limit", DEFAULT_PAGE);
        let mut specs = kept_out(&asked.gateway.live);
        specs.retain(|spec| source.is_none_or(|source| spec.origin.source.as_str() == source));
        let told = tokio::task::spawn_blocking(move || {
            let page = specs.iter().skip(start).take(limit);
            let tools: Vec<_> = page.filter_map(|spec| pins.difference(spec)).collect();
            json!({ "pinned": true, "tools": tools, "total": specs.len() })
        });
        let told = told.await;
        told.map(|told| reply(&told))
            .map_err(|error| HttpProblem::new(ProblemKind::Broken, error.to_string()))
    })
}

pub(crate) fn decide(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: DriftBody = asked.json()?;
        // What is accepted may run: that is for whoever could run it.
        if reach(&asked.caller, None) < AccessLevel::All {
            let access = asked.gateway.guard.access();
            return Err(lacking(&access, ProtectedResource::Whole, &needed(None)));
        }
        bounded(&body)?;
        // Whoever goes away meanwhile does not leave it half done.
        let deciding = tokio::spawn(async move { decided(&asked, body).await });
        let decided = deciding.await.map_err(|_| {
            let detail = "it broke off: look at the pin file, and say it again";
            HttpProblem::new(ProblemKind::Broken, detail)
        })?;
        decided.map(|told| reply(&told))
    })
}

fn bounded(body: &DriftBody) -> Result<(), HttpProblem> {
    let invalid = |detail: String| Err(HttpProblem::new(ProblemKind::InvalidBody, detail));
    if body.accept.len().max(body.keep_out.len()) > MOST {
        return invalid(format!("`accept` and `keep_out` name {MOST} tools each at the most"));
    }
    if body.why.as_ref().is_some_and(|why| why.chars().count() > LONGEST_WHY) {
        return invalid(format!("`why` has more than {LONGEST_WHY} letters: make it shorter"));
    }
    Ok(())
}

fn distinct(body: &DriftBody) -> Result<(), HttpProblem> {
    let mut named = BTreeSet::new();
    let mut all = body.accept.iter().chain(&body.keep_out);
    if all.any(|tool| !named.insert((&tool.source, &tool.tool))) {
        let detail = "a tool is named twice: name each once. Nothing was changed";
        return Err(HttpProblem::new(ProblemKind::DriftRefused, detail));
    }
    Ok(())
}

type KnownTools = BTreeMap<(SourceId, ToolName), Arc<ToolSpec>>;

async fn decided(asked: &GatewayRequest, body: DriftBody) -> Result<Value, HttpProblem> {
    let gateway = &asked.gateway;
    if body.accept.is_empty() && body.keep_out.is_empty() {
        return Ok(json!({ "accepted": 0, "kept_out": 0 }));
    }
    if gateway.pins.now().is_none() {
        let detail = "nothing is pinned: `toolcrib lock` writes `crib.lock`, which the server reads \
                      when it starts";
        return Err(HttpProblem::new(ProblemKind::DriftRefused, detail));
    }
    distinct(&body)?;
    let known: KnownTools = kept_out(&gateway.live)
        .into_iter()
        .map(|spec| ((spec.origin.source.clone(), spec.name.clone()), spec))
        .collect();
    let mut others = Vec::new();
    let mut take = |wanted: &[DriftedTool]| -> Vec<Arc<ToolSpec>> {
        let found = wanted.iter().filter_map(|wanted| {
            let found = found(&known, wanted);
            if found.is_none() {
                others.push(json!({ "source": wanted.source, "tool": wanted.tool }));
            }
            found
        });
        found.collect()
    };
    let (accepted, kept) = (take(&body.accept), take(&body.keep_out));
    if !others.is_empty() {
        let detail = "a tool is another one than the one that was looked at, or waits no more: look \
                      at `GET /v1/drift` again. Nothing was changed";
        let problem = HttpProblem::new(ProblemKind::DriftRefused, detail);
        return Err(problem.telling("others", others.into()));
    }
    let record = record(asked, (&accepted, &kept), body.why.as_deref());
    let audited = async {
        let Some(audit) = &gateway.telemetry.audit else { return Ok(()) };
        audit.pinned(record.clone()).await.map_err(anyhow::Error::new)
    };
    let (new, old) = (accepted.clone(), kept.clone());
    let change = move |pins: &mut toolcrib_engine::pins::PinFile| {
        for spec in &new {
            pins.accept(spec);
        }
        for spec in &old {
            pins.forget(spec);
        }
    };
    gateway.pins.change(change, audited).await.map_err(|error| {
        let path = gateway.pins.path().display();
        let detail = format!("nothing was changed in `{path}`: {error:#}");
        HttpProblem::new(ProblemKind::Unavailable, detail)
    })?;
    gateway.live.crib().judge_again();
    noted(asked, (&accepted, &kept), body.why.as_deref()).await;
    Ok(json!({ "accepted": accepted.len(), "kept_out": kept.len() }))
}

/// Puts the decision into the history of its tools. It is in force: whoever asked has its answer,
/// even if this breaks off.
async fn noted(
    asked: &GatewayRequest,
    (accepted, kept): (&[Arc<ToolSpec>], &[Arc<ToolSpec>]),
    why: Option<&str>,
) {
    let Some(history) = asked.gateway.overlay.history() else { return };
    let by = name(&asked.caller);
    let of = |act, specs: &[Arc<ToolSpec>]| -> Vec<_> {
        specs.iter().map(|spec| HistoryEntry::decided(act, spec, &by, why)).collect()
    };
    let mut entries = of(HistoryAct::Accepted, accepted);
    entries.extend(of(HistoryAct::KeptOut, kept));
    let _ = tokio::task::spawn_blocking(move || note(&history, entries)).await;
}

/// The tool, if it is still the one that was looked at.
fn found(known: &KnownTools, wanted: &DriftedTool) -> Option<Arc<ToolSpec>> {
    let name = ToolName::new(&wanted.tool).ok()?;
    let spec = known.get(&(SourceId::new(&wanted.source), name))?;
    (spec.fingerprint().to_string() == wanted.fingerprint).then(|| Arc::clone(spec))
}

fn record(
    asked: &GatewayRequest,
    (accepted, kept): (&[Arc<ToolSpec>], &[Arc<ToolSpec>]),
    why: Option<&str>,
) -> Value {
    let rows = |specs: &[Arc<ToolSpec>]| -> Value {
        let row = |spec: &Arc<ToolSpec>| {
            json!({
                "tool": spec.name,
                "source": spec.origin.source,
                "fingerprint": spec.fingerprint(),
            })
        };
        specs.iter().map(row).collect()
    };
    json!({
        "record": "pins",
        "accepted": rows(accepted),
        "kept_out": rows(kept),
        "reason": why,
        "decided_by": { "tenant": asked.caller.tenant, "subject": asked.caller.subject },
    })
}
