//! `POST /v1/sources`: a source that is added over the file, from what `POST /v1/sources/dry-run`
//! takes.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toolcrib_config::import::ImportNote;
use toolcrib_config::{AddedSources, Disclosure, OverlayPath, added_sources};

use super::new_source::{SourceWish, WrittenSources, starts, taken, taken_id};
use crate::config::overlays::overlaid_config::{
    ChangeProblem, FieldChange, FieldChanges, LONGEST_WHY,
};
use crate::http::changes::overlay::checked;
use crate::http::changes::overlay_edit::{OverlayRequest, name, requested, rows_now};
use crate::http::rest::plan::whole;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Programs that one request names.
const MOST_STARTS: usize = 100;

/// What is to be a source from now on: one of the first four.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSourceBody {
    /// The `mcpServers` of another program, or its whole file.
    snippet: Option<String>,
    /// The address of a document of an API.
    document: Option<String>,
    /// The address of the card of an agent.
    card: Option<String>,
    /// The address of a server of MCP.
    server: Option<String>,
    /// The `version` of the changes that was seen: with another one nothing is changed.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    expect: u64,
    /// The programs that it starts, word for word, as a person has seen them: with other ones
    /// nothing is changed.
    #[serde(default)]
    #[schemars(length(max = MOST_STARTS))]
    starts: Vec<Vec<String>>,
    /// For whoever reads it later.
    #[schemars(length(max = LONGEST_WHY))]
    why: Option<String>,
    /// When it goes by itself, as RFC 3339 writes it.
    #[schemars(extend("format" = "date-time"))]
    until: Option<String>,
    /// Tells what would come of it, and changes nothing.
    #[serde(default)]
    dry_run: bool,
}

pub(crate) fn add(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: NewSourceBody = asked.json()?;
        if body.starts.len() > MOST_STARTS {
            let detail = format!("`starts` has more than {MOST_STARTS} items");
            return Err(HttpProblem::new(ProblemKind::InvalidBody, detail));
        }
        let until = checked(body.why.as_deref(), body.until.as_deref())?;
        let (expect, is_trial) = (body.expect, body.dry_run);
        let asked = Arc::new(asked);
        let mut taken = taken(&asked.gateway);
        // Those of which the server that follows them has not heard yet.
        taken.extend(rows_now(&asked).await?.iter().filter_map(|row| source_id(&row.path)));
        let fields = sources(&asked, &body, &taken);
        let changes = fields.map(|fields| FieldChanges {
            fields,
            by: name(&asked.caller),
            why: body.why.filter(|why| !why.is_empty()),
            until,
        });
        requested(asked, OverlayRequest { changes, expect, is_trial }).await
    })
}

fn source_id(path: &OverlayPath) -> Option<String> {
    path.keys().get(1).filter(|_| path.is_source()).cloned()
}

/// Each source as a change, or all that is in the way.
fn sources(
    asked: &GatewayRequest,
    body: &NewSourceBody,
    taken: &[String],
) -> Result<Vec<FieldChange>, Vec<ChangeProblem>> {
    let problem = |path: String, message: String| ChangeProblem { path, message };
    let wish = SourceWish {
        snippet: body.snippet.as_deref(),
        document: body.document.as_deref(),
        card: body.card.as_deref(),
        server: body.server.as_deref(),
    };
    let written = wish.written(taken).map_err(|wrong| vec![problem("source".to_owned(), wrong)])?;
    let AddedSources { sources: found, others } = added_sources(&written.toml);
    if !others.is_empty() {
        let others = others.into_iter().map(|key| {
            let message = format!("{key}: only sources are added over the file: leave it out");
            problem(key, message)
        });
        return Err(others.collect());
    }
    let mut problems: Vec<_> =
        written.notes.iter().filter(|note| note.is_secret).map(pasted_secret).collect();
    // What a person is to have seen of it comes once there is no secret in it.
    if problems.is_empty() {
        problems.extend(started_otherwise(asked, &written, &body.starts));
    }
    for (path, _) in &found {
        if let Some(id) = source_id(path).filter(|id| taken.contains(id)) {
            problems.push(problem(path.to_string(), taken_id(&id, taken)));
        }
    }
    if found.is_empty() {
        problems.push(problem("source".to_owned(), "there is no source in it".to_owned()));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let change = |(path, value): (_, Value)| FieldChange { path, value: Some(value), row: None };
    Ok(found.into_iter().map(change).collect())
}

/// A secret that was pasted, which goes nowhere.
fn pasted_secret(note: &ImportNote) -> ChangeProblem {
    let path = note.source.as_deref().map(OverlayPath::of_source);
    let path = path.map_or_else(|| "source".to_owned(), |path| path.to_string());
    let message = match &note.export {
        Some(variable) => format!(
            "{path}: a secret was pasted, and none is kept here: export it as `{variable}` where \
             the server runs, and paste `${{{variable}}}` in its place"
        ),
        None => format!("{path}: {}", note.text),
    };
    ChangeProblem { path, message }
}

/// What is in the way where other programs would be started than those that a person has seen.
fn started_otherwise(
    asked: &GatewayRequest,
    written: &WrittenSources,
    seen: &[Vec<String>],
) -> Option<ChangeProblem> {
    let read = written.read(&asked.gateway);
    let Some(config) = read.config else {
        let lines: Vec<_> = read.problems.iter().map(ToString::to_string).collect();
        return Some(ChangeProblem { path: "source".to_owned(), message: lines.join("\n") });
    };
    let outlines = config.outlines(Disclosure::Whole);
    if starts(&outlines).eq(seen) {
        return None;
    }
    let message = "it starts other programs than `starts` names: look at what \
                   `POST /v1/sources/dry-run` tells, and name exactly that";
    Some(ChangeProblem { path: "starts".to_owned(), message: message.to_owned() })
}
