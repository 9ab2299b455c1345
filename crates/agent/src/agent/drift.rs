//! Recorded calls, made once more: what has changed since.

use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::{
    BatchOptions, Call, Caller, Effect, ErrorKind, Plan, PlanRequest, Response, ToolOutcome,
};
use toolcrib_engine::Crib;
use toolcrib_json::repair::RepairBounds;

use super::AgentRun;
use crate::item::{CallText, ThreadItem};
use crate::model::ModelClient;
use crate::record::response_entry::ResponseEntry;
use crate::record::tape::TapeEntry;
use crate::record::words::NoSuchText;
use crate::run::RunEffect;
use crate::team::wish::TeamWish;

/// Differences that are told of one result.
const MOST_TOLD: usize = 5;
/// Letters of each side of a difference.
const LONGEST: usize = 120;

/// The tools that recorded calls are compared with.
pub struct LiveTools {
    pub crib: Crib,
    pub caller: Arc<Caller>,
    /// What the agent wishes of every plan.
    pub wishes: PlanRequest,
    /// The model of the agent, which is told of the tools and not asked. `None`: any that has the API
    /// of the record.
    pub model: Option<Arc<ModelClient>>,
    /// Whether calls are made that may change something; else only those that read.
    pub with_effects: bool,
}

/// A recorded call, and what became of it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallDrift {
    /// The first turn has the number 1.
    pub turn: u32,
    pub id: String,
    /// As the model wrote it.
    pub tool: String,
    pub arguments: String,
    pub drift: Drift,
}

/// How a call differs from what is on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drift {
    Same,
    /// What differs, in a few lines.
    Differs(String),
    /// There is no such tool any more.
    Missing,
    /// Its arguments fit no more: why.
    InvalidArguments(String),
    /// It was not made: why.
    NotRun(String),
}

impl Drift {
    /// Whether something has changed.
    pub fn is_change(&self) -> bool {
        match self {
            Self::Differs(_) | Self::Missing | Self::InvalidArguments(_) => true,
            Self::Same | Self::NotRun(_) => false,
        }
    }

    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Differs(_) => "differs",
            Self::Missing => "missing",
            Self::InvalidArguments(_) => "invalid_arguments",
            Self::NotRun(_) => "not_run",
        }
    }

    /// What else there is to say of it.
    pub fn told(&self) -> &str {
        match self {
            Self::Same | Self::Missing => "",
            Self::Differs(told) | Self::InvalidArguments(told) | Self::NotRun(told) => told,
        }
    }
}

impl AgentRun {
    /// Whether calls are to be run next.
    pub(super) fn expects_batch(&self) -> bool {
        matches!(self.next, RunEffect::Call(_))
    }
}

impl LiveTools {
    /// Makes the calls of the batch or decision that comes next, if one does.
    pub(super) async fn compare(&self, run: &mut AgentRun, drift: &mut Vec<CallDrift>) {
        for (call, recorded) in coming(run) {
            let found = match recorded {
                Ok(recorded) => self.made(run, call.clone(), &recorded).await,
                Err(why) => Drift::NotRun(why.to_owned()),
            };
            let text = call_text(&run.state.items, &call.id);
            drift.push(CallDrift {
                turn: run.state.turn,
                tool: text.as_ref().map_or(call.name, |text| text.name.clone()),
                arguments: text.map_or_else(String::new, |text| text.arguments),
                id: call.id,
                drift: found,
            });
        }
    }

