//! How what somebody wants changed over the file is done: tried out, or permitted, recorded, written
//! and waited for.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_auth::{LOCAL, ProtectedResource};
use toolcrib_config::{AddedSource, OverlayRow};
use toolcrib_core::{Caller, Fingerprint};

use super::history;
use super::overlay_answer::{of_edit, told, tried, unknown, unreadable};
use crate::config::ProcessLookup;
use crate::config::overlays::overlaid_config::{
    ChangeProblem, EditedOverlay, FieldChanges, OverlaidConfig, OverlayEdit, OverlayRefusal,
};
use crate::http::page::role::{EXECUTE, executes};
use crate::http::pipeline::authentication::lacking;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{HttpReply, json as reply};
use crate::http::routes::request::GatewayRequest;

/// Longest value that a record of it shows, in bytes of JSON.
const LONGEST_RECORDED: usize = 500;

/// Changes that somebody asks for.
pub(crate) struct OverlayRequest {
    /// Or what is wrong with what was asked.
    pub(crate) changes: Result<FieldChanges, Vec<ChangeProblem>>,
    /// The version that was seen.
    pub(crate) expect: u64,
    /// Nothing is changed.
    pub(crate) is_trial: bool,
}

/// An edit, and which version it is of; `None`: of whichever there is.
pub(super) struct VersionedEdit {
    pub(super) edit: OverlayEdit,
    pub(super) expect: Option<u64>,
}

/// The rows that there are now, also those that nobody follows yet.
pub(crate) async fn rows_now(asked: &Arc<GatewayRequest>) -> Result<Vec<OverlayRow>, HttpProblem> {
    on_disk(asked, |_, over| Ok(over.read().map_err(|error| unreadable(&error))?.rows)).await
}

pub(crate) async fn requested(
    asked: Arc<GatewayRequest>,
    request: OverlayRequest,
) -> Result<HttpReply, HttpProblem> {
    let expect = Some(request.expect);
    let changes = match request.changes {
        Ok(changes) => changes,
        Err(problems) if request.is_trial => {
            return on_disk(&asked, move |_, over| tried(&over, &problems)).await;
        }
        Err(problems) => {
            return on_disk(&asked, move |asked, over| {
                Err(refused(asked, &over, OverlayRefusal::Problems(problems)))
            })
            .await;
        }
    };
    let wanted = VersionedEdit { edit: OverlayEdit::Set(changes), expect };
    if !request.is_trial {
        return changed(asked, wanted).await;
    }
    on_disk(&asked, move |asked, over| {
        let edited = over.try_out(&wanted.edit, wanted.expect);
        let permitted = edited.and_then(|edited| {
            permitted(&over, &edited, &asked.caller)?;
            Ok(edited)
        });
        match permitted {
            Ok(edited) => {
                let now = asked.gateway.live.crib().catalog();
                Ok(reply(&of_edit(asked, &over, &edited, now, None)))
            }
            Err(OverlayRefusal::Problems(problems)) => tried(&over, &problems),
            Err(other) => Err(refused(asked, &over, other)),
        }
    })
    .await
}

/// Does what needs the disk on a thread that may wait for it.
pub(super) async fn on_disk<T: Send + 'static>(
    asked: &Arc<GatewayRequest>,
    work: impl FnOnce(&GatewayRequest, OverlaidConfig) -> Result<T, HttpProblem> + Send + 'static,
) -> Result<T, HttpProblem> {
    let asked = Arc::clone(asked);
    let working = tokio::task::spawn_blocking(move || {
        let over = asked.gateway.overlay.config()?;
        work(&asked, over)
    });
    working.await.unwrap_or_else(|_| {
        let detail = "it broke off: look at the changes, and make yours again if it is not there";
        Err(HttpProblem::new(ProblemKind::Broken, detail))
    })
}

