//! `mcp_approval_response`: what whoever asked says to calls that an answer before put to them.

use std::collections::HashMap;

use futures_util::future::join_all;
use serde_json::Value;
use toolcrib_agent::{CallOutcome, RunEvent, ThreadItem};
use toolcrib_core::{Decision, TicketId, ToolOutcome};

use super::super::api_error::ApiError;
use super::super::input::{is_settled, settled};
use super::super::live::live_run::DecidedCall;
use super::super::output::{approval_id, ticket_of};
use crate::http::rest::tickets;
use crate::http::routes::problem::HttpProblem;
use crate::http::routes::request::GatewayRequest;

/// Decisions of one request at the most.
const MOST: usize = 64;

/// A decision that a request brings.
pub(super) struct ApprovalAnswer {
    ticket: TicketId,
    approve: bool,
    reason: Option<String>,
    /// As the request before showed it, where nothing better is known.
    tool: String,
    arguments: String,
}

impl ApprovalAnswer {
    pub(super) fn ticket(&self) -> &TicketId {
        &self.ticket
    }
}

/// The decisions among the items of a request. `found`: items that it only names; `shown`: the events
/// of the run before.
pub(super) fn answers(
    input: &Value,
    found: &HashMap<String, Value>,
    shown: &[RunEvent],
) -> Result<Vec<ApprovalAnswer>, ApiError> {
    let items = input.as_array().map(Vec::as_slice).unwrap_or_default();
    let word = |item: &Value, key: &str| {
        item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let is = |item: &Value, kind: &str| item.get("type").is_some_and(|is| is == kind);
    let asked = items.iter().filter(|item| is(item, "mcp_approval_request"));
    let mut known: HashMap<String, (String, String)> = asked
        .map(|item| (word(item, "id"), (word(item, "name"), word(item, "arguments"))))
        .collect();
    known.extend(put_to_the_caller(shown));
    let settled = settled(items.iter().chain(found.values()));
    let mut answers: Vec<ApprovalAnswer> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if !is(item, "mcp_approval_response") || is_settled(item, &settled) {
            continue;
        }
        let at = format!("input[{index}]");
        let id = word(item, "approval_request_id");
        let ticket = ticket_of(&id).map(TicketId::claimed).ok_or_else(|| {
            let message = format!("`{at}.approval_request_id` is the id of no approval request");
            ApiError::invalid(&at, message)
        })?;
        let approve = item.get("approve").and_then(Value::as_bool).ok_or_else(|| {
            ApiError::invalid(&at, format!("`{at}.approve` must be true or false"))
        })?;
        if answers.iter().any(|other| other.ticket == ticket) {
            let message = format!("`{at}` decides about `{id}` a second time");
            return Err(ApiError::invalid(&at, message));
        }
        if answers.len() == MOST {
            let message = format!("`input` has more than {MOST} approval responses");
            return Err(ApiError::invalid("input", message));
        }
        let (tool, arguments) = known.get(&id).cloned().unwrap_or_default();
        let reason = Some(word(item, "reason")).filter(|reason| !reason.is_empty());
        answers.push(ApprovalAnswer { ticket, approve, reason, tool, arguments });
    }
    Ok(answers)
}

/// The calls of a run, and of those who work for it, that were put to whoever asked, by the ids of
/// their items.
fn put_to_the_caller(events: &[RunEvent]) -> impl Iterator<Item = (String, (String, String))> {
    events.iter().filter_map(|event| {
        let event = if let RunEvent::Child { event, .. } = event { event } else { event };
        let RunEvent::Waiting { call } = event else { return None };
        let told = (call.tool.clone(), call.arguments.to_string());
        Some((approval_id(&call.ticket), told))
    })
}

/// Decides as the request says. What was decided before stays as it was.
pub(super) async fn decide(
    asked: &GatewayRequest,
    answers: Vec<ApprovalAnswer>,
    profile: Option<&str>,
) -> Result<Result<Vec<DecidedCall>, ApiError>, HttpProblem> {
    let deciding = answers.into_iter().map(|answer| decide_one(asked, answer, profile));
    let all: Result<Vec<_>, _> = join_all(deciding).await.into_iter().collect();
    Ok(all?.into_iter().collect())
}

async fn decide_one(
    asked: &GatewayRequest,
    answer: ApprovalAnswer,
    profile: Option<&str>,
) -> Result<Result<DecidedCall, ApiError>, HttpProblem> {
    let ApprovalAnswer { ticket, approve, reason, mut tool, mut arguments } = answer;
    let reason = reason.unwrap_or_else(|| "the user did not approve this call".to_owned());
    let decision =
        if approve { Decision::Approve } else { Decision::Deny { reason: reason.clone() } };
    let (parked, response) = tickets::decide_once(asked, &ticket, decision, profile).await?;
    let id = approval_id(ticket.as_str());
    let mut source = String::new();
    if let Some(parked) = parked {
        tool = parked.tool.to_string();
        source = parked.source.to_string();
        arguments = parked.arguments.into_value().to_string();
    }
    let (has_run, text, is_error) = match response {
        Some(response) => {
            let has_run = matches!(response.outcome, ToolOutcome::Done(_) | ToolOutcome::Failed(_));
            let is_error =
                matches!(response.outcome, ToolOutcome::Failed(_) | ToolOutcome::Denied { .. });
            (has_run, response.text(), is_error)
        }
        // It cannot run any more, so that what they say holds.
        None if !approve => (false, reason, true),
        None => {
            let message = format!(
                "`{id}` waits no more, and nothing is on record of it: look whether it took effect \
                 before it is made again"
            );
            return Ok(Err(ApiError::not_found("approval_request_not_found", message)));
        }
    };
    Ok(Ok(DecidedCall { id, tool, source, arguments, has_run, text, is_error }))
}

/// Puts what came of the calls in the places of the words that they wait. `before`: where the items
/// of this request begin; `shown`: the events of the run before.
pub(super) fn tell(
    thread: &mut Vec<ThreadItem>,
    before: usize,
    decided: &[DecidedCall],
    shown: &[RunEvent],
) {
    let mut untold = Vec::new();
    for call in decided {
        let ids = waiting_ids(shown, &call.id);
        let mut is_told = false;
        for item in thread.iter_mut() {
            let ThreadItem::Results { results, echo } = item else { continue };
            for result in results.iter_mut().filter(|result| ids.contains(&result.call_id)) {
                result.text.clone_from(&call.text);
                result.is_error = call.is_error;
                // The API's own words say that it waits.
                *echo = None;
                is_told = true;
            }
        }
        if !is_told {
            let DecidedCall { tool, text, .. } = call;
            untold.push(ThreadItem::user(format!(
                "(A note of the server, not of the user: the call of `{tool}` that waited for the \
                 user waits no more. What came of it: {text})"
            )));
        }
    }
    let before = before.min(thread.len());
    thread.splice(before..before, untold);
}

/// The ids of the calls that wait under a ticket, as a thread may have them.
fn waiting_ids(events: &[RunEvent], id: &str) -> Vec<String> {
    let ticket = ticket_of(id);
    let waiting = events.iter().filter_map(|event| {
        let RunEvent::CallDone { response } = event else { return None };
        let is_it = response.outcome == CallOutcome::Pending
            && response.more.get("ticket").and_then(Value::as_str) == ticket;
        is_it.then(|| response.id.clone())
    });
    waiting.chain([id.to_owned()]).collect()
}
