//! One call of a tool, or one read, over one connection: sends it, answers what the server asks,
//! reads the end.

pub(crate) mod outgoing;
pub(crate) mod params;
pub(crate) mod questions;
mod references;
pub(crate) mod reply;
pub(crate) mod task;
pub(crate) mod task_words;

use std::borrow::Cow;

use serde_json::{Map, Value};
use toolcrib_core::CallContext;

use super::connection::{McpConnection, UpstreamTimeouts};
use super::fault::{McpFault, McpTimeoutPhase};
use super::settings::McpTimeouts;
use crate::client::inflight::asking_habits::CallSubject;
use crate::protocol::methods;
use outgoing::OutgoingRequest;
use questions::answer_all;
use reply::ServerReply;

/// Rounds of questions that one call may take.
const MOST_ROUNDS: usize = 10;

/// Runs a call and gives what it was answered with in the end. `subject`: what it is about, where
/// questions do not say whose they are.
pub(crate) async fn run(
    connection: &McpConnection,
    (asked, subject): (&OutgoingRequest, Option<&CallSubject>),
    context: &CallContext,
    timeouts: McpTimeouts,
) -> Result<ServerReply, McpFault> {
    if asked.as_task && task::are_there(&connection.facts) {
        // Rare, and larger than the way of most.
        return Box::pin(task::run(connection, asked, context, timeouts)).await;
    }
    let waits =
        UpstreamTimeouts { subject: subject.cloned(), ..UpstreamTimeouts::of_call(timeouts) };
    let (_, last, _) = waits.until;
    let is_last = !connection.facts.is_modern;
    // What was answered in the rounds before.
    let mut answered = Map::new();
    for round in 0..MOST_ROUNDS {
        // Most calls have one round, and need no copy.
        let mut params = Cow::Borrowed(&asked.params);
        if !answered.is_empty() {
            params.to_mut().extend(answered.clone());
        }
        let reply = connection.request(&asked.method, &params, Some(context), &waits).await;
        let reply = reply.map_err(|fault| fault.after(round))?;
        let ServerReply::Fields(mut result) = reply else { return Ok(reply) };
        match result.get("resultType").and_then(Value::as_str) {
            None | Some("complete") => return Ok(ServerReply::Fields(result)),
            Some("input_required") if !is_last => {}
            Some(_) if !methods::is_defined(&asked.method) => {
                return Ok(ServerReply::Fields(result));
            }
            Some(_) => return Err(McpFault::Unreadable("it is of a kind that nobody asked for")),
        }
        let requests = questions(&mut result)?;
        let state = result.remove("requestState");
        result.shift_remove("resultType");
        if requests.is_empty() {
            if state.is_none() {
                return Err(McpFault::Unreadable("it asks for input and not for which"));
            }
            // Nothing to answer: the server only wants to be asked again, and not at once.
            let pause = std::time::Duration::from_millis(50 << round.min(4));
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = context.cancelled() => return Err(McpFault::Cancelled),
            }
        }
        let answers = tokio::time::timeout_at(last, answer_all(requests, result, context)).await;
        let answers = answers
            .map_err(|_| McpFault::TooLong(McpTimeoutPhase::LongestCall, timeouts.longest_call))?;
        let answers = answers.map_err(|refusal| McpFault::Refused {
            code: refusal.code,
            message: format!("it needs an answer before it can go on, and {}", refusal.message),
            data: None,
        })?;
        if context.is_cancelled() {
            return Err(McpFault::Cancelled);
        }
        let answers = (!answers.is_empty()).then_some(Value::Object(answers));
        let told = [("inputResponses", answers), ("requestState", state)].into_iter();
        answered = told.filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    }
    Err(McpFault::Refused {
        code: -1,
        message: format!("it asked for input {MOST_ROUNDS} times and was still not content"),
        data: None,
    })
}

fn questions(result: &mut Map<String, Value>) -> Result<Map<String, Value>, McpFault> {
    match result.remove("inputRequests") {
        Some(Value::Object(requests)) => Ok(requests),
        Some(_) => Err(McpFault::Unreadable("its questions are no object")),
        None => Ok(Map::new()),
    }
}