/// Changes it, and waits until that is in force. Whoever goes away meanwhile does not leave it half
/// done.
pub(super) async fn changed(
    asked: Arc<GatewayRequest>,
    wanted: VersionedEdit,
) -> Result<HttpReply, HttpProblem> {
    let doing = tokio::spawn(async move {
        let before = asked.gateway.live.crib().catalog();
        let edited = on_disk(&asked, move |asked, over| written(asked, &over, &wanted)).await?;
        let is_followed = asked.gateway.overlay.wait_for(edited.after.version).await;
        let mut because = asked.gateway.refused_file();
        if !is_followed {
            because.push("it takes more time: look at it again".to_owned());
        }
        on_disk(&asked, move |asked, over| {
            Ok(reply(&of_edit(asked, &over, &edited, before, Some(&because))))
        })
        .await
    });
    doing.await.unwrap_or_else(|_| {
        let detail = "it broke off: look at the changes, and make yours again if it is not there";
        Err(HttpProblem::new(ProblemKind::Broken, detail))
    })
}

/// Blocks: files are locked, read and written to the disk.
fn written(
    asked: &GatewayRequest,
    over: &OverlaidConfig,
    wanted: &VersionedEdit,
) -> Result<EditedOverlay, HttpProblem> {
    let runtime = tokio::runtime::Handle::current();
    let record = |edited: &EditedOverlay| {
        permitted(over, edited, &asked.caller)?;
        let Some(audit) = &asked.gateway.telemetry.audit else { return Ok(()) };
        let recorded = runtime.block_on(audit.changed(records(edited, &asked.caller)));
        recorded.map_err(|error| OverlayRefusal::Other(error.into()))
    };
    let edited = over.edit(&wanted.edit, wanted.expect, &name(&asked.caller), record);
    let edited = edited.map_err(|refusal| refused(asked, over, refusal))?;
    if let Some(cause) = &edited.unnoted {
        history::missing(cause);
    }
    Ok(edited)
}

/// Refuses what this caller may not add, and what could not come into force.
fn permitted(
    over: &OverlaidConfig,
    edited: &EditedOverlay,
    caller: &Caller,
) -> Result<(), OverlayRefusal> {
    if uses_machine(edited) && !executes(caller) {
        return Err(OverlayRefusal::Scope(EXECUTE));
    }
    let missing = missing(over, edited);
    if missing.is_empty() { Ok(()) } else { Err(OverlayRefusal::Problems(missing)) }
}

/// The new rows that add a source.
fn added(edited: &EditedOverlay) -> impl Iterator<Item = &OverlayRow> {
    edited.made.iter().filter(|row| row.path.is_source())
}

/// Whether a new source takes more of this machine than a way to the public network.
fn uses_machine(edited: &EditedOverlay) -> bool {
    added(edited).any(|row| AddedSource::of(&row.value).is_none_or(|it| it.uses_machine()))
}

/// What new sources name and this process does not have: variables and files. With one of these
/// missing nothing of the file would come into force.
fn missing(over: &OverlaidConfig, edited: &EditedOverlay) -> Vec<ChangeProblem> {
    let new: HashSet<_> = added(edited).map(|row| row.path.to_string()).collect();
    if new.is_empty() {
        return Vec::new();
    }
    let Some(config) = over.config(&edited.after, edited.at) else { return Vec::new() };
    let (problems, _) = config.examine(&ProcessLookup);
    let is_of_new = |path: &str| {
        new.iter().any(|new| {
            let rest = path.strip_prefix(new.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    };
    let of_new = problems.iter().filter(|problem| is_of_new(&problem.path));
    let told = of_new
        .map(|problem| ChangeProblem { path: problem.path.clone(), message: problem.to_string() });
    told.collect()
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

/// Why it was not done, as whoever asked is told it.
fn refused(asked: &GatewayRequest, over: &OverlaidConfig, refusal: OverlayRefusal) -> HttpProblem {
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
        OverlayRefusal::Scope(scope) => {
            lacking(&asked.gateway.guard.access(), ProtectedResource::Whole, scope)
        }
        OverlayRefusal::Other(error) => unreadable(&error),
    }
}
