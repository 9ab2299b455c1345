//! Whether a test can be asked of an agent, and what its steps leave to the runner.

mod streams;

use serde_json::{Value, json};

use super::agent::{ActsCaller, JudgedAgent};
use super::matching;
use super::play::ActsPlay;
use super::suite::ActsTest;
use super::wire::ActsReply;

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActsVerdict {
    Passed,
    /// What was wrong, in words.
    Failed(Vec<String>),
    /// Why it was not asked, or could not be judged.
    Skipped(String),
}

/// What the person says of the agent.
#[derive(Debug, Clone, Default)]
pub(super) struct ActsWishes {
    /// Behaviours that the agent does not have.
    pub(super) lacks: Vec<String>,
    /// A token with which little may be done.
    pub(super) weak: Option<String>,
}

/// Steps of theirs are sent without a credential.
const UNKNOWN_CALLER: [&str; 5] =
    ["SEC-AUTH-001", "SEC-AUTH-004", "SEC-AUTH-006", "SEC-EXTCARD-001", "SEC-EXTCARD-004"];
/// They compare what is somebody else's with what is not there.
const ALIKE: [&str; 2] = ["SEC-AUTH-003", "CORE-ERR-009"];
/// What no step says and nothing here does.
const UNTRIED: [(&str, &str); 5] = [
    ("PUSH-DELIV-001", "it needs an address that the agent can send to"),
    ("PUSH-DELIV-002", "it needs an address that the agent can send to"),
    ("PUSH-DELIV-003", "it needs an address that the agent can send to"),
    ("SEC-PUSH-001", "it needs an address that the agent can send to"),
    ("SEC-PUSH-002", "it judges who is sent to, and not the agent"),
];
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

/// Asks an agent one test.
pub(super) async fn ask(test: &ActsTest, agent: &JudgedAgent, wishes: &ActsWishes) -> ActsVerdict {
    if let Some(why) = skipped(test, agent, wishes) {
        return ActsVerdict::Skipped(why);
    }
    if ALIKE.contains(&test.id.as_str()) {
        return verdict(alike(agent).await.unwrap_or_else(|fault| vec![fault]));
    }
    if let Some(faults) = streams::ask(&test.id, agent).await {
        return verdict(faults);
    }
    let is_unknown = UNKNOWN_CALLER.contains(&test.id.as_str());
    let caller = if is_unknown { ActsCaller::Nobody } else { ActsCaller::Own };
    let mut variables = test.variables.clone();
    if let Some(weak) = &wishes.weak {
        variables.insert("insufficientAuthToken".to_owned(), weak.as_str().into());
    }
    let mut play = ActsPlay::new(agent, caller, variables);
    let mut faults = play.run(test).await;
    if let Some(why) = play.last().and_then(|last| beside_the_point(test, last)) {
        return ActsVerdict::Skipped(why);
    }
    if faults.is_empty() {
        faults.extend(play.last().and_then(|last| of_headers(test, last)));
    }
    verdict(faults)
}

fn verdict(faults: Vec<String>) -> ActsVerdict {
    if faults.is_empty() { ActsVerdict::Passed } else { ActsVerdict::Failed(faults) }
}

fn skipped(test: &ActsTest, agent: &JudgedAgent, wishes: &ActsWishes) -> Option<String> {
    if test.is_of_clients() {
        return Some("it judges clients: `--client` does".to_owned());
    }
    if !test.bindings.is_empty() && !test.bindings.iter().any(|it| it == agent.binding.word()) {
        return Some(format!("it is of {}", test.bindings.join(", ")));
    }
    if let Some(lacking) = test.behaviours.iter().find(|it| wishes.lacks.contains(it)) {
        return Some(format!("the agent lacks `{lacking}`"));
    }
    for (name, wanted) in &test.capabilities {
        let own = if name == "authentication" {
            json!(agent.has_credential())
        } else {
            agent.card.pointer(&format!("/capabilities/{name}")).cloned().unwrap_or(json!(false))
        };
        if own != *wanted {
            return Some(match name.as_str() {
                "authentication" => "it needs a credential: `--header` gives one".to_owned(),
                _ => format!("the card says `{name}`: {own}"),
            });
        }
    }
    if UNKNOWN_CALLER.contains(&test.id.as_str()) && !agent.has_credential() {
        return Some("it needs a credential to leave out: `--header` gives one".to_owned());
    }
    if test.names("insufficientAuthToken") && wishes.weak.is_none() {
        return Some(
            "it needs a token with which little may be done: `--weak` gives one".to_owned(),
        );
    }
    if ALIKE.contains(&test.id.as_str()) && !agent.has_other() {
        return Some("it needs a second caller: `--other` names one".to_owned());
    }
    let untried = UNTRIED.iter().find(|(id, _)| *id == test.id);
    untried.map(|(_, why)| (*why).to_owned())
}

/// Some tests are of agents that do a thing which agents may leave.
fn beside_the_point(test: &ActsTest, last: &ActsReply) -> Option<String> {
    if test.id != "CORE-CTX-001" || last.error.is_some() {
        return None;
    }
    // Section 3.4.1 of the specification: what a client chose is kept, or the request refused.
    let wanted = test.steps.first()?.pointer("/params/contextId")?;
    let kept = last.body.as_ref()?.pointer("/task/contextId")?;
    (kept == wanted)
        .then(|| "the agent keeps the contexts that clients choose, as it may".to_owned())
}

/// What a test says of the headers in words alone.
fn of_headers(test: &ActsTest, last: &ActsReply) -> Option<String> {
    let said = |name: &str| last.headers.get(name).and_then(|value| value.to_str().ok());
    match test.id.as_str() {
        "CARD-CACHE-001" if said("cache-control").or_else(|| said("etag")).is_none() => {
            Some("the card comes without `Cache-Control` and `ETag`".to_owned())
        }
        "REST-CT-001"
            if !said("content-type").unwrap_or("").starts_with("application/a2a+json") =>
        {
            let own = said("content-type").unwrap_or("nothing");
            Some(format!("`Content-Type` is {own}, not application/a2a+json"))
        }
        _ => None,
    }
}

/// A task of somebody else is refused as one that is not there.
async fn alike(agent: &JudgedAgent) -> Result<Vec<String>, String> {
    let message = json!({
        "message": { "role": "ROLE_USER", "parts": [{ "text": "tck-complete-task of another" }] },
    });
    let sent = agent.operate("send_message", &message, ActsCaller::Other).await?;
    let id = sent.body.as_ref().and_then(|body| body.pointer("/task/id"));
    let id = id.and_then(Value::as_str).ok_or("the second caller gets no task")?;
    let mut told = Vec::new();
    for id in [id, NOBODY] {
        let reply = agent.operate("get_task", &json!({ "id": id }), ActsCaller::Own).await?;
        let Some(error) = reply.error else {
            return Ok(vec![format!(
                "a task of another is shown: {}",
                matching::shown(reply.body.as_ref())
            )]);
        };
        told.push((reply.status, error.to_string().replace(id, "ID")));
    }
    Ok(match told.as_slice() {
        [one, other] if one == other => Vec::new(),
        _ => vec![format!(
            "a task of another is refused otherwise than one that is not there: {told:?}"
        )],
    })
}
