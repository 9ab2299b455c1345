//! What a specialist's run came to, as the model of the one who asked reads it.

use serde::Serialize;
use serde_json::Value;
use toolcrib_core::{Fingerprint, ResultHandle};

use super::names::{FIND, REPORT_MISSING};
use crate::item::ThreadItem;
use crate::run::RunState;
use crate::run::end::RunEnd;
use crate::stop::StopReason;
use crate::usage::Usage;

/// Letters of a digest that are told.
const DIGEST: usize = 16;

/// How far a specialist came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DelegationStatus {
    Done,
    /// A limit ended it, or a tool was missing for a part.
    Partial,
    /// Calls of it wait for a person.
    Blocked,
    /// It could do nothing: it has no tool for it.
    Refused,
    Failed,
}

/// The answer of a specialist. What it says it did is its own; `evidence` is what really ran.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DelegationAnswer {
    pub(crate) status: DelegationStatus,
    pub(crate) answer: String,
    /// The answer, where it is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<Value>,
    /// Calls of tools that ran and succeeded.
    evidence: Vec<EvidenceCall>,
    /// Handles of results that were cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<ResultHandle>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open_questions: Vec<String>,
    /// What it has no tool for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) missing: Vec<String>,
    /// What is to be done about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<&'static str>,
    usage: UsageTotals,
    thread: String,
}

#[derive(Debug, Clone, Serialize)]
struct EvidenceCall {
    call_id: String,
    tool: String,
    /// Of the text of its result.
    digest: String,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct UsageTotals {
    turns: u32,
    calls: u32,
    input_tokens: u64,
    output_tokens: u64,
}

/// What is known of a run that has ended.
pub(crate) struct EndedRun<'a> {
    pub(crate) state: &'a RunState,
    pub(crate) end: &'a RunEnd,
    pub(crate) usage: Usage,
    /// Calls that it made, its own specialists' counted.
    pub(crate) calls: u32,
    /// Its thread, as a next task names it.
    pub(crate) thread: &'a str,
    /// Its time was over.
    pub(crate) is_late: bool,
}

impl DelegationAnswer {
    pub(crate) fn of(run: &EndedRun<'_>) -> Self {
        let EndedRun { state, end, usage, calls, thread, is_late } = run;
        let evidence = evidence(state);
        let waiting = state.team.told_waiting.clone();
        let missing = state.team.missing.clone();
        let status = match end.stop {
            StopReason::Done | StopReason::HandedOver if !waiting.is_empty() => {
                DelegationStatus::Blocked
            }
            StopReason::Done | StopReason::HandedOver if missing.is_empty() => {
                DelegationStatus::Done
            }
            StopReason::Done | StopReason::HandedOver if evidence.is_empty() => {
                DelegationStatus::Refused
            }
            StopReason::Approval => DelegationStatus::Blocked,
            StopReason::Done
            | StopReason::HandedOver
            | StopReason::Length
            | StopReason::Turns
            | StopReason::Calls
            | StopReason::Tokens
            | StopReason::Cost
            | StopReason::Time => DelegationStatus::Partial,
            StopReason::CallerCalls
            | StopReason::Withheld
            | StopReason::Cancelled
            | StopReason::Fault => DelegationStatus::Failed,
        };
        let answer = if *is_late {
            "It did not answer in the time that was left.".to_owned()
        } else if end.text.is_empty() && end.stop == StopReason::Cancelled {
            "It was cancelled.".to_owned()
        } else {
            end.text.clone()
        };
        let structured = serde_json::from_str(&answer).ok();
        let structured = structured.filter(|value: &Value| value.is_object() || value.is_array());
        let waiting = waiting.iter().map(|ticket| format!("A call waits for a person: {ticket}"));
        let lacking = missing.iter().map(|missing| format!("No tool for: {missing}"));
        Self {
            status,
            structured,
            answer,
            evidence,
            artifacts: state.team.artifacts.clone(),
            open_questions: waiting.chain(lacking).collect(),
            missing,
            hint: None,
            usage: UsageTotals {
                turns: state.turn,
                calls: *calls,
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
            },
            thread: (*thread).to_owned(),
        }
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.status == DelegationStatus::Failed
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The calls of a run that ran, in the order in which the thread has them.
fn evidence(state: &RunState) -> Vec<EvidenceCall> {
    let results = state.own_items().iter().filter_map(|item| match item {
        ThreadItem::Results { results, .. } => Some(results),
        ThreadItem::System { .. }
        | ThreadItem::User { .. }
        | ThreadItem::Assistant { .. }
        | ThreadItem::Summary { .. } => None,
    });
    let is_work = |name: &str| name != REPORT_MISSING && name != FIND;
    let ran = results.flatten().filter(|result| {
        !result.is_error && is_work(&result.name) && state.has_run(&result.call_id)
    });
    ran.map(|result| {
        let digest = Fingerprint::of(&result.text.clone().into()).to_string();
        EvidenceCall {
            call_id: result.call_id.clone(),
            tool: result.name.clone(),
            digest: digest.chars().take(DIGEST).collect(),
        }
    })
    .collect()
}
