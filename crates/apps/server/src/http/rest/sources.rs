//! `/v1/sources`: how the sources are doing, for the operator.
//!
//! Beside it: `pins` (which tools are accepted while it serves), `drift` (what changed of them),
//! `standard_error` (what a program says), `new_source` (what somebody wants as a source), `dry_run`
//! (what it would be), `probe` (which tools it would bring), `add`.

pub(crate) mod add;
pub(crate) mod drift;
pub(crate) mod dry_run;
mod new_source;
pub(crate) mod pins;
mod probe;
pub(crate) mod standard_error;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_config::{Config, Disclosure, OverlayRow, SourceHandle, SourceOutline};
use toolcrib_core::SourceId;
use toolcrib_engine::catalog::{SourceState, SourceTrouble};

use crate::http::changes::overlay_answer::time;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use crate::http::state::GatewayState;
use crate::secrets;
use crate::telemetry::SourceFigures;

/// A body with nothing in it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmptyBody {}

pub(crate) fn list(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let catalog = asked.gateway.live.crib().catalog();
        let kept_out = |tool: &toolcrib_core::QuarantinedTool| {
            json!({
                "tool": tool.spec.name,
                "source": tool.spec.origin.source,
                "fingerprint": tool.fingerprint,
                "reason": tool.reason.to_string(),
            })
        };
        let known = KnownSources::of(&asked.gateway);
        let states = asked.gateway.live.crib().sources();
        let mut answer = json!({
            "sources": states.iter().map(|state| known.row(state)).collect::<Vec<_>>(),
            "off": known.off(),
            "quarantined": catalog.quarantined().iter().map(kept_out).collect::<Vec<_>>(),
        });
        secrets::mask(&mut answer);
        Ok(reply(&answer))
    })
}

pub(crate) fn reload(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let EmptyBody {} = asked.json()?;
        let crib = asked.gateway.live.crib();
        let id = asked.segment();
        let loaded = crib.reload(&SourceId::new(id)).await;
        let state = crib.sources().into_iter().find(|source| source.id.as_str() == id);
        let (Some(loaded), Some(state)) = (loaded, state) else { return Err(unknown()) };
        let mut answer = json!({
            "loaded": loaded,
            "source": KnownSources::of(&asked.gateway).row(&state),
        });
        secrets::mask(&mut answer);
        Ok(reply(&answer))
    })
}

pub(super) fn unknown() -> HttpProblem {
    let detail = "`/v1/sources` lists those of the configuration";
    HttpProblem::new(ProblemKind::UnknownSource, detail)
}

/// What is known of the sources beside how they are doing.
struct KnownSources<'a> {
    gateway: &'a GatewayState,
    file: Option<Arc<Config>>,
    outlines: Vec<SourceOutline>,
    troubles: Vec<SourceTrouble>,
    running: BTreeMap<String, u64>,
    figures: BTreeMap<SourceId, SourceFigures>,
    /// Tools that wait for somebody to accept them.
    drift: BTreeMap<SourceId, usize>,
}

impl<'a> KnownSources<'a> {
    fn of(gateway: &'a GatewayState) -> Self {
        let file = gateway.file();
        let outlines = file.as_ref().map(|file| file.outlines(Disclosure::Masked));
        let mut drift = BTreeMap::new();
        for spec in pins::kept_out(&gateway.live) {
            *drift.entry(spec.origin.source.clone()).or_default() += 1;
        }
        Self {
            gateway,
            file,
            outlines: outlines.unwrap_or_default(),
            troubles: gateway.live.crib().troubles(),
            running: gateway.telemetry.recent.running(),
            figures: gateway.telemetry.recent.of_sources(),
            drift,
        }
    }

    fn row(&self, state: &SourceState) -> Value {
        let id = &state.id;
        let mut row = json!(state);
        let Value::Object(fields) = &mut row else { return row };
        let outline = self.outlines.iter().find(|outline| outline.id == *id);
        let trouble = self.troubles.iter().find(|trouble| trouble.id == *id);
        let seconds = |time: std::time::Duration| time.as_secs();
        let figures = self.figures.get(id).copied().unwrap_or_default();
        let more = json!({
            "state": word(state),
            "kind": outline.map(|outline| outline.kind),
            "command": outline.and_then(|outline| outline.command.as_ref()),
            "folder": outline.and_then(|outline| outline.folder.as_ref()),
            "address": outline.and_then(|outline| outline.address.as_ref()),
            "needs": outline.map(|outline| outline.needs.as_slice()).unwrap_or_default(),
            "used_by": self.used_by(id),
            "failing_seconds": trouble.map(|trouble| seconds(trouble.since)),
            "next_try_seconds": trouble.and_then(|trouble| trouble.next_try).map(seconds),
            "running": self.running.get(id.as_str()).copied().unwrap_or_default(),
            "recent": figures,
            "drift": self.drift.get(id).copied().unwrap_or_default(),
            "server": self.server(id),
            "change": self.gateway.overlay.source(id.as_str()).as_ref().map(change_of),
        });
        if let Value::Object(more) = more {
            fields.extend(more);
        }
        row
    }

    /// The profiles that show it.
    fn used_by(&self, id: &SourceId) -> Vec<&str> {
        let profiles = self.file.iter().flat_map(|file| &file.profiles);
        let shows = |of: &Option<Vec<SourceId>>| of.as_ref().is_none_or(|of| of.contains(id));
        profiles.filter(|(_, own)| shows(&own.sources)).map(|(name, _)| name.as_str()).collect()
    }

    /// What a server of MCP says of itself, and how often it was started.
    fn server(&self, id: &SourceId) -> Value {
        let Some(SourceHandle::Mcp(server)) = self.gateway.live.source(id.as_str()) else {
            return Value::Null;
        };
        let status = server.status();
        json!({
            "name": status.server,
            "version": status.version,
            "revision": status.revision,
            "phase": status.phase,
            "connections": status.connections,
            "restarts": status.restarts,
            "has_program": status.pid.is_some() || server.output(None).is_some(),
            "left_out": status.left_out,
            "notes": status.notes,
        })
    }

    /// Those that the file leaves out, or the change that added them.
    fn off(&self) -> Vec<Value> {
        let off = self.outlines.iter().filter(|outline| !outline.enabled);
        off.map(|outline| {
            let mut row = json!(outline);
            if let Value::Object(fields) = &mut row {
                let change = self.gateway.overlay.source(outline.id.as_str());
                fields.insert("change".to_owned(), json!(change.as_ref().map(change_of)));
            }
            row
        })
        .collect()
    }
}

/// By which change it was added.
fn change_of(row: &OverlayRow) -> Value {
    json!({
        "id": row.id,
        "path": row.path,
        "by": row.by,
        "at": time(row.at),
        "why": row.why,
        "until": row.until.map(time),
    })
}

fn word(state: &SourceState) -> &'static str {
    match (&state.error, state.age_seconds) {
        (Some(_), _) if state.stale => "stale",
        (Some(_), _) => "failed",
        (None, None) => "starting",
        (None, Some(_)) => "ready",
    }
}
