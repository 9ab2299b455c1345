//! Push notifications: who wants to be told of a task, and where.
//!
//! Read in this order: here the configurations, which stand beside the run of their task;
//! [`registry`], which has those that are told something now; [`sender`], which follows a task for one of
//! them; [`queue`], what waits to be sent; and [`delivery`], one notification on its way.

mod delivery;
mod queue;
pub(crate) mod registry;
mod sender;

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_a2a_client::protocol::wire::{ProtocolVersion, WireForm};
use toolcrib_a2a_server::{A2aFault, A2aFaultKind, PushConfig};
use toolcrib_config::LogLevel;
use toolcrib_core::{LedgerError, MOST_NOTES};
use uuid::Uuid;

use super::refusal::Refusal;
use super::room::AgentRoom;
use super::wire::AnswerWire;
use super::{tasks, view};
use crate::http::agents::live::live_run::LiveRun;
use crate::http::agents::runs::silent;
use crate::http::routes::reply::HttpReply;
use crate::http::routes::request::GatewayRequest;
use crate::http::state::GatewayState;
use crate::telemetry::log;
use sender::PushSender;

/// What stands before the ids of configurations in the names of notes.
const NOTE: &str = "push/";

/// Configurations of one task. There is room beside its run for other notes.
const MOST_CONFIGS: usize = 10;
const _: () = assert!(MOST_CONFIGS < MOST_NOTES);

/// Refuses what could not be kept: an address that is none, or that nobody is let reach.
pub(super) fn check(
    asked: &GatewayRequest,
    room: &AgentRoom,
    config: &PushConfig,
) -> Result<(), Refusal> {
    agent(room)?;
    let refused = |message: String| Err(A2aFault::params(message).telling("field", "url").into());
    let Err(why) = asked.gateway.pushes.judge(&config.url) else { return Ok(()) };
    refused(format!(
        "`url` cannot be notified: {why}; for notifications that is `push_private` of `[server]`"
    ))
}

/// The agent whose tasks can be told of. A call without a model has no run, and tells nothing until
/// it is answered.
fn agent(room: &AgentRoom) -> Result<&str, Refusal> {
    let AgentRoom::Agent { name, .. } = room else {
        let message = "no notifications are sent of calls without a model: ask for the task again";
        return Err(A2aFault::new(A2aFaultKind::PushNotificationNotSupported, message).into());
    };
    Ok(name)
}

pub(super) async fn set(
    asked: &GatewayRequest,
    room: &AgentRoom,
    (task, config): (&str, PushConfig),
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    check(asked, room, &config)?;
    let live = tasks::find(asked, agent(room)?, task).await?;
    let known = view::now(&asked.gateway, &live).await.sequence;
    let config = keep(asked, &live, config, known).await?;
    Ok(wire.push(task, &config))
}

/// Does the same with what a message says. Where it names none, the configuration has the name of the
/// task, so that the same message makes no second one.
pub(super) async fn keep_said(
    asked: &GatewayRequest,
    live: &Arc<LiveRun>,
    said: Option<PushConfig>,
    known: u64,
) -> Result<(), Refusal> {
    let Some(mut config) = said else { return Ok(()) };
    if config.id.is_empty() {
        config.id.clone_from(&live.meta.id);
    }
    keep(asked, live, config, known).await.map(|_| ())
}

/// Writes a configuration down and tells it what comes behind a sequence.
async fn keep(
    asked: &GatewayRequest,
    live: &Arc<LiveRun>,
    mut config: PushConfig,
    known: u64,
) -> Result<PushConfig, Refusal> {
    if config.id.is_empty() {
        config.id = Uuid::new_v4().to_string();
    }
    let gateway = &asked.gateway;
    let (task, note) = (&live.meta.id, name(&config.id));
    let there = of(gateway, task).await.map_err(silent)?;
    let others = there.iter().filter(|other| other.id != config.id).count();
    let written = others < MOST_CONFIGS
        && gateway.runs.ledger.note(task, &note, Some(text(&config))).await.map_err(silent)?;
    if !written {
        let message = format!("a task has {MOST_CONFIGS} configurations at the most: delete one");
        return Err(A2aFault::params(message).into());
    }
    // One that has ended meanwhile is told of to its end.
    if !PushSender::new(gateway, live, config.clone(), known).start(None) {
        let message = "too many tasks are told of now: try again later";
        gateway.runs.ledger.note(task, &note, None).await.map_err(silent)?;
        return Err(A2aFault::new(A2aFaultKind::TooMany, message).into());
    }
    Ok(config)
}

