//! What is told of the changes over the file, and of what came of one.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcrib_config::{Overlay, OverlayRow, OverlayStanding};
use toolcrib_core::Catalog;

use super::effects::effects;
use crate::config::overlays::overlaid_config::{ChangeProblem, EditedOverlay, OverlaidConfig};
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{HttpReply, json as reply};
use crate::http::routes::request::GatewayRequest;

/// What there is now, as everybody is told it.
pub(super) fn told(over: &OverlaidConfig, overlay: &Overlay) -> Value {
    json!({ "version": overlay.version, "rows": rows(over, overlay) })
}

fn rows(over: &OverlaidConfig, overlay: &Overlay) -> Vec<Value> {
    let (standings, said) = (over.standings(overlay), over.said_of_each(overlay));
    let standing = |place: usize| (standings.get(place).copied(), said.get(place));
    overlay.rows.iter().enumerate().map(|(place, row)| told_row(row, standing(place))).collect()
}

/// `None` as its standing: the file cannot be read.
fn told_row(
    row: &OverlayRow,
    (standing, said): (Option<OverlayStanding>, Option<&Value>),
) -> Value {
    json!({
        "id": row.id,
        "path": row.path,
        "value": row.value,
        "was": row.was,
        "file": said,
        "by": row.by,
        "at": time(row.at),
        "why": row.why,
        "until": row.until.map(time),
        "state": standing,
    })
}

/// `before`: the tools that there were. `because`: why it is not in force, if it was made; `None`: it was not.
pub(super) fn of_edit(
    asked: &GatewayRequest,
    over: &OverlaidConfig,
    edited: &EditedOverlay,
    before: Arc<Catalog>,
    because: Option<&[String]>,
) -> Value {
    let catalogs = [before, asked.gateway.live.crib().catalog()];
    let landed = edited.landed.iter().map(|row| row.path.to_string());
    let shown = if because.is_some() { &edited.after } else { &edited.before };
    json!({
        "version": shown.version,
        "rows": rows(over, shown),
        "made": edited.made.iter().map(|row| row.id).collect::<Vec<_>>(),
        "landed": landed.collect::<Vec<_>>(),
        "problems": [],
        "effects": effects(over, edited, &catalogs, &asked.caller),
        "in_force": because.map(<[String]>::is_empty),
        "because": because.unwrap_or_default(),
    })
}

/// What a trial finds that may not be.
pub(super) fn tried(
    over: &OverlaidConfig,
    problems: &[ChangeProblem],
) -> Result<HttpReply, HttpProblem> {
    let overlay = over.read().map_err(|error| unreadable(&error))?;
    let mut answer = told(over, &overlay);
    if let Value::Object(fields) = &mut answer {
        let none = json!({ "shown": [], "hidden": [], "relaxed": [] });
        let problems = problems.iter().map(ChangeProblem::to_json).collect::<Vec<_>>();
        let more = json!({ "made": [], "landed": [], "problems": problems, "effects": none,
            "in_force": null, "because": [] });
        if let Value::Object(more) = more {
            fields.extend(more);
        }
    }
    Ok(reply(&answer))
}

pub(super) fn unreadable(error: &anyhow::Error) -> HttpProblem {
    HttpProblem::new(ProblemKind::Unavailable, format!("nothing was changed: {error:#}"))
}

pub(super) fn unknown(number: &str) -> HttpProblem {
    let shown: String = number.chars().take(40).collect();
    let detail = format!("there is no change `{shown}`: `GET /v1/overlay` lists them");
    HttpProblem::new(ProblemKind::UnknownChange, detail)
}

pub(crate) fn time(seconds: u64) -> String {
    let at = i64::try_from(seconds).ok().and_then(|at| Timestamp::from_second(at).ok());
    at.map_or_else(|| seconds.to_string(), |at| at.to_string())
}