    async fn made(&self, run: &AgentRun, call: Call, recorded: &Response) -> Drift {
        let wishes = self.wishes.clone().after(&run.state.run);
        let model = self.model.as_ref().unwrap_or(&run.agent.model);
        let wishes = model.wishes(wishes, !run.state.caller_tools().is_empty());
        let plan = match self.crib.plan(&self.caller, wishes) {
            Ok(plan) => plan,
            Err(error) => return Drift::NotRun(format!("there is no plan of the tools: {error}")),
        };
        let Some(effect) = effect(&plan, &call) else {
            if TeamWish::is_named(&call.wire.name) {
                return Drift::NotRun("agents answered it, and not a tool".to_owned());
            }
            let was_missing =
                recorded.error().is_some_and(|error| error.kind == ErrorKind::UnknownTool);
            return if was_missing { Drift::Same } else { Drift::Missing };
        };
        if effect != Effect::Read && !self.with_effects {
            return Drift::NotRun("it may change something".to_owned());
        }
        // It is another call than that of the record.
        let call = Call { key: None, ..call };
        let report = self.crib.run_with(&plan, vec![call], BatchOptions::default()).await;
        let Some(now) = report.responses.into_iter().next() else {
            return Drift::NotRun("nothing answered it".to_owned());
        };
        self.judged(&now, recorded).await
    }

    async fn judged(&self, now: &Response, recorded: &Response) -> Drift {
        if let ToolOutcome::Pending(pending) = &now.outcome {
            let reason = "it was made by a replay".to_owned();
            let no = toolcrib_core::Decision::Deny { reason };
            let run = toolcrib_core::Run::default();
            // Nobody is to find it waiting.
            let _ = self.crib.decide(&self.caller, &run, &pending.ticket, no).await;
            return Drift::NotRun(format!("a person would be asked: {}", pending.reason));
        }
        let kind = now.error().map(|error| error.kind);
        if kind != recorded.error().map(|error| error.kind) {
            match kind {
                Some(ErrorKind::UnknownTool) => return Drift::Missing,
                Some(ErrorKind::InvalidArguments) => return Drift::InvalidArguments(now.text()),
                _ => {}
            }
        }
        let (before, after) = (recorded.text(), now.text());
        let (was, is) = (recorded.outcome.as_str(), now.outcome.as_str());
        if was != is {
            let told = format!("{was}: {}\n{is}: {}", cut(&before), cut(&after));
            return Drift::Differs(told);
        }
        if before == after { Drift::Same } else { Drift::Differs(diff(&before, &after)) }
    }
}

/// A call of the turn that was last, as the model wrote it.
fn call_text(items: &[ThreadItem], id: &str) -> Option<CallText> {
    let of_turn = items.iter().rev().find_map(|item| match item {
        ThreadItem::Assistant { calls, .. } => Some(calls),
        ThreadItem::System { .. }
        | ThreadItem::User { .. }
        | ThreadItem::Results { .. }
        | ThreadItem::Summary { .. } => None,
    });
    of_turn?.iter().find(|call| call.id == id).cloned()
}

/// What a call may do, if it is one of a tool that is there.
fn effect(plan: &Plan, call: &Call) -> Option<Effect> {
    let tool = plan.get(&call.name)?;
    let meant = plan.meant(&call.name, || call.arguments.clone(), &RepairBounds::default());
    // A call that is passed on does what its real tool does.
    let Some(meant) = meant else { return Some(tool.listed.spec.effect) };
    plan.get(&meant).map(|tool| tool.listed.spec.effect)
}