pub(super) async fn get(
    asked: &GatewayRequest,
    room: &AgentRoom,
    (task, config): (&str, Option<&str>),
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    let live = tasks::find(asked, agent(room)?, task).await?;
    let mut all = of(&asked.gateway, &live.meta.id).await.map_err(silent)?.into_iter();
    let found = all.find(|it| config.is_none_or(|id| it.id == id));
    let found = found.ok_or_else(|| A2aFault::no_push(config.unwrap_or_default()))?;
    Ok(wire.push(task, &found))
}

/// The configurations of a task by their ids; a page ends at the last id that it shows.
pub(super) async fn list(
    asked: &GatewayRequest,
    room: &AgentRoom,
    task: &str,
    (size, token): (u64, Option<&str>),
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    let live = tasks::find(asked, agent(room)?, task).await?;
    let mut all = of(&asked.gateway, &live.meta.id).await.map_err(silent)?;
    all.retain(|config| token.is_none_or(|last| config.id.as_str() > last));
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let has_more = all.len() > size;
    all.truncate(size);
    let next = all.last().filter(|_| has_more).map(|last| last.id.clone());
    Ok(wire.pushes(task, &all, next.as_deref()))
}

/// One that is not there is gone as well: whoever asks again is told the same.
pub(super) async fn delete(
    asked: &GatewayRequest,
    room: &AgentRoom,
    (task, config): (&str, &str),
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    let live = tasks::find(asked, agent(room)?, task).await?;
    let task = &live.meta.id;
    asked.gateway.runs.ledger.note(task, &name(config), None).await.map_err(silent)?;
    asked.gateway.pushes.stop(task, config);
    Ok(wire.gone())
}

/// Goes on for the tasks that the process before left: each is told as it stands, then what comes.
pub(crate) async fn resume(gateway: &Arc<GatewayState>) {
    let runs = &gateway.runs;
    let trouble = |error: &LedgerError| {
        log::line(LogLevel::Warn, "push", json!({ "trouble": error.to_string() }));
    };
    let unfinished = match runs.ledger.unfinished().await {
        Ok(unfinished) => unfinished,
        Err(error) => return trouble(&error),
    };
    for run in unfinished.into_iter().filter(|run| run.parent.is_none()) {
        let configs = match of(gateway, &run.id).await {
            Ok(configs) if configs.is_empty() => continue,
            Ok(configs) => configs,
            Err(error) => return trouble(&error),
        };
        let live = match runs.follow(&run.id, &run.caller).await {
            Ok(Some(live)) => live,
            Ok(None) => continue,
            Err(error) => return trouble(&error),
        };
        for config in configs {
            let now = view::now(gateway, &live).await;
            let sender = PushSender::new(gateway, &live, config, now.sequence);
            if !sender.start(Some(now.event(None))) {
                log::line(LogLevel::Warn, "push", json!({ "trouble": "too many", "task": run.id }));
            }
        }
    }
}

async fn of(gateway: &GatewayState, task: &str) -> Result<Vec<PushConfig>, LedgerError> {
    let notes = gateway.runs.ledger.notes(task).await?;
    let own = notes.into_iter().filter(|(name, _)| name.starts_with(NOTE));
    Ok(own.filter_map(|(_, text)| read(&text)).collect())
}

fn name(config: &str) -> String {
    format!("{NOTE}{config}")
}

/// As it stands beside the run. Secrets are in it: what is sent needs them.
fn text(config: &PushConfig) -> String {
    let written = config.write("", WireForm::Current);
    json!({ "version": config.version.as_str(), "config": written }).to_string()
}

fn read(text: &str) -> Option<PushConfig> {
    let kept: Value = serde_json::from_str(text).ok()?;
    let version = kept.get("version").and_then(Value::as_str);
    let version = version.and_then(ProtocolVersion::read)?;
    let config = PushConfig::read(kept.get("config")?, WireForm::Current).ok()?;
    Some(PushConfig { version, ..config })
}
