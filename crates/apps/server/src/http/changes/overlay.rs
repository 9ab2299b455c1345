//! `/v1/overlay`: single fields that hold over the file, for the operator.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::overlay_answer::{told, unknown, unreadable};
use super::overlay_edit::{OverlayRequest, VersionedEdit, changed, name, on_disk, requested};
use crate::config::overlays::overlaid_config::{
    self, ChangeProblem, FieldChange, FieldChanges, LONGEST_WHY, OverlayEdit,
};
use crate::http::rest::plan::whole;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Fields that one request changes at the most.
const MOST_CHANGES: usize = 1_000;
/// Characters of the longest path.
const LONGEST_PATH: usize = 1_024;

/// Changes of fields over the file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverlayBody {
    /// The `version` that was seen: with another one nothing is changed.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    expect: u64,
    #[schemars(length(min = 1, max = MOST_CHANGES))]
    changes: Vec<FieldChangeBody>,
    /// For whoever reads it later.
    #[schemars(length(max = LONGEST_WHY))]
    why: Option<String>,
    /// When the changes end by themselves, as RFC 3339 writes it.
    #[schemars(extend("format" = "date-time"))]
    until: Option<String>,
    /// Tells what would come of it, and changes nothing.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FieldChangeBody {
    /// As the file would name it: `tool.github__delete_repo.enabled`.
    #[schemars(length(max = LONGEST_PATH))]
    path: String,
    /// What the field says from now on; `null` takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Value")]
    value: Option<Value>,
    /// Takes back what was changed there, in the place of `value`.
    #[serde(default)]
    unset: bool,
    /// With `unset`: only what this row has changed there.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    row: Option<u64>,
}

impl OverlayBody {
    /// Refuses what the document of this door refuses, in a trial too, and reads `until`: seconds
    /// since the epoch.
    fn check(&self) -> Result<Option<u64>, HttpProblem> {
        let refused = |detail| HttpProblem::new(ProblemKind::InvalidBody, detail);
        if self.changes.is_empty() || self.changes.len() > MOST_CHANGES {
            return Err(refused(format!("`changes` must have from 1 to {MOST_CHANGES} items")));
        }
        let is_longer = |text: &str, most: usize| text.chars().nth(most).is_some();
        if let Some(place) = self.changes.iter().position(|it| is_longer(&it.path, LONGEST_PATH)) {
            let detail = format!("`changes[{place}].path` has more than {LONGEST_PATH} characters");
            return Err(refused(detail));
        }
        checked(self.why.as_deref(), self.until.as_deref())
    }
}

/// Refuses a `why` that is too long, and reads `until`: seconds since the epoch.
pub(crate) fn checked(why: Option<&str>, until: Option<&str>) -> Result<Option<u64>, HttpProblem> {
    let refused = |detail| HttpProblem::new(ProblemKind::InvalidBody, detail);
    if why.is_some_and(|why| why.chars().nth(LONGEST_WHY).is_some()) {
        return Err(refused(format!("`why` has more than {LONGEST_WHY} characters")));
    }
    let Some(until) = until else { return Ok(None) };
    let Ok(until) = until.parse::<Timestamp>() else {
        let detail = "`until` must be a time as RFC 3339 writes it: `2030-01-31T12:00:00Z`";
        return Err(refused(detail.to_owned()));
    };
    // What lies before the epoch has passed as well.
    Ok(Some(u64::try_from(until.as_second()).unwrap_or(0)))
}

/// Tells `null` from nothing.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        on_disk(&Arc::new(asked), |_, over| {
            let overlay = over.read().map_err(|error| unreadable(&error))?;
            Ok(reply(&told(&over, &overlay)))
        })
        .await
    })
}

pub(crate) fn change(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: OverlayBody = asked.json()?;
        let (expect, is_trial) = (body.expect, body.dry_run);
        let until = body.check()?;
        let changes = wanted(body, until, name(&asked.caller));
        requested(Arc::new(asked), OverlayRequest { changes, expect, is_trial }).await
    })
}

pub(crate) fn undo(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let Ok(number) = asked.segment().parse() else { return Err(unknown(asked.segment())) };
        let edit = OverlayEdit::Undo(vec![number]);
        changed(Arc::new(asked), VersionedEdit { edit, expect: None }).await
    })
}

fn wanted(
    body: OverlayBody,
    until: Option<u64>,
    by: String,
) -> Result<FieldChanges, Vec<ChangeProblem>> {
    let problem = |path: &str, message: String| ChangeProblem { path: path.to_owned(), message };
    let mut problems = Vec::new();
    let mut fields = Vec::new();
    for FieldChangeBody { path, value, unset, row } in body.changes {
        match overlaid_config::path(&path) {
            Err(error) => problems.push(problem(&path, error.to_string())),
            Ok(_) if unset == value.is_some() || row.is_some() && !unset => {
                let message = "either `value` or `unset` must be there, and `row` with the second";
                problems.push(problem(&path, message.to_owned()));
            }
            Ok(path) => fields.push(FieldChange { path, value, row }),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(FieldChanges { fields, by, why: body.why.filter(|why| !why.is_empty()), until })
}