type Coming = Vec<(Call, Result<Response, &'static str>)>;

/// The calls that come next, with what is on record of each.
fn coming(run: &mut AgentRun) -> Coming {
    let waiting = run.state.waiting_calls();
    let batch = if let RunEffect::Call(calls) = run.state.again() { calls } else { Vec::new() };
    let Some(player) = run.tape.player() else { return Vec::new() };
    let mut calls: Vec<(Call, ResponseEntry)> = Vec::new();
    match player.front() {
        Some(TapeEntry::Batch(entry)) => {
            let made = batch.into_iter().take(entry.may_run);
            let made = made.zip(entry.responses.iter().cloned());
            // One that waits is made once it was decided.
            calls.extend(made.filter(|(_, response)| response.ticket().is_none()));
        }
        Some(_) => {
            let ours = player.ahead().map_while(|entry| match entry {
                TapeEntry::Decided { ticket, response } => Some(Some((ticket, response))),
                TapeEntry::Lapsed { .. } | TapeEntry::Resumed(_) | TapeEntry::Used(_) => Some(None),
                TapeEntry::Begun(_)
                | TapeEntry::Turn(_)
                | TapeEntry::Batch(_)
                | TapeEntry::Judged(_)
                | TapeEntry::Waiting(_)
                | TapeEntry::GoOn
                | TapeEntry::HandBack
                | TapeEntry::Cancelled
                | TapeEntry::Abandoned
                | TapeEntry::Ended { .. } => None,
            });
            for (ticket, response) in ours.flatten() {
                let of_ticket = waiting.iter().filter(|one| one.ticket == *ticket);
                let decided =
                    of_ticket.map(|one| (one.call.call(), ResponseEntry::clone(response)));
                calls.extend(decided.filter(|(_, response)| response.ticket().is_none()));
            }
        }
        None => {}
    }
    let is_decided = !matches!(player.front(), Some(TapeEntry::Batch(_)));
    let mut coming = Vec::new();
    for (call, entry) in calls {
        if entry.is_held() {
            coming.push((call, Err("what it gave was checked, and stands in no record")));
            continue;
        }
        let response = match entry.response(&mut player.pool) {
            Err(NoSuchText) => continue,
            Ok(response)
                if is_decided && matches!(response.outcome, ToolOutcome::Denied { .. }) =>
            {
                Err("a person said no to it")
            }
            Ok(response) => Ok(response),
        };
        coming.push((call, response));
    }
    coming
}

/// Where two results differ, in a few lines.
fn diff(before: &str, after: &str) -> String {
    let read =
        |text: &str| serde_json::from_str::<Value>(text).ok().filter(|value| !value.is_string());
    if let (Some(before), Some(after)) = (read(before), read(after)) {
        let mut told = Vec::new();
        let mut more = 0;
        differences("", &before, &after, &mut |place, before, after| {
            if told.len() == MOST_TOLD {
                more += 1;
                return;
            }
            let side =
                |side: Option<&Value>| side.map_or("nothing".into(), |side| cut(&side.to_string()));
            let place = if place.is_empty() { "the result" } else { place };
            told.push(format!("{place}: {} -> {}", side(before), side(after)));
        });
        if more > 0 {
            told.push(format!("and {more} more"));
        }
        if !told.is_empty() {
            return told.join("\n");
        }
    }
    let (mut old, mut new) = (before.lines(), after.lines());
    let mut number = 0;
    loop {
        number += 1;
        let (line, other) = (old.next(), new.next());
        if line != other {
            let side = |side: Option<&str>| side.map_or("nothing".into(), cut);
            return format!("line {number}: {} -> {}", side(line), side(other));
        }
        if line.is_none() {
            return "only the ends of its lines".to_owned();
        }
    }
}

/// Is told of a place and of what stands there in each of two values.
type TellPlace<'a> = dyn FnMut(&str, Option<&Value>, Option<&Value>) + 'a;

/// Tells each place at which two values differ; as deep as JSON is read.
fn differences(place: &str, before: &Value, after: &Value, tell: &mut TellPlace<'_>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, value) in before {
                let place = format!("{place}/{key}");
                match after.get(key) {
                    Some(other) => differences(&place, value, other, tell),
                    None => tell(&place, Some(value), None),
                }
            }
            for (key, value) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
                tell(&format!("{place}/{key}"), None, Some(value));
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for number in 0..before.len().max(after.len()) {
                let place = format!("{place}/{number}");
                match (before.get(number), after.get(number)) {
                    (Some(value), Some(other)) => differences(&place, value, other, tell),
                    (value, other) => tell(&place, value, other),
                }
            }
        }
        (before, after) if before != after => tell(place, Some(before), Some(after)),
        _ => {}
    }
}

fn cut(text: &str) -> String {
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(LONGEST).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}
