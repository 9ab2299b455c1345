//! `/v1/catalog`: all tools in columns, as the page lists them, and one with all that is known of it.
//!
//! In columns, since ten thousand rows would repeat the name of each field ten thousand times.

use std::collections::BTreeSet;
use std::time::Duration;

use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};
use toolcrib_core::{Catalog, Discovery, Plan, PlanRequest, ToolExplanation, ToolSpec};
use toolcrib_engine::Crib;
use toolcrib_engine::discovery::{DefinitionTokens, definition_tokens};

use super::provenance::provenance;
use crate::http::rest::tools::{VisibleTools, unknown};
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{HttpReply, json as reply, json_bytes, text};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// The columns, in the order of the cells of a row.
const COLUMNS: [&str; 9] =
    ["name", "source", "summary", "category", "effect", "state", "because", "tokens", "stale"];

/// How long a count is waited for, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

type Row = [Value; COLUMNS.len()];

pub(crate) fn columns(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let (crib, plan) = planned(&asked)?;
        let known = VisibleTools::of(&crib, &asked.caller)?;
        let catalog = plan.catalog();
        let weighed = weighed(catalog).await;
        let listed = catalog.loaded().iter().map(|tool| (&*tool.spec, tool.stale));
        let beside = catalog.tools().iter().skip(catalog.loaded().len());
        let beside = beside.map(|tool| (&*tool.spec, tool.stale));
        let kept_out = catalog.quarantined().iter().map(|tool| (&*tool.spec, false));
        let specs = listed.chain(beside).chain(kept_out);
        let reasons = plan.reasons().into_iter().filter(|why| why.rule != "discovery");
        let tokens = weighed.tokens.iter().copied().map(Some).chain(std::iter::repeat(None));
        let mut rows: Vec<(&ToolSpec, Row)> = Vec::new();
        for (((spec, stale), why), tokens) in specs.zip(reasons).zip(tokens) {
            // One that is kept out may have the name of one that is not.
            let is_hidden = why.rule == "quarantined" && !matches!(known, VisibleTools::All);
            if known.has(&why.tool) && !is_hidden {
                rows.push((spec, row(spec, &why, (tokens, stale))));
            }
        }
        Ok(tagged(&asked, &in_columns(&rows, weighed.counted)))
    })
}

/// What the definitions take. Whoever asks waits for the count for a moment: that of some hundred
/// tools is done by then.
async fn weighed(catalog: &Catalog) -> DefinitionTokens {
    let last = Instant::now() + PATIENCE;
    loop {
        let weighed = definition_tokens(catalog);
        if weighed.counted || Instant::now() >= last {
            return weighed;
        }
        sleep(LOOK_AGAIN).await;
    }
}

/// The whole plan of the caller, whatever a model would be shown of it.
fn planned(asked: &GatewayRequest) -> Result<(Crib, Plan), HttpProblem> {
    let crib = asked.crib(asked.query.get("profile"))?;
    let plan = crib.plan(&asked.caller, PlanRequest::default().show(Discovery::Direct));
    let plan =
        plan.map_err(|error| HttpProblem::new(ProblemKind::NothingLeft, error.to_string()))?;
    Ok((crib, plan))
}

fn row(spec: &ToolSpec, why: &ToolExplanation, (tokens, stale): (Option<usize>, bool)) -> Row {
    let standing = if why.visible { "on" } else { why.rule };
    [
        json!(spec.name),
        json!(spec.origin.source),
        json!(spec.summary),
        json!(spec.category),
        json!(spec.effect),
        json!(standing),
        json!(why.because),
        json!(tokens),
        json!(stale),
    ]
}

fn in_columns(rows: &[(&ToolSpec, Row)], counted: bool) -> Value {
    let mut columns = Map::new();
    for (place, name) in COLUMNS.iter().enumerate() {
        let cells = rows.iter().filter_map(|(_, row)| row.get(place).cloned()).collect();
        columns.insert((*name).to_owned(), Value::Array(cells));
    }
    let sources: BTreeSet<_> = rows.iter().map(|(spec, _)| spec.origin.source.as_str()).collect();
    let categories: BTreeSet<_> =
        rows.iter().filter_map(|(spec, _)| spec.category.as_deref()).collect();
    json!({
        "total": rows.len(),
        "columns": columns,
        "sources": sources,
        "categories": categories,
        "tokens_counted": counted,
    })
}

/// The answer with a tag of what it holds, or nothing where the caller has just that.
fn tagged(asked: &GatewayRequest, value: &Value) -> HttpReply {
    let body = value.to_string();
    let digest = Sha256::digest(body.as_bytes());
    let tag = digest.iter().take(16).fold(String::new(), |tag, byte| format!("{tag}{byte:02x}"));
    let tag = format!("\"{tag}\"");
    let known = asked.headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    let mut answer = if known
        .is_some_and(|known| known.split(',').any(|own| own.trim().trim_start_matches("W/") == tag))
    {
        let mut same = text(String::new());
        *same.status_mut() = StatusCode::NOT_MODIFIED;
        same
    } else {
        json_bytes(body.into())
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        answer.headers_mut().insert(header::ETAG, tag);
    }
    answer
}

/// One tool of a source: what it says of itself, where it stands in the plan, and what it costs.
pub(crate) fn one(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let (crib, plan) = planned(&asked)?;
        let known = VisibleTools::of(&crib, &asked.caller)?;
        let [source, name] = asked.segments.as_slice() else {
            return Err(unknown(&crib, &plan, asked.segment()));
        };
        let catalog = plan.catalog();
        let is_it =
            |spec: &ToolSpec| spec.name.as_str() == name && spec.origin.source.as_str() == source;
        let weighed = weighed(catalog).await;
        let place = catalog.tools().iter().position(|tool| is_it(&tool.spec));
        let listed = place.and_then(|place| catalog.tools().get(place));
        let kept_out = catalog.quarantined().iter().rev().find(|tool| is_it(&tool.spec));
        let (spec, fingerprint, stale, given) = match (listed, kept_out) {
            (Some(tool), _) => (&tool.spec, tool.fingerprint, tool.stale, Some(tool.tool.spec())),
            (None, Some(tool)) => (&tool.spec, tool.fingerprint, false, None),
            (None, None) => return Err(unknown(&crib, &plan, name)),
        };
        let is_hidden = listed.is_none() && !matches!(known, VisibleTools::All);
        let why = plan.reasons().into_iter().find(|why| {
            why.tool == spec.name && why.source == spec.origin.source && known.has(&why.tool)
        });
        let why = why.filter(|_| !is_hidden);
        let why = why.ok_or_else(|| unknown(&crib, &plan, name))?;
        let tokens = place.and_then(|place| weighed.tokens.get(place));
        let fields = provenance(&asked, spec, given);
        Ok(reply(&json!({
            "spec": spec.to_json(),
            "signature": toolcrib_json::schema::signature(name, &spec.input.value()),
            "fingerprint": fingerprint,
            "stale": stale,
            "why": why,
            "tokens": tokens,
            "tokens_counted": weighed.counted,
            "fields": fields,
        })))
    })
}
