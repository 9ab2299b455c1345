//! Tests of streams whose steps say in words alone what must be done: two at once, and one that
//! breaks off.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::agent::{ActsCaller, JudgedAgent};
use super::super::stream;
use super::super::wire::ActsReply;

/// When a client hangs up: the task must work for longer.
const MOMENT: Duration = Duration::from_millis(500);

/// What was wrong; nothing, if the test is none of these.
pub(super) async fn ask(id: &str, agent: &JudgedAgent) -> Option<Vec<String>> {
    let asked = match id {
        "STREAM-MULTI-001" => two_at_once(agent).await,
        "STREAM-MULTI-002" => one_hangs_up(agent).await,
        "STREAM-RESUB-001" => comes_back(agent).await,
        _ => return None,
    };
    Some(asked.unwrap_or_else(|fault| vec![fault]))
}

/// Both are told the same, but for where the task was when each began.
async fn two_at_once(agent: &JudgedAgent) -> Result<Vec<String>, String> {
    let task = begin(agent).await?;
    let (one, other) = tokio::join!(follow(agent, &task), follow(agent, &task));
    let told = [events(one?)?, events(other?)?];
    let unended: Vec<_> = told.iter().flat_map(|events| ends(events)).collect();
    if !unended.is_empty() {
        return Ok(unended);
    }
    let told = told.map(|events| states(&events));
    let faults = match told.as_slice() {
        [one, other] if one.ends_with(other) || other.ends_with(one) => Vec::new(),
        _ => vec![format!("two streams of one task tell different things: {told:?}")],
    };
    Ok(faults)
}

async fn one_hangs_up(agent: &JudgedAgent) -> Result<Vec<String>, String> {
    let task = begin(agent).await?;
    let (_, other) =
        tokio::join!(tokio::time::timeout(MOMENT, follow(agent, &task)), follow(agent, &task));
    Ok(ends(&events(other?)?))
}

async fn comes_back(agent: &JudgedAgent) -> Result<Vec<String>, String> {
    let task = begin(agent).await?;
    // Dropped, it hangs up.
    if tokio::time::timeout(MOMENT, follow(agent, &task)).await.is_ok() {
        return Err("the stream was over before its client hung up".to_owned());
    }
    Ok(ends(&events(follow(agent, &task).await?)?))
}

/// A task that works for a while.
async fn begin(agent: &JudgedAgent) -> Result<String, String> {
    let message = json!({
        "message": { "role": "ROLE_USER", "parts": [{ "text": "tck-long-running start" }] },
        "configuration": { "returnImmediately": true },
    });
    let sent = agent.operate("send_message", &message, ActsCaller::Own).await?;
    let id = sent.body.as_ref().and_then(|body| body.pointer("/task/id"));
    let id = id.and_then(Value::as_str).map(str::to_owned);
    id.ok_or_else(|| "a message gets no task".to_owned())
}

async fn follow(agent: &JudgedAgent, task: &str) -> Result<ActsReply, String> {
    agent.operate("subscribe_to_task", &json!({ "id": task }), ActsCaller::Own).await
}

fn events(reply: ActsReply) -> Result<Vec<Value>, String> {
    reply.events.ok_or_else(|| match reply.error {
        Some(error) => format!("a subscription is refused: {error}"),
        None => "a subscription is answered with no stream".to_owned(),
    })
}

/// The states that a stream tells after what was so when it began.
fn states(events: &[Value]) -> Vec<String> {
    let later = events.iter().skip(1);
    later
        .filter_map(|event| Some(event.pointer("/statusUpdate/status/state")?.to_string()))
        .collect()
}

fn ends(events: &[Value]) -> Vec<String> {
    let last = json!({ "final_event": { "status": { "state": "TASK_STATE_COMPLETED" } } });
    stream::faults(&last, events, None)
}
