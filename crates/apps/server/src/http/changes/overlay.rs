//! `/v1/overlay`: single fields that hold over the file, for the operator.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use toolcrib_auth::LOCAL;
use toolcrib_config::{Overlay, OverlayRow, OverlayStanding};
use toolcrib_core::{Caller, Fingerprint};

use super::effects::effects;
use super::history::missing;
use crate::config::overlays::overlaid_config::{
    self, ChangeProblem, EditedOverlay, FieldChange, FieldChanges, LONGEST_WHY, OverlaidConfig,
    OverlayEdit, OverlayRefusal,
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
/// Longest value that a record of it shows, in bytes of JSON.
const LONGEST_RECORDED: usize = 500;

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
        if self.why.as_ref().is_some_and(|why| is_longer(why, LONGEST_WHY)) {
            return Err(refused(format!("`why` has more than {LONGEST_WHY} characters")));
        }
        let Some(until) = &self.until else { return Ok(None) };
        let Ok(until) = until.parse::<Timestamp>() else {
            let detail = "`until` must be a time as RFC 3339 writes it: `2030-01-31T12:00:00Z`";
            return Err(refused(detail.to_owned()));
        };
        // What lies before the epoch has passed as well.
        Ok(Some(u64::try_from(until.as_second()).unwrap_or(0)))
    }
}

/// Tells `null` from nothing.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let over = asked.gateway.overlay.config()?;
        let overlay = over.read().map_err(|error| unreadable(&error))?;
        Ok(reply(&told(&over, &overlay)))
    })
}

pub(crate) fn change(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: OverlayBody = asked.json()?;
        let (expect, is_trial) = (body.expect, body.dry_run);
        let until = body.check()?;
        let over = asked.gateway.overlay.config()?;
        let edit = match wanted(body, until, name(&asked.caller)) {
            Ok(changes) => OverlayEdit::Set(changes),
            Err(problems) if is_trial => return tried(&over, &problems),
            Err(problems) => return Err(refused(OverlayRefusal::Problems(problems), &over)),
        };
        if !is_trial {
            return changed(asked, (over, edit, Some(expect))).await;
        }
        match over.try_out(&edit, Some(expect)) {
            Ok(edited) => Ok(reply(&of_edit(&asked, &over, &edited, None))),
            Err(OverlayRefusal::Problems(problems)) => tried(&over, &problems),
            Err(other) => Err(refused(other, &over)),
        }
    })
}

pub(crate) fn undo(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let over = asked.gateway.overlay.config()?;
        let Ok(number) = asked.segment().parse() else { return Err(unknown(asked.segment())) };
        changed(asked, (over, OverlayEdit::Undo(vec![number]), None)).await
    })
}

/// Changes it, and waits until that is in force. Whoever goes away meanwhile does not leave it half
/// done.
async fn changed(
    asked: GatewayRequest,
    (over, edit, expect): (OverlaidConfig, OverlayEdit, Option<u64>),
) -> Result<crate::http::routes::reply::HttpReply, HttpProblem> {
    let doing = tokio::spawn(async move {
        let (over, edited) = written(&asked, over, edit, expect).await?;
        let version = edited.after.version;
        let is_followed = asked.gateway.overlay.wait_for(version).await;
        let mut because = asked.gateway.refused_file();
        if !is_followed {
            because.push("it takes more time: look at it again".to_owned());
        }
        Ok(reply(&of_edit(&asked, &over, &edited, Some(&because))))
    });
    doing.await.unwrap_or_else(|_| {
        let detail = "it broke off: look at the changes, and make yours again if it is not there";
        Err(HttpProblem::new(ProblemKind::Broken, detail))
    })
}

async fn written(
    asked: &GatewayRequest,
    over: OverlaidConfig,
    edit: OverlayEdit,
    expect: Option<u64>,
) -> Result<(OverlaidConfig, EditedOverlay), HttpProblem> {
    let (telemetry, by) = (asked.gateway.telemetry.clone(), asked.caller.clone());
    let runtime = tokio::runtime::Handle::current();
    // Files are locked, read and written to the disk.
    let writing = tokio::task::spawn_blocking(move || {
        let record = |edited: &EditedOverlay| {
            let Some(audit) = &telemetry.audit else { return Ok(()) };
            Ok(runtime.block_on(audit.changed(records(edited, &by)))?)
        };
        let edited = over.edit(&edit, expect, &name(&by), record);
        let edited = edited.map_err(|refusal| refused(refusal, &over))?;
        if let Some(cause) = &edited.unnoted {
            missing(cause);
        }
        Ok((over, edited))
    });
    writing.await.unwrap_or_else(|_| {
        Err(HttpProblem::new(ProblemKind::Broken, "the change broke off: make it again"))
    })
}

/// What is recorded of an edit: a line for each row.
fn records(edited: &EditedOverlay, by: &Caller) -> Vec<Value> {
    let line = |row: &OverlayRow, act: &str| {
        let value = row.value.to_string();
        let short = (value.len() <= LONGEST_RECORDED).then(|| row.value.clone());
        json!({
            "record": "overlay",
            "act": act,
            "change": row.id,
            "path": row.path,
            "value": short,
            "value_digest": Fingerprint::of(&row.value),
            "until": row.until,
            "why": row.why,
            "version": edited.after.version,
            "changed_by": { "tenant": by.tenant, "subject": by.subject },
        })
    };
    let gone = edited.gone.iter().map(|row| line(row, "taken_back"));
    gone.chain(edited.made.iter().map(|row| line(row, "made"))).collect()
}

/// Who has changed something, in a word.
pub(crate) fn name(caller: &Caller) -> String {
    let (tenant, subject) = (&caller.tenant, &caller.subject);
    if tenant == LOCAL { subject.clone() } else { format!("{subject} of {tenant}") }
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

/// What there is now, as everybody is told it.
fn told(over: &OverlaidConfig, overlay: &Overlay) -> Value {
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

/// `because`: why it is not in force, if it was made; `None`: it was not.
fn of_edit(
    asked: &GatewayRequest,
    over: &OverlaidConfig,
    edited: &EditedOverlay,
    because: Option<&[String]>,
) -> Value {
    let catalog = asked.gateway.live.crib().catalog();
    let landed = edited.landed.iter().map(|row| row.path.to_string());
    let shown = if because.is_some() { &edited.after } else { &edited.before };
    json!({
        "version": shown.version,
        "rows": rows(over, shown),
        "made": edited.made.iter().map(|row| row.id).collect::<Vec<_>>(),
        "landed": landed.collect::<Vec<_>>(),
        "problems": [],
        "effects": effects(over, edited, &catalog, &asked.caller),
        "in_force": because.map(<[String]>::is_empty),
        "because": because.unwrap_or_default(),
    })
}

/// What a trial finds that may not be.
fn tried(
    over: &OverlaidConfig,
    problems: &[ChangeProblem],
) -> Result<crate::http::routes::reply::HttpReply, HttpProblem> {
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

fn refused(refusal: OverlayRefusal, over: &OverlaidConfig) -> HttpProblem {
    match refusal {
        OverlayRefusal::Version(overlay) => {
            let detail = format!(
                "it was changed meanwhile: it has version {} now; look at it and change it again",
                overlay.version
            );
            let now = told(over, &overlay);
            HttpProblem::new(ProblemKind::VersionConflict, detail).telling("overlay", now)
        }
        OverlayRefusal::Problems(problems) => {
            let lines: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
            let told = problems.iter().map(ChangeProblem::to_json).collect();
            HttpProblem::new(ProblemKind::ChangeRefused, lines.join("\n"))
                .telling("problems", Value::Array(told))
        }
        OverlayRefusal::UnknownRow(number) => unknown(&number.to_string()),
        OverlayRefusal::Other(error) => unreadable(&error),
    }
}

fn unreadable(error: &anyhow::Error) -> HttpProblem {
    HttpProblem::new(ProblemKind::Unavailable, format!("nothing was changed: {error:#}"))
}

fn unknown(number: &str) -> HttpProblem {
    let shown: String = number.chars().take(40).collect();
    let detail = format!("there is no change `{shown}`: `GET /v1/overlay` lists them");
    HttpProblem::new(ProblemKind::UnknownChange, detail)
}

pub(crate) fn time(seconds: u64) -> String {
    let at = i64::try_from(seconds).ok().and_then(|at| Timestamp::from_second(at).ok());
    at.map_or_else(|| seconds.to_string(), |at| at.to_string())
}
